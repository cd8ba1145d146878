"""GWP204: some of what a policy sets is overridden somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import target_at
from policylint.checks.kit.overridden import affected, lost_fields, names, related, superseders
from policylint.model import Finding
from policylint.model.words import listing

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP204"


def check(world: Simulation) -> Iterator[Finding]:
    for state in world.policies.values():
        if state.verdict != "PartiallyEnforced":
            continue
        by, fields = superseders(world, state), lost_fields(state)
        if not by or not fields:
            continue
        losing, everywhere = affected(state)
        where = f" on {losing} of {everywhere} routes" if everywhere > 1 else ""
        target = next((each for each in state.targets if each.nodes), state.targets[0])
        yield Finding(
            RULE,
            "note",
            f"{state.key} is overridden in part{where}: {names(state, by)} sets {listing(fields)}",
            target_at(state.policy, target),
            resources=(state.key, *by[:3]),
            label=f"what it says of {listing(fields)} does not apply there",
            related=related(world, by),
        )
