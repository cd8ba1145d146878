"""GWP609: a port name in a network policy that no destination has, or only under another protocol."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import may_be_elsewhere, rules
from policylint.model import Finding, mapping, sequence, value_at
from policylint.model.words import listing
from policylint.network.endpoints import Endpoint
from policylint.network.rules import PolicySpec, RuleSpec
from policylint.network.selecting import numbers_of
from policylint.network.state import Network
from policylint.simulation import Simulation

RULE = "GWP609"


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    for number, policy, rule in rules(simulation):
        for spec in rule.ports or ():
            ends = _destinations(network, number, policy, rule) if spec.name else None
            if not ends or any(network.universe.named_at(end, spec.name, spec.protocol) for end in ends):
                continue
            others = sorted({port.protocol for end in ends for port in end.named if port.name == spec.name})
            known = sorted({port.name for end in ends for port in end.named})
            label = (
                f"{spec.name} is a port of {listing(others)} there"
                if others
                else f"the names there: {listing(known, most=5)}"
            )
            yield Finding(
                RULE,
                "warning",
                f"{policy.key} names port {spec.name} in {rule.direction}[{rule.position}], which no destination has",
                policy.resource.location(*_place(policy, rule, spec.name)),
                resources=(policy.key,),
                label=label if others or known else "no container port there has a name",
                field=path((*rule.pointer, spec.name, spec.protocol)),
            )


def _destinations(network: Network, number: int, policy: PolicySpec, rule: RuleSpec) -> list[Endpoint] | None:
    """Return the pods whose names count, None where not all of them were seen."""
    universe = network.universe
    bits = network.subjects[number].maybe
    if rule.direction == "ingress":
        if bits & universe.open or may_be_elsewhere(network, policy.subject):
            return None
    else:
        bits = 0
        for peers, _ in rule.peers:
            if len(peers) != 1 or may_be_elsewhere(network, peers[0]):
                return None
            bits |= universe.select(peers[0]).maybe
    return [universe.endpoints[end] for end in numbers_of(bits & universe.pods)]


def _place(policy: PolicySpec, rule: RuleSpec, name: str) -> tuple[str | int, ...]:
    for field in ("ports", "protocols"):
        entries = sequence(mapping(value_at(policy.resource.body, rule.pointer)).get(field))
        for position, entry in enumerate(entries):
            for below in ("port", "namedPort", "destinationNamedPort"):
                if mapping(entry).get(below) == name:
                    return (*rule.pointer, field, position, below)
    return rule.pointer
