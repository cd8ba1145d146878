"""GWP205: a policy that sets nothing switches the inherited one off."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import target_at
from policylint.checks.kit.losses import drops
from policylint.model import Finding, Related
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP205"


def check(simulation: Simulation) -> Iterator[Finding]:
    for drop in drops(simulation).values():
        if not drop.empty:
            continue
        winner, loser, fields = drop.winner, drop.loser, list(drop.fields.values())
        yield Finding(
            RULE,
            "warning",
            f"{winner.key} sets nothing, which turns {loser.key} off for {winner.node}",
            target_at(winner.policy, winner.target),
            resources=(winner.key, winner.node.key, loser.key),
            label=f"no {listing(drop.fields, word='or')} here any more",
            related=tuple(Related(f"this no longer applies to {winner.node}", field) for field in fields[:4]),
            help=("fix: remove the policy, or set in it what should be different",),
        )
