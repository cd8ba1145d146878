"""GWP606: a rule of a cluster policy that never decides anything, because others decide all that it matches."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.model import Finding, Related
from policylint.model.words import leading
from policylint.network.rules import TOGETHER
from policylint.simulation import Simulation

RULE = "GWP606"


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    for status in network.statuses.policies:
        if status.verdict == "Conflicted":
            continue  # which of two rules comes first is not settled: GWP602
        for state in status.rules:
            policy = network.policies[status.numbers[0]]
            deciders = [(network.policies[number], rule) for number, rule in state.by]
            if state.shadowed != "fully" or policy.tier == TOGETHER:
                continue
            if policy.tier == "Baseline" and any(decider.tier == TOGETHER for decider, _ in deciders):
                continue  # a baseline is meant for pods that no NetworkPolicy isolates
            names = [
                str(by.key) if rule is None else f"{by.key} {rule.direction}[{rule.position}]" for by, rule in deciders
            ]
            where = "in any cluster" if state.always else "on what is deployed here"
            rule = state.rule
            yield Finding(
                RULE,
                "warning" if state.always else "note",
                f"{rule.direction}[{rule.position}] of {status.key} never takes effect {where}: "
                f"{leading(names, 2)} comes first",
                policy.resource.location(*rule.pointer),
                resources=(status.key, *dict.fromkeys(decider.key for decider, _ in deciders)),
                label="everything it matches is decided earlier",
                related=tuple(
                    Related("decides before", decider.resource.location(*rule.pointer))
                    for decider, rule in deciders[:3]
                    if rule is not None
                ),
                field=path(rule.pointer),
            )
