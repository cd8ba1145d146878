"""GWP203: everything that a policy sets is overridden everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import target_at
from policylint.checks.kit.overridden import lost_fields, names, protection_lost, related, superseders
from policylint.model import Finding
from policylint.model.words import listing

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP203"


def check(world: Simulation) -> Iterator[Finding]:
    for state in world.policies.values():
        if state.verdict != "Overridden" or state.refused:
            continue
        by = superseders(world, state)
        if not by:
            continue
        fields = lost_fields(state)
        target = next((each for each in state.targets if each.nodes), state.targets[0])
        yield Finding(
            RULE,
            "warning" if protection_lost(state) else "note",
            f"{state.key} has no effect: {names(state, by)} {'overrides' if len(by) == 1 else 'override'} all of it",
            target_at(state.policy, target),
            resources=(state.key, *by[:3]),
            label=f"none of its settings ({listing(fields)}) applies anywhere",
            related=related(world, by),
            help=("fix: remove it, or what overrides it",),
        )
