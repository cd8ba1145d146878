"""Random worlds of pods and network policies, from a seed."""

from __future__ import annotations

from random import Random
from typing import Any

from policylint.documents import read
from policylint.implementations import network_policies
from policylint.model import Resource, ResourceKey, World
from policylint.model.kinds import CLUSTER_SCOPED
from policylint.network.hops import Hops
from tests.network.naive import Manifest, Naive, Pod

TEAMS, APPS = ("a", "b", "c"), ("web", "db")
PORTS = (53, 80, 443, 8080, 9090)
CIDRS = ("0.0.0.0/0", "8.0.0.0/8", "8.8.0.0/16", "9.9.9.9/32")
ADDRESSES = ("8.8.8.8", "8.1.1.1", "9.9.9.9", "1.2.3.4")


def selector(random: Random, key: str, values: tuple[str, ...]) -> Manifest:
    match random.randrange(6):
        case 0:
            return {}
        case 1:
            return {"matchExpressions": [{"key": key, "operator": random.choice(["Exists", "DoesNotExist"])}]}
        case 2:
            operator = random.choice(["In", "NotIn"])
            chosen = random.sample(values, random.randint(1, 2))
            return {"matchExpressions": [{"key": key, "operator": operator, "values": chosen}]}
        case _:
            return {"matchLabels": {key: random.choice(values)}}


def cluster_pods(random: Random) -> Manifest:
    if random.random() < 0.5:
        return {"namespaces": selector(random, "team", TEAMS)}
    pods = {"namespaceSelector": selector(random, "team", TEAMS), "podSelector": selector(random, "app", APPS)}
    return {"pods": pods}


def cluster_port(random: Random) -> Manifest:
    if random.random() < 0.2:
        return {"destinationNamedPort": random.choice(["http", "dns"])}
    start, end = sorted(random.sample(PORTS, 2))
    destination: Manifest = {"number": start} if random.random() < 0.5 else {"range": {"start": start, "end": end}}
    return {random.choice(["tcp", "udp", "sctp"]): {"destinationPort": destination}}


def cluster_policy(random: Random, number: int) -> Manifest:
    spec: Manifest = {"tier": random.choice(["Admin", "Baseline"]), "priority": number, "subject": cluster_pods(random)}
    for direction, field in (("ingress", "from"), ("egress", "to")):
        rules = []
        for _ in range(random.randrange(4)):
            peers = [cluster_pods(random) for _ in range(random.randint(1, 2))]
            if direction == "egress" and random.random() < 0.3:
                peers.append({"networks": [random.choice(CIDRS)]})
            rule: Manifest = {"action": random.choice(["Accept", "Deny", "Pass"]), field: peers}
            if random.random() < 0.6:
                rule["protocols"] = [cluster_port(random) for _ in range(random.randint(1, 2))]
            rules.append(rule)
        if rules:
            spec[direction] = rules
    return manifest("policy.networking.k8s.io/v1alpha2", "ClusterNetworkPolicy", f"policy-{number}", spec=spec)


def core_peer(random: Random) -> Manifest:
    match random.randrange(4):
        case 0:
            inner = [random.choice(CIDRS[2:3])] if random.random() < 0.5 else []
            return {"ipBlock": {"cidr": "8.0.0.0/8", "except": inner}}
        case 1:
            return {"podSelector": selector(random, "app", APPS)}
        case 2:
            return {"namespaceSelector": selector(random, "team", TEAMS)}
        case _:
            return {
                "namespaceSelector": selector(random, "team", TEAMS),
                "podSelector": selector(random, "app", APPS),
            }


def core_port(random: Random) -> Manifest:
    protocol = random.choice([None, "TCP", "UDP", "SCTP"])
    port: Manifest = {} if protocol is None else {"protocol": protocol}
    match random.randrange(4):
        case 0:
            port["port"] = random.choice(["http", "dns"])
        case 1:
            port["port"], port["endPort"] = sorted(random.sample(PORTS, 2))
        case 2:
            port["port"] = random.choice(PORTS)
    return port


def network_policy(random: Random, number: int, namespaces: list[str]) -> Manifest:
    spec: Manifest = {"podSelector": selector(random, "app", APPS)}
    for direction, field in (("ingress", "from"), ("egress", "to")):
        rules = []
        for _ in range(random.randrange(3)):
            rule: Manifest = {}
            if random.random() < 0.8:
                rule[field] = [core_peer(random) for _ in range(random.randint(1, 2))]
            if random.random() < 0.6:
                rule["ports"] = [core_port(random) for _ in range(random.randint(1, 2))]
            rules.append(rule)
        if rules or random.random() < 0.3:
            spec[direction] = rules
    if random.random() < 0.5:
        spec["policyTypes"] = random.choice([["Ingress"], ["Egress"], ["Ingress", "Egress"]])
    place = random.choice(namespaces)
    return manifest("networking.k8s.io/v1", "NetworkPolicy", f"policy-{number}", place, spec=spec)


def random_world(seed: int) -> tuple[list[Manifest], Naive]:
    """Manifests, and the same as the oracle reads them."""
    random = Random(seed)
    names = [f"ns{number}" for number in range(random.randint(1, 3))]
    namespaces = {name: {"team": random.choice(TEAMS)} if random.random() < 0.8 else {} for name in names}
    manifests = [manifest("v1", "Namespace", name, labels=labels) for name, labels in namespaces.items()]
    pods = []
    for number in range(random.randint(1, 5)):
        labels = {"app": random.choice(APPS)} if random.random() < 0.9 else {}
        named = {
            name: (random.choice(["TCP", "UDP"]), random.choice(PORTS))
            for name in ("http", "dns")
            if random.random() < 0.6
        }
        pod = Pod(f"pod{number}", random.choice(names), labels, named)
        pods.append(pod)
        ports = [
            {"name": name, "protocol": protocol, "containerPort": port} for name, (protocol, port) in named.items()
        ]
        spec = {"containers": [{"name": "main", "ports": ports}]}
        manifests.append(manifest("v1", "Pod", pod.name, pod.namespace, labels=labels, spec=spec))
    policies = [
        cluster_policy(random, number) if random.random() < 0.5 else network_policy(random, number, names)
        for number in range(random.randint(1, 5))
    ]
    random.shuffle(policies)
    return manifests + policies, Naive(pods, namespaces, policies)


def manifest(
    version: str,
    kind: str,
    name: str,
    namespace: str = "",
    *,
    labels: dict[str, str] | None = None,
    spec: Manifest | None = None,
) -> Manifest:
    metadata: Manifest = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if labels is not None:
        metadata["labels"] = labels
    body: Manifest = {"apiVersion": version, "kind": kind, "metadata": metadata}
    return body if spec is None else {**body, "spec": spec}


def world(manifests: list[Manifest], **facts: Any) -> World:
    """A world of manifests without files."""
    document = read(b"kind: Test\n", "test.yaml").documents[0]
    resources = []
    for body in manifests:
        group, _, version = body["apiVersion"].rpartition("/")
        metadata = body["metadata"]
        namespace = "" if (group, body["kind"]) in CLUSTER_SCOPED else metadata.get("namespace", "default")
        key = ResourceKey(group, body["kind"], namespace, metadata["name"])
        resources.append(Resource(key, version, body, document))
    return World("test", resources, **facts)


def hops_of(known: World) -> Hops:
    """The ways through the network of a world, with its own policies."""
    return Hops(known, network_policies(known, {}))
