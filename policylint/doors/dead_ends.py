"""Where objects of doors send requests that nothing answers: what their controllers refuse."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.doors.contour import invalid
from policylint.doors.traefik import unrouted
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import World


def dead_ends(world: World) -> Iterator[DeadEnd]:
    """Yield what controllers refuse of objects that are doors by themselves."""
    yield from invalid(world)
    yield from unrouted(world)
