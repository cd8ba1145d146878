"""GWP610: pods that may send to others, but may not ask for their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.model import Finding, ResourceKey, mapping, text
from policylint.model.words import leading
from policylint.network.ports import PortSpec
from policylint.network.rules import ANYBODY, TIERS, Entity, Pods
from policylint.network.walk import Entry
from policylint.simulation import Simulation

RULE = "GWP610"
_PORT = 53
_NAMED = (ANYBODY, Entity("names"))


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    cut: dict[tuple[ResourceKey, bool], list[ResourceKey]] = {}
    for number, end in enumerate(network.universe.endpoints):
        if end.role != "workload" or end.host:
            continue
        entries = network.entries(number, "egress")
        isolating = [entry for entry in entries if entry.isolates and entry.certain]
        if not isolating or not any(map(_names_others, entries)):
            continue
        udp, tcp = (any(_opens(entry, protocol) for entry in entries) for protocol in ("UDP", "TCP"))
        if not (udp and tcp):
            cut.setdefault((isolating[0].policy.key, udp), []).append(end.key)
    policies = {policy.key: policy for policy in network.policies}
    for (key, udp), keys in sorted(cut.items()):
        policy = policies[key]
        missing = "TCP 53, to which resolvers turn with long answers" if udp else "UDP 53"
        yield Finding(
            RULE,
            "note" if udp else "warning",
            f"{key} keeps {leading(keys, 3)} from DNS: no rule opens {missing}",
            policy.resource.name_location,
            resources=(key, *keys[:20]),
            label="other destinations are opened, whose names cannot be looked up",
            help=("fix: open UDP and TCP 53 to the cluster's DNS",),
            field="tcp" if udp else "udp",
        )


def _names_others(entry: Entry) -> bool:
    """Return whether a policy opens anything that is asked for by name: not mere addresses, the API server or a tunnel
    over UDP."""
    return any(
        rule.action == "Allow"
        and (rule.ports is None or any(port.protocol in ("", "TCP") for port in rule.ports))
        and any(
            (peer in _NAMED and not _is_api_server(rule.ports)) or _are_looked_up(peer)
            for peers, _ in rule.peers
            for peer in peers
        )
        for rule, _ in entry.rules
    )


def _is_api_server(ports: Sequence[PortSpec] | None) -> bool:
    """Return whether a rule opens the port of the API server, and no other but that of its Service."""
    numbers = {(port.low, port.high) for port in ports or ()}
    return (6443, 6443) in numbers and numbers <= {(6443, 6443), (443, 443)}


def _are_looked_up(peer: object) -> bool:
    """Return whether a peer is pods that are asked for by name: clients in the cluster find the API server, which runs
    as pods, by the address in their environment (https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/)."""
    if not isinstance(peer, Pods):
        return False
    labels = (mapping(each.get("matchLabels")) for each in (peer.namespaces, peer.pods))
    return not any(text(value).endswith("kube-apiserver") for each in labels for value in each.values())


def _opens(entry: Entry, protocol: str) -> bool:
    """Return whether a policy opens port 53, to whomever; DNS of OpenShift listens on 5353."""
    return any(
        rule.action == "Allow"
        and (rule.ports is None or any(_is_dns(port, protocol) for port in rule.ports))
        and bool(rule.peers)
        for rule, _ in entry.rules
    ) or (entry.policy.tier != TIERS[1] and not entry.policy.rules)


def _is_dns(port: PortSpec, protocol: str) -> bool:
    if port.protocol not in ("", protocol):
        return False
    return bool(port.name) or not port.certain or any(port.low <= number <= port.high for number in (_PORT, 5353))
