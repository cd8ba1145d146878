"""GWP911: a kustomization, chart or template whose output was not seen, or not whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.render_notes import of_rendering
from policylint.model import Finding

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP911"


def check(world: Simulation) -> Iterator[Finding]:
    return of_rendering(RULE, world)
