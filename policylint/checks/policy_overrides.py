"""GWP215 policy-overrides: a policy that settings of others give way to, said at the one that prevails."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from policylint.checks.kit.locations import target_at
from policylint.checks.kit.losses import superseders
from policylint.explain.winning import taken
from policylint.model import Finding, Related, ResourceKey
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP215"
_MOST = 3


def check(simulation: Simulation) -> Iterator[Finding]:
    losers: dict[ResourceKey, set[ResourceKey]] = defaultdict(set)
    for state in simulation.policies.values():
        if state.verdict in ("Overridden", "PartiallyEnforced") and not state.refused:
            for winner in superseders(simulation, state):
                losers[winner].add(state.key)
    for winner, beaten in losers.items():
        prevailing = simulation.policies.get(winner)
        took = [each for each in taken(simulation).get(winner, ()) if each.loser in beaten]
        target = next((target for target in prevailing.targets if target.nodes), None) if prevailing else None
        if prevailing is None or target is None or not took:
            continue
        yield Finding(
            RULE,
            "note",
            f"{winner} overrides {listing(took, most=_MOST)}",
            target_at(prevailing.policy, target),
            resources=(winner, *(each.loser for each in took[:_MOST])),
            label="this prevails there",
            related=tuple(
                Related(f"{each.loser} has no effect there", simulation.policies[each.loser].policy.name_location)
                for each in took[:_MOST]
            ),
        )
