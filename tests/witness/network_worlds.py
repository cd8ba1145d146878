"""Clusters with network policies of every kind, and packets: the grammar of the `network` witness.

Not drawn, as the evaluator has no answer that the API would stand behind: names of ports in AdminNetworkPolicies (it
lets them mean any port), nodes as peers (it takes pods for them), pods on their node's network, two cluster-wide
policies of one priority, a pod that calls itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.witness.grammar import Draw, Manifest, manifest

PODS, NODES = "10.1.0.0/16", "192.168.7.0/24"
"""Where the addresses of pods and nodes lie."""
LABELS = {"team": ("red", "blue"), "env": ("prod", "dev"), "app": ("web", "db", "api"), "tier": ("front", "back")}
OF_NAMESPACES, OF_PODS = ("team", "env"), ("app", "tier")
PORTS = (53, 80, 443, 5432, 8080, 8443, 9090)
PORT_NAMES = ("http", "dns", "metrics")
PROTOCOLS = ("TCP", "UDP", "SCTP")
OUTSIDE = (
    "8.8.8.8",
    "8.8.4.4",
    "8.20.0.1",
    "203.0.113.7",
    "203.0.113.200",
    "198.51.100.1",
    "2001:db8::7",
    "2001:db9::1",
)
BLOCKS = (
    "0.0.0.0/0",
    "8.0.0.0/8",
    "8.8.0.0/16",
    "203.0.113.0/24",
    "203.0.113.128/25",
    "198.51.100.1/32",
    "::/0",
    "2001:db8::/32",
)
EXCEPTED = {
    "0.0.0.0/0": ("8.8.8.0/24", "203.0.113.0/25", "198.51.100.0/24"),
    "8.0.0.0/8": ("8.8.0.0/16", "8.20.0.1/32"),
    "203.0.113.0/24": ("203.0.113.0/28", "203.0.113.200/32"),
    "::/0": ("2001:db8::/48",),
}
NAMES = {"api.example": ("203.0.113.7",), "db.example": ("198.51.100.1", "8.20.0.1")}
Packet = dict[str, Any]


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one cluster: either generation of the cluster-wide policies, never both."""
    draw = Draw("network", seed, number)
    spaces = [f"space-{index}" for index in range(draw.number(2, 4))]
    objects = [manifest("v1", "Namespace", name, labels=drawn_labels(draw, OF_NAMESPACES)) for name in spaces]
    pods = [drawn_pod(draw, index, draw.of(spaces)) for index in range(draw.number(4, 9))]
    policies = [drawn_policy(draw, index, draw.of(spaces)) for index in range(draw.number(0, 5))]
    wide = draw.one("", "v1alpha1", "v1alpha2")
    priorities = draw.some(range(20), 4) if wide else []
    for index, priority in enumerate(priorities):
        policies.append(_admin(draw, index, priority) if wide == "v1alpha1" else _cluster(draw, index, priority))
    if wide == "v1alpha1" and draw.often(0.6):
        policies.append(_baseline(draw))
    draw.random.shuffle(policies)
    return [*objects, *pods, *policies]


def packets(seed: object, number: int, objects: Sequence[Manifest], count: int) -> list[Packet]:
    """Return packets among the pods and addresses of a world: no pod to itself, none from outside to outside."""
    draw = Draw("packets", seed, number)
    pods = [_address(each) for each in objects if each["kind"] == "Pod"]
    made = []
    while len(made) < count:
        source, target = (draw.of(pods) if draw.often(0.75) else draw.of(OUTSIDE) for _ in range(2))
        if source == target or (source in OUTSIDE and target in OUTSIDE):
            continue
        port = draw.of(PORTS) if draw.often(0.85) else draw.number(1, 65535)
        made.append({"from": source, "to": target, "protocol": draw.one("TCP", "TCP", *PROTOCOLS), "port": port})
    return made


def _address(pod: Manifest) -> str:
    return str(pod["status"]["podIPs"][0]["ip"])


def drawn_labels(draw: Draw, names: Sequence[str]) -> dict[str, str]:
    return {name: draw.of(LABELS[name]) for name in names if draw.often(0.75)}


def drawn_pod(draw: Draw, index: int, namespace: str) -> Manifest:
    ports = [
        {"name": name, "containerPort": draw.of(PORTS), **draw.maybe(0.6, "protocol", draw.of(PROTOCOLS))}
        for name in draw.some(PORT_NAMES, 3, 0)
    ]
    containers = [{"name": "main", "image": "main", "ports": ports}]
    return manifest(
        "v1",
        "Pod",
        f"pod-{index}",
        namespace,
        labels=drawn_labels(draw, OF_PODS),
        spec={"containers": containers},
        status={"podIPs": [{"ip": f"10.1.{index}.{draw.number(1, 250)}"}]},
    )


def _selector(draw: Draw, names: Sequence[str]) -> Manifest:
    if draw.often(0.2):
        return {}
    made: Manifest = {}
    if draw.often(0.6):
        made["matchLabels"] = {name: draw.of(LABELS[name]) for name in draw.some(names, 2)}
    if not made or draw.often(0.3):
        expressions = []
        for name in draw.some(names, 2):
            operator = draw.one("In", "NotIn", "Exists", "DoesNotExist")
            values = draw.maybe(1, "values", draw.some(LABELS[name], 2)) if operator in ("In", "NotIn") else {}
            expressions.append({"key": name, "operator": operator, **values})
        made["matchExpressions"] = expressions
    return made


