"""GWP627: rules of Cilium's policies that demand mutual authentication where it cannot give it."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import rules
from policylint.model import Finding, value_at
from policylint.model.words import leading
from policylint.network.cilium import AUTHENTICATED, may_be_pods
from policylint.network.cilium_installed import installed
from policylint.network.rules import Entity, RuleSpec
from policylint.network.selecting import numbers_of
from policylint.simulation import Simulation

RULE = "GWP627"


_ALWAYS = (("never succeeds", "drop `mode: test-always-fail`, which is for tests"),)


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    told = set()
    for number, policy, rule in rules(simulation):
        ends = [network.universe.endpoints[each].key for each in numbers_of(network.subjects[number].sure)]
        if rule.name != AUTHENTICATED or not ends or (policy.key, rule.pointer) in told:
            continue
        told.add((policy.key, rule.pointer))
        mode = value_at(policy.resource.body, (*rule.pointer, "authentication", "mode"))
        for why, fix in _ALWAYS if mode == "test-always-fail" else _faults(simulation, rule):
            way = "into" if rule.direction == "ingress" else "out of"
            yield Finding(
                RULE,
                "warning",
                f"{policy.key} drops what it lets {way} {leading(ends, 3)}: it demands an authentication that {why}",
                policy.resource.location(*rule.pointer, "authentication", key=True),
                resources=(policy.key, *ends[:20]),
                label="such connections are dropped until both ends are authenticated, which never happens",
                help=(f"fix: {fix}",),
                field=path(rule.pointer),
            )


def _faults(simulation: Simulation, rule: RuleSpec) -> Iterator[tuple[str, str]]:
    """Yield why nobody whom a rule means can authenticate, and what mends it."""
    if any(peers[-1] == Entity("all") for peers, _ in rule.peers):
        by = next(str(each.resource.key) for each in installed(simulation.world))
        yield f"{by} does not set up", "set `authentication.mutual.spire.enabled: true`, or drop `mode: required`"
    elif not any(may_be_pods(peer) for peers, _ in rule.peers for peer in peers[:1]):
        yield "only pods can give", "drop `mode: required`: nodes, addresses and Cilium's Gateways have no identity"
