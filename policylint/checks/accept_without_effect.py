"""GWP613: a rule of a cluster policy that allows what would be allowed without it."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.model import Finding
from policylint.network.kinds import CLUSTER
from policylint.network.rules import DIRECTIONS, RuleSpec
from policylint.network.walk import row
from policylint.simulation import Simulation

RULE = "GWP613"
_MOST = 20_000
"""Rules times classes of pods beyond which nobody reads notes, and none are looked for."""


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    universe = network.universe
    telling: dict[int, bool] = {}
    rules: dict[int, tuple[int, RuleSpec]] = {}
    steps = 0
    for direction in DIRECTIONS:
        for group in network.classes(direction):
            entries = network.entries(group.first, direction)
            for entry in entries:
                for rule, parts in entry.rules:
                    allows = rule.action == "Allow" and entry.policy.key[:2] in CLUSTER
                    if not allows or not parts or telling.get(id(rule)):
                        continue
                    steps += 1
                    if steps > _MOST:
                        return
                    rules[id(rule)] = (entry.number, rule)
                    left = [
                        other._replace(rules=tuple(pair for pair in other.rules if pair[0] is not rule))
                        for other in entries
                    ]
                    telling[id(rule)] = row(left, universe.everything, universe.ports.all) != network.row(
                        group.first, direction
                    )
    decided = {status.key: status for status in network.statuses.policies}
    for number, rule in rules.values():
        policy = network.policies[number]
        status = decided[policy.key]
        shadowed = any(state.rule is rule and state.shadowed == "fully" for state in status.rules)
        if telling[id(rule)] or shadowed or status.verdict in ("Conflicted", "Invalid"):
            continue
        yield Finding(
            RULE,
            "note",
            f"{rule.direction}[{rule.position}] of {policy.key} allows what nothing denies",
            policy.resource.location(*rule.pointer),
            resources=(policy.key,),
            label="without this rule the same connections are allowed: cluster policies isolate nothing",
            field=path(rule.pointer),
        )