def _spaces(draw: Draw) -> Manifest:
    if draw.often(0.15):
        return {"matchLabels": {"kubernetes.io/metadata.name": f"space-{draw.number(0, 3)}"}}
    return _selector(draw, OF_NAMESPACES)


def drawn_policy(draw: Draw, index: int, namespace: str) -> Manifest:
    spec: Manifest = {"podSelector": _selector(draw, OF_PODS)}
    for direction, field in (("ingress", "from"), ("egress", "to")):
        rules = []
        for _ in range(draw.number(0, 2)):
            peers = [_peer(draw) for _ in range(draw.number(1, 3))]
            ports = [_port(draw) for _ in range(draw.number(1, 2))]
            rules.append(draw.maybe(0.8, field, peers) | draw.maybe(0.6, "ports", ports))
        spec |= draw.maybe(0.85 if rules else 0.3, direction, rules)
    spec |= draw.maybe(0.6, "policyTypes", draw.one(["Ingress"], ["Egress"], ["Ingress", "Egress"]))
    return manifest("networking.k8s.io/v1", "NetworkPolicy", f"plain-{index}", namespace, spec=spec)


def _peer(draw: Draw) -> Manifest:
    if draw.often(0.3):
        block = draw.of(BLOCKS) if draw.often(0.9) else PODS
        return {"ipBlock": {"cidr": block} | draw.maybe(0.5, "except", draw.some(EXCEPTED.get(block, ()), 2, 0))}
    if draw.often(0.3):
        return {"podSelector": _selector(draw, OF_PODS)}
    return {"namespaceSelector": _spaces(draw)} | draw.maybe(0.5, "podSelector", _selector(draw, OF_PODS))


def _port(draw: Draw) -> Manifest:
    protocol = draw.maybe(0.7, "protocol", draw.of(PROTOCOLS))
    if draw.often(0.25):
        return {"port": draw.of(PORT_NAMES), **protocol}
    first, last = sorted(draw.some(PORTS, 2, 2))
    return (
        draw.maybe(0.85, "port", first) | protocol if draw.often(0.7) else {"port": first, "endPort": last, **protocol}
    )


def _wide_pods(draw: Draw) -> Manifest:
    if draw.often(0.4):
        return {"namespaces": _spaces(draw)}
    return {"pods": {"namespaceSelector": _spaces(draw), "podSelector": _selector(draw, OF_PODS)}}


def _wide_peers(draw: Draw) -> list[Manifest]:
    return [_wide_pods(draw) for _ in range(draw.number(1, 2))]


def _wide_rules(draw: Draw, actions: Sequence[str], ports: str) -> Manifest:
    """Return the rules of both directions; networks have no names of ports, and only what accepts has hosts."""
    rules: Manifest = {}
    for direction, field in (("ingress", "from"), ("egress", "to")):
        made = []
        for _ in range(draw.number(0, 3)):
            of_ports = [_old_port(draw) if ports == "ports" else _new_port(draw) for _ in range(draw.number(1, 2))]
            rule = {"action": draw.of(actions), field: _wide_peers(draw), **draw.maybe(0.5, ports, of_ports)}
            if field == "to" and "destinationNamedPort" not in str(rule):
                rule[field] += [{"networks": draw.some((*BLOCKS, PODS), 2)}] if draw.often(0.35) else []
                if rule["action"] == actions[0] and draw.often(0.1):
                    rule[field].append({"domainNames": draw.some(NAMES, 2)})
            made.append(rule)
        rules |= {direction: made} if made else {}
    return rules


def _old_port(draw: Draw) -> Manifest:
    first, last = sorted(draw.some(PORTS, 2, 2))
    protocol = draw.of(PROTOCOLS)
    if draw.often(0.6):
        return {"portNumber": {"protocol": protocol, "port": first}}
    return {"portRange": {"protocol": protocol, "start": first, "end": last}}


def _new_port(draw: Draw) -> Manifest:
    if draw.often(0.25):
        return {"destinationNamedPort": draw.of(PORT_NAMES)}
    first, last = sorted(draw.some(PORTS, 2, 2))
    port = {"number": first} if draw.often(0.6) else {"range": {"start": first, "end": last}}
    return {draw.of(PROTOCOLS).lower(): {"destinationPort": port}}


def _admin(draw: Draw, index: int, priority: int) -> Manifest:
    spec = {"priority": priority, "subject": _wide_pods(draw), **_wide_rules(draw, ("Allow", "Deny", "Pass"), "ports")}
    return manifest("policy.networking.k8s.io/v1alpha1", "AdminNetworkPolicy", f"admin-{index}", spec=spec)


def _baseline(draw: Draw) -> Manifest:
    spec = {"subject": _wide_pods(draw), **_wide_rules(draw, ("Allow", "Deny"), "ports")}
    return manifest("policy.networking.k8s.io/v1alpha1", "BaselineAdminNetworkPolicy", "default", spec=spec)


def _cluster(draw: Draw, index: int, priority: int) -> Manifest:
    spec = {"tier": draw.one("Admin", "Baseline"), "priority": priority, "subject": _wide_pods(draw)}
    spec |= _wide_rules(draw, ("Accept", "Deny", "Pass"), "protocols")
    return manifest("policy.networking.k8s.io/v1alpha2", "ClusterNetworkPolicy", f"wide-{index}", spec=spec)
