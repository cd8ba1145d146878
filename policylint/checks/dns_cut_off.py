"""GWP610: pods that may send to others, but may not ask for their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policylint.catalog.clusters import DnsPods, dns_pods
from policylint.checks.kit.network import is_nobody, names_api_server
from policylint.implementations.generic.containers import containers
from policylint.model import Finding, ResourceKey, World, is_symbolic, mapping, text, texts
from policylint.model.words import leading
from policylint.network.ports import PortSpec
from policylint.network.rules import ANYBODY, TIERS, TOGETHER, Block, Entity, HostNames, Pods, RuleSpec
from policylint.network.state import Network
from policylint.network.walk import Entry
from policylint.simulation import Simulation
from policylint.spaces.addresses import cidr, network_of
from policylint.topology.namespaces import NAME_LABEL
from policylint.topology.workloads import pod_spec

RULE = "GWP610"
_ELSEWHERE = "no namespace is stated, and where it lands others may open it"
_CACHE = "k8s-dns-node-cache"


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    cut: dict[tuple[ResourceKey, bool], list[ResourceKey]] = {}
    past: dict[ResourceKey, list[ResourceKey]] = {}
    caches = _caches(simulation.world)
    for number, end in enumerate(network.universe.endpoints):
        if end.role != "workload" or end.host:
            continue
        entries = network.entries(number, "egress")
        isolating = [entry for entry in entries if entry.isolates and entry.certain]
        if not isolating:
            continue
        udp, tcp = (any(opens_dns(network, entry, protocol) for entry in entries) for protocol in ("UDP", "TCP"))
        key = isolating[0].policy.key
        if udp and caches and not any(_opens_address(entry, caches) for entry in entries):
            past.setdefault(key, []).append(end.key)
        elif not (udp and tcp) and any(map(_names_others, entries)):
            cut.setdefault((key, udp), []).append(end.key)
    policies = {policy.key: policy for policy in network.policies}
    for (key, udp), keys in sorted(cut.items()):
        policy = policies[key]
        own = next(filter(None, map(_of_product, policies[key].rules)), None)
        port = dns_pods()[0].port if own is None else own.port
        missing = f"TCP {port}, to which resolvers turn with long answers" if udp else f"UDP {port}"
        missing += f", on which the DNS pods of {own.of} listen" if own is not None else ""
        is_placed = bool(text(mapping(policy.resource.body.get("metadata")).get("namespace")))
        yield Finding(
            RULE,
            "note" if udp or not is_placed else "warning",
            f"{key} blocks DNS for {leading(keys, 3)}: no rule opens {missing}",
            policy.resource.name_location,
            resources=(key, *keys[:20]),
            label="the names of the destinations that it opens cannot be looked up",
            help=(f"fix: open UDP and TCP {port} to the cluster's DNS",),
            field="tcp" if udp else "udp",
            confidence="certain" if is_placed else "unknown",
            ground="" if is_placed else _ELSEWHERE,
        )

    for key, keys in sorted(past.items()):
        cache, address = next(iter(caches.items()))
        yield Finding(
            RULE,
            "warning",
            f"{key} blocks DNS for {leading(keys, 3)}: no rule opens {address}, where {cache} answers",
            policies[key].resource.name_location,
            resources=(key, cache, *keys[:20]),
            label="it is on the network of the node, and rules for pods do not mean it",
            help=(f"fix: open UDP and TCP {dns_pods()[0].port} to {network_of(address)} (`ipBlock`)",),
            field="cache",
            confidence="assumed",
            ground="a network plugin may let pods reach what runs on their own node",
        )


def _caches(world: World) -> dict[ResourceKey, str]:
    """Return the caches for names on the nodes, each with the first address on which it listens: NodeLocal DNSCache.

    Source: kubernetes.io/docs/tasks/administer-cluster/nodelocaldns. Where the network plugin sends requests to caches
    in pods of their own (CiliumLocalRedirectPolicy), they are not on the network of the node.
    """
    found: dict[ResourceKey, str] = {}
    for workload, container in containers(world, (("apps", "DaemonSet"),)):
        arguments = texts(container.get("args"))
        at = next((arguments[number + 1] for number, each in enumerate(arguments[:-1]) if each == "-localip"), "")
        address = at.partition(",")[0]
        is_on_node = _CACHE in text(container.get("image")) and pod_spec(workload).get("hostNetwork") is True
        if is_on_node and cidr(network_of(address)) is not None:
            found[workload.key] = address
    return found


def _opens_address(entry: Entry, caches: Mapping[ResourceKey, str]) -> bool:
    """Return whether a policy opens DNS to the address of a cache, or to every address."""
    for rule, _ in entry.rules:
        if rule.action != "Allow" or not (rule.ports is None or any(_is_dns(port, "UDP", None) for port in rule.ports)):
            continue
        for peer in (peer for peers, _ in rule.peers for peer in peers):
            if not isinstance(peer, Pods) and not isinstance(peer, Block):
                return True
            held = cidr(peer.cidr) if isinstance(peer, Block) else None
            for found in map(cidr, map(network_of, caches.values())):
                if found is not None and held is not None and held.low <= found.low < held.high:
                    return True
    return entry.policy.tier != TOGETHER


def _names_others(entry: Entry) -> bool:
    """Return whether a policy opens anything that is asked for by name: not mere addresses, the API server or a tunnel
    over UDP."""
    return any(
        rule.action == "Allow"
        and (rule.ports is None or any(port.protocol in ("", "TCP") for port in rule.ports))
        and any(
            ((isinstance(peer, HostNames) or peer in (ANYBODY, Entity("names"))) and not _is_api_server(rule.ports))
            or _are_looked_up(peer)
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
    return isinstance(peer, Pods) and not names_api_server(peer)


def opens_dns(network: Network, entry: Entry, protocol: str) -> bool:
    """Return whether a policy opens the port of DNS to whoever may serve it; without ports a rule opens it, too."""
    return any(
        rule.action in (("Allow",) if entry.policy.tier in TIERS else ("Allow", "Pass"))
        and (
            any(_may_serve_names(peer) for peers, _ in rule.peers for peer in peers)
            if rule.ports is None
            else any(_is_dns(port, protocol, _of_product(rule)) for port in rule.ports)
            and any(not is_nobody(network, peer) for peers, _ in rule.peers for peer in peers)
        )
        for rule, _ in entry.rules
    ) or (entry.policy.tier != TOGETHER and not entry.policy.rules and not entry.isolates)


def _may_serve_names(peer: object) -> bool:
    """Return whether the cluster's DNS may be among a peer: pods of another namespace than its own are not."""
    if not isinstance(peer, Pods):
        return True
    stated = mapping(peer.namespaces.get("matchLabels")).get(NAME_LABEL)
    names = [name for name in (peer.home, stated) if isinstance(name, str)]
    served_in = {pods.namespace for pods in dns_pods()}
    return not names or any(name in served_in or is_symbolic(name) for name in names)


def _of_product(rule: RuleSpec) -> DnsPods | None:
    """Return the DNS pods of a product to which alone a rule opens something."""
    peers = [peer for peers, _ in rule.peers for peer in peers]
    named = [mapping(peer.namespaces.get("matchLabels")).get(NAME_LABEL) for peer in peers if isinstance(peer, Pods)]
    of_products = (pods for pods in dns_pods() if pods.of)
    return next((pods for pods in of_products if peers and named == [pods.namespace] * len(peers)), None)


def _is_dns(port: PortSpec, protocol: str, own: DnsPods | None) -> bool:
    return port.may_be(protocol, [pods.port for pods in (dns_pods() if own is None else (own,))])
