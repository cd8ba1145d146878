"""GWP720: a PolicyGenerator whose PlacementBinding for a set gets no name."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP720"


def check(simulation: Simulation) -> Iterator[Finding]:
    """Source: policy-generator-plugin#254."""
    for note in simulation.world.notes:
        if note.rule == RULE:
            yield Finding(
                RULE,
                "error",
                note.message,
                note.location,
                label="the API server refuses it, so that the set is placed nowhere",
                help=("fix: set placementBindingDefaults.name",),
                field=note.code,
            )
