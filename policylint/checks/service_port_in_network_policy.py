"""GWP608: a port in a network policy that is a Service's or a node port of it; the pods listen on another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from policylint.checks.kit.fixes import set_port
from policylint.checks.kit.locations import path
from policylint.checks.kit.network import rules, stretches
from policylint.documents import Pointer
from policylint.model import Finding, Related, Resource, mapping, sequence, text, value_at
from policylint.network.endpoints import Endpoint
from policylint.network.hops import target_ports
from policylint.network.rules import Pods, PolicySpec, RuleSpec
from policylint.network.selecting import numbers_of
from policylint.network.state import Network
from policylint.simulation import Simulation

RULE = "GWP608"


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    services = _Services(simulation)
    ends_of_world = network.universe.endpoints
    undecided = sum(1 << at for at, end in enumerate(ends_of_world) if end.open or end.role != "workload")
    for number, policy, rule in rules(simulation):
        numbers = [port for port in rule.ports or () if not port.name and port.certain and port.low == port.high]
        if not numbers or rule.action != "Allow":
            continue
        meant = _destinations(network, number, rule)
        if not meant or meant & undecided:
            continue
        ends = [ends_of_world[at] for at in numbers_of(meant)]
        for port in numbers:
            if any((port.protocol or "TCP", port.low) in end.listed for end in ends):
                continue
            found = services.translating(ends, port.protocol or "TCP", port.low)
            if found is not None:
                service, target, of_nodes = found
                which = f"the {'node port' if of_nodes else 'port'} of {service.key}"
                pointer = _place(policy, rule, port.low)
                location = policy.resource.location(*pointer)
                yield Finding(
                    RULE,
                    "warning",
                    f"{policy.key} opens port {port.low} in {rule.direction}[{rule.position}], "
                    f"{which}; its pods listen on {target}",
                    location,
                    resources=(policy.key, service.key),
                    label="policies see the port after the Service has translated it",
                    related=(Related("translated here", service.location("spec", "ports", key=True)),),
                    help=(f"fix: write {target}",),
                    fixes=set_port(location, value_at(policy.resource.body, pointer), target),
                    field=path(pointer),
                )


def _destinations(network: Network, number: int, rule: RuleSpec) -> int:
    """Return the set of the pods whose ports a rule means: the subjects of ingress, the peers of egress; none where
    its ports may belong to what else it lets through: addresses, or everything."""
    if rule.direction == "ingress":
        return network.subjects[number].maybe
    if not all(isinstance(peer, Pods) for peers, _ in rule.peers for peer in peers):
        return 0
    first = next(iter(stretches(network, number, rule)), None)
    return 0 if first is None else first[1].maybe & network.universe.pods


def _place(policy: PolicySpec, rule: RuleSpec, number: int) -> Pointer:
    """Return where a port number is written, else the rule."""
    body = policy.resource.body
    for below in _ports(mapping(value_at(body, rule.pointer))):
        if value_at(body, (*rule.pointer, *below)) in (number, str(number)):
            return (*rule.pointer, *below)
    return rule.pointer


def _ports(rule: Mapping[str, Any]) -> Iterator[Pointer]:
    """Yield where the kinds of policies have the single ports of a rule."""
    for position in range(len(sequence(rule.get("ports")))):
        yield "ports", position, "port"
        yield "ports", position, "portNumber", "port"
    for position, entry in enumerate(map(mapping, sequence(rule.get("protocols")))):
        yield from (("protocols", position, str(protocol), "destinationPort", "number") for protocol in entry)
    for position, group in enumerate(map(mapping, sequence(rule.get("toPorts")))):
        yield from (
            ("toPorts", position, "ports", number, "port") for number in range(len(sequence(group.get("ports"))))
        )


class _Services:
    """The Services of a world, by namespace."""

    def __init__(self, simulation: Simulation) -> None:
        self._world = simulation.world
        self._by_label: dict[str, dict[str, list[Resource]]] = {}
        """Namespace → a label that a Service asks for → the Services."""

    def translating(self, ends: list[Endpoint], protocol: str, port: int) -> tuple[Resource, int, bool] | None:
        """Return a Service of some of the pods that has the port and means another one by it, with that, and whether
        the port is that of the nodes."""
        for end in ends:
            for service in self._selecting(end):
                for entry in map(mapping, sequence(service.spec.get("ports"))):
                    targets = target_ports(end, entry)
                    own, of_nodes = entry.get("port") == port, entry.get("nodePort") == port
                    asked = (own or of_nodes) and text(entry.get("protocol"), "TCP") == protocol
                    if asked and len(targets) == 1 and targets[0] != port:
                        return service, targets[0], not own
        return None

    def _selecting(self, end: Endpoint) -> list[Resource]:
        """Return the Services that select a pod, by name."""
        by_label = self._by_label.get(end.namespace)
        if by_label is None:
            by_label = self._by_label[end.namespace] = defaultdict(list)
            for service in self._world.in_namespace("", "Service", end.namespace):
                for name, value in islice(mapping(service.spec.get("selector")).items(), 1):
                    by_label[f"{name}={value}"].append(service)
        near = [service for name, value in end.labels.items() for service in by_label.get(f"{name}={value}", ())]
        selecting = [each for each in near if each.spec["selector"].items() <= end.labels.items()]
        return sorted(selecting, key=lambda service: service.key.name)
