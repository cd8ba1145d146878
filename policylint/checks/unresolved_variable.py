"""GWP912: a `${VARIABLE}` that nothing in the tree fills in, so that what holds it is not known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.render_notes import of_rendering
from policylint.model import Finding

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP912"


def check(world: Simulation) -> Iterator[Finding]:
    return of_rendering(RULE, world)
