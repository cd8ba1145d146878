"""Cilium's network policies, layers 3 and 4 of them; what its L7 rules refuse is said, not computed.

Sources: docs.cilium.io, «Layer 3 Policies», «Deny Policies», «Policy Enforcement Modes», «Using Kubernetes Constructs
In Policy»; cilium/cilium pkg/policy/api/{ingress,egress,rule}.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, mapping, sequence, text
from policylint.network.ports import LAST, PROTOCOLS, PortSpec
from policylint.network.rules import (
    ANYBODY,
    DIRECTIONS,
    Block,
    Direction,
    Entity,
    Peer,
    Pods,
    PolicySpec,
    RuleSpec,
    Selector,
    UnacceptableError,
    address_range,
    is_port_name,
    listed,
    mappings,
    selector,
    whole,
)

ENTITIES = (
    "all",
    "world",
    "world-ipv4",
    "world-ipv6",
    "cluster",
    "host",
    "remote-node",
    "kube-apiserver",
    "ingress",
    "init",
    "health",
    "unmanaged",
    "none",
)
NAMESPACE = "io.kubernetes.pod.namespace"
NAMESPACE_LABELS = "io.cilium.k8s.namespace.labels."
ACCOUNT = "io.cilium.k8s.policy.serviceaccount"
CLUSTER = "io.cilium.k8s.policy.cluster"
_NAME = "kubernetes.io/metadata.name"
_MEMBERS = ("Endpoints", "Entities", "CIDR", "CIDRSet", "Nodes", "Groups", "Requires", "FQDNs", "Services")
NOTHING = "`- {}` is documented to allow nothing, and some releases read it as everything"


def policies(resource: Resource) -> Iterator[PolicySpec]:
    """Yield the policies of one object: its `spec`, and each of its `specs`."""
    specs: list[tuple[Pointer, object]] = []
    if resource.body.get("spec") is not None:
        specs.append((("spec",), resource.body["spec"]))
    specs += [(("specs", number), spec) for number, spec in enumerate(sequence(resource.body.get("specs")))]
    for place, spec in specs or [(("spec",), None)]:
        try:
            if not isinstance(spec, dict):
                raise UnacceptableError("a policy has a spec")
            yield _policy(resource, spec, place)
        except UnacceptableError as refusal:
            pointer = (*place, *refusal.pointer)
            yield PolicySpec(resource, "NetworkPolicy", 0, None, refused=str(refusal), pointer=pointer)


def is_unknown(label: str) -> bool:
    """Return whether a label key looks like one that Cilium makes, and is none."""
    key = bare(label)
    known = key in (NAMESPACE, ACCOUNT, CLUSTER) or key.startswith(NAMESPACE_LABELS)
    return key.startswith(("io.kubernetes.", "io.cilium.")) and not known


def bare(label: str) -> str:
    """Return a label key without the prefix that says where the label comes from."""
    return label.removeprefix("k8s:").removeprefix("any:").removeprefix("k8s.")


def _policy(resource: Resource, spec: Mapping[str, Any], place: Pointer) -> PolicySpec:
    home = None if resource.key.kind == "CiliumClusterwideNetworkPolicy" else resource.key.namespace or None
    subject: Peer = Entity("some nodes")
    if spec.get("nodeSelector") is None:
        subject = endpoints(spec.get("endpointSelector"), home, "endpointSelector")
    rules: list[RuleSpec] = []
    isolates: set[Direction] = set()
    for direction in DIRECTIONS:
        for field in (direction, f"{direction}Deny"):
            for index, rule in enumerate(mappings(spec, field)):
                isolates.add(direction)
                rules += _rules(rule, direction, field, index, home, place)
    closing = mapping(spec.get("enableDefaultDeny"))
    isolating = frozenset(direction for direction in isolates if closing.get(direction) is not False)
    return PolicySpec(resource, "NetworkPolicy", 0, subject, tuple(rules), isolating)


def _rules(
    rule: Mapping[str, Any], direction: Direction, field: str, index: int, home: str | None, place: Pointer
) -> Iterator[RuleSpec]:
    prefix = "from" if direction == "ingress" else "to"
    pointer = (*place, field, index)
    members = [f"{prefix}{member}" for member in _MEMBERS if rule.get(f"{prefix}{member}") is not None]
    alternatives: list[tuple[tuple[Peer, ...], Pointer]] = [((), ())]
    for member in members:
        peers = list(_peers(rule, member, prefix, home, (field, index)))
        alternatives = [((*left, peer), (*above, *below)) for left, above in alternatives for peer, below in peers]
        if len(alternatives) > 10_000:
            raise UnacceptableError("the lists of one rule combine to more than 10,000 peers", field, index)
    stated = bool(members) or any(rule.get(name) is not None for name in ("toPorts", "icmps"))
    if not members:
        alternatives = [((ANYBODY,), ())] if stated else []
    action = "Deny" if field.endswith("Deny") else "Allow"
    name = field if action == "Deny" else ""
    doubt = "" if stated else NOTHING
    groups = mappings(rule, "toPorts", field, index)
    if not groups:
        ports = () if rule.get("icmps") is not None else None
        yield RuleSpec(direction, index, action, tuple(alternatives), ports, pointer, name, doubt=doubt)  # type: ignore[arg-type]
    for number, group in enumerate(groups):
        where = (field, index, "toPorts", number)
        stated_ports = tuple(_port(port, where) for port in mappings(group, "ports", *where))
        http = bool(mapping(group.get("rules")))
        yield RuleSpec(direction, index, action, tuple(alternatives), stated_ports or None, pointer, name, http, doubt)  # type: ignore[arg-type]


def _peers(
    rule: Mapping[str, Any], member: str, prefix: str, home: str | None, place: Pointer
) -> Iterator[tuple[Peer, Pointer]]:
    for number, value in enumerate(listed(rule, member, *place)):
        below: Pointer = (member, number)
        match member.removeprefix(prefix):
            case "Endpoints":
                yield endpoints(value, home, *place, *below), below
            case "Entities":
                yield Entity(value if value in ENTITIES else "none"), below
            case "CIDR":
                address_range(value, *place, *below)
                yield Block(text(value), (), "cilium"), below
            case "CIDRSet":
                entry = mapping(value)
                if entry.get("cidr") is None:  # a group, whose addresses stand in another object
                    yield Entity("names"), below
                    continue
                address_range(entry["cidr"], *place, *below, "cidr")
                excepted = listed(entry, "except", *place, *below)
                for exception in excepted:
                    address_range(exception, *place, *below, "except")
                yield Block(text(entry["cidr"]), tuple(map(text, excepted)), "cilium"), below
            case "Nodes":
                yield Entity("some nodes"), below
            case "Services":
                yield Entity("services"), below
            case _:
                yield Entity("names"), below


def endpoints(value: object, home: str | None, *pointer: str | int) -> Peer:
    """Return the pods, or the reserved identity, that an EndpointSelector means.

    Raises:
        UnacceptableError: it is no selector.
    """
    written = selector(value, *pointer)
    labels: dict[str, dict[str, Any]] = {"namespaces": {}, "pods": {}}
    expressions: dict[str, list[Any]] = {"namespaces": [], "pods": []}
    keys = [*mapping(written.get("matchLabels"))]
    keys += [text(expression["key"]) for expression in map(mapping, sequence(written.get("matchExpressions")))]
    reserved = [key.partition(":")[2] or key[9:] for key in keys if key.startswith(("reserved:", "reserved."))]
    if reserved:
        return Entity(reserved[0] if reserved[0] in ENTITIES else "none")
    if any(map(is_unknown, keys)):
        return Entity("none")
    for label, wanted in mapping(written.get("matchLabels")).items():
        axis, key = _axis(label)
        if key:
            labels[axis][key] = wanted
    for expression in map(mapping, sequence(written.get("matchExpressions"))):
        axis, key = _axis(text(expression["key"]))
        if key:
            expressions[axis].append({**expression, "key": key})
    by_namespace, by_pod = (_selector(labels[axis], expressions[axis]) for axis in ("namespaces", "pods"))
    limited = home is not None and not any(_axis(key)[0] == "namespaces" for key in keys)
    return Pods(home if limited else None, by_namespace, by_pod, "cilium")


def _selector(labels: dict[str, Any], expressions: Iterable[Any]) -> Selector:
    return {"matchLabels": labels, "matchExpressions": list(expressions)}


def _axis(label: str) -> tuple[str, str]:
    """Return whose label a key of Cilium means, and that label's key; "" where it says nothing about pods."""
    key = bare(label)
    if key == NAMESPACE:
        return "namespaces", _NAME
    if key.startswith(NAMESPACE_LABELS):
        return "namespaces", key.removeprefix(NAMESPACE_LABELS)
    return "pods", "" if key == CLUSTER else key


def _port(port: Mapping[str, Any], pointer: Pointer) -> PortSpec:
    protocol = text(port.get("protocol")).upper()
    if protocol not in (*PROTOCOLS, "", "ANY"):
        raise UnacceptableError(f"protocol: {protocol} is none of ANY, {', '.join(PROTOCOLS)}", *pointer)
    protocol = "" if protocol == "ANY" else protocol
    value = port.get("port")
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    if isinstance(number, str) and is_port_name(number):
        return PortSpec(protocol, name=number)
    if number in (None, 0):
        return PortSpec(protocol)
    low = whole(number, 1, LAST, *pointer, "port")
    end = port.get("endPort")
    return PortSpec(protocol, low, low if end in (None, 0) else whole(end, low, LAST, *pointer, "endPort"))
