"""The tool over mutated network policies: lint, trace, explain, the list of connections, the picture, the diff."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from fuzz_tool import JUDGING, SHOWING, ToolFuzz, World, from_directory, name_of, url_of
from mutations import Mutator, copied, places

VALUES: tuple[Any, ...] = (
    0, 1, 53, 80, 8080, 65535, 65536, -1, 80.0, 80.5, "80", "0o17", 0o17, "http", "a--b", "65536", True, None,
    "0.0.0.0/0", "10.0.0.0/8", "10.1.2.3/8", "::/0", "fe80::1%eth0/64", "2001:db8::/32", "10.0.0.0/33", "1.2.3.4",
    "${CIDR}", "TCP", "tcp", "UDP", "SCTP", "ICMP", "ANY", "Ingress", "Egress", "ingress", "Allow", "Accept", "Deny",
    "Pass", "Admin", "Baseline", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "all", "world", "cluster", "ingress",
    "host", "kube-apiserver", "io.kubernetes.pod.namespace", "k8s:io.kubernetes.podNamespace", "reserved:ingress",
    {}, [], [{}], [None], {"matchLabels": {}}, {"matchLabels": None}, {"matchLabels": {"app": None}},
    {"matchLabels": {"app": ["web"]}}, {"matchLabels": {"app": 7}}, {"matchExpressions": [{}]},
    {"matchExpressions": [{"key": "app", "operator": "Exists"}]}, {"app": "web"},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": [None, 1, {}]}]},
    {"cidr": "10.0.0.0/8", "except": ["10.0.0.0/8"]}, {"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}},
    {"namespaceSelector": {}}, {"podSelector": {}}, {"port": 80, "endPort": 70}, {"port": "http", "protocol": "UDP"},
    {"namespaces": {}}, {"pods": {"podSelector": {}}}, {"networks": ["0.0.0.0/0", "0.0.0.0/0"]},
    {"nodes": {}}, {"domainNames": ["*.example.com"]}, {"ports": [{"port": 80}]}, {"hostNetwork": True},
)  # fmt: skip
"""Values that mean something, or nearly something, in a network policy or to one."""
KEYS = (
    "podSelector", "namespaceSelector", "ipBlock", "cidr", "except", "ports", "port", "endPort", "protocol", "from",
    "to", "ingress", "egress", "policyTypes", "subject", "namespaces", "pods", "networks", "nodes", "domainNames",
    "priority", "tier", "action", "protocols", "tcp", "destinationPort", "range", "portRange", "namedPort",
    "portNumber", "endpointSelector", "nodeSelector", "fromEndpoints", "fromEntities", "toEntities", "fromCIDR",
    "toCIDRSet", "toPorts", "toFQDNs", "toServices", "ingressDeny", "egressDeny", "enableDefaultDeny", "specs", "spec",
    "matchExpressions", "operator", "values", "key", "icmps", "rules",
)  # fmt: skip
MANY = 5_000


class NetworkFuzz(ToolFuzz):
    """Tries what reads network policies over mutations of worlds that have some."""

    def __init__(self, shared: Path | None = None) -> None:
        super().__init__(shared)
        found = [[world for world in source if _has_policies(world)] for source in self.worlds]
        if shared is not None:
            cases = sorted((shared / "cases" / "network").glob("*/"))
            found.append([world for case in cases for world in from_directory(case) if _has_policies(world)])
        self.worlds = [source for source in found if source]

    def mutate(self, random: Random, files: dict[str, list[Any]]) -> None:
        """Change network policies, and at times anything else."""
        if random.random() < 0.2:
            super().mutate(random, files)
        documents = [document for inside in files.values() for document in inside]
        policies = list(filter(_is_policy, documents))
        if not policies:
            return
        for _ in range(random.randint(1, 4)):
            policy = random.choice(policies)
            container, key = random.choice([*places(policy.get("spec")), (policy, "spec")])
            match random.randrange(7):
                case 0 if isinstance(container, dict):
                    container[random.choice(KEYS)] = _value(random)
                case 0 | 1 | 2:
                    container[key] = _value(random)
                case 3:
                    other, at = random.choice([*places(random.choice(policies)), (policy, "spec")])
                    container[key] = copied(other.get(at) if isinstance(other, dict) else other[at])
                case 4:
                    container[key] = [copied(container.get(key) if isinstance(container, dict) else container[key])] * 3
                case 5 if isinstance(container, dict):
                    container[random.choice(KEYS)] = container.pop(key, None)
                case _:
                    Mutator(random, self.stock).mutate([policy])

    def commands(
        self, random: Random, files: dict[str, list[Any]]
    ) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
        """Yield the commands that ask about network policies; lint and the connections always."""
        yield ("lint", "after", "-o", "json-v1", "--show-unknown"), JUDGING
        form = random.choice(("text", "wide", "json"))
        yield ("list", "connections", "after", "-o", form), SHOWING
        first, second = name_of(random, files), name_of(random, files)
        port = random.choice(("80", "8080", "udp/53", "sctp/9", "http", "0", "65536"))
        others = [
            (("trace", "GET", url_of(random, files), "after"), SHOWING),
            (("trace", "--from", first, "--to", second, "--port", port, "after"), SHOWING),
            (("explain", first, "after", "-o", random.choice(("text", "json", "markdown"))), SHOWING),
            (("explain", first, "after", "--without", second), SHOWING),
            (("simulate", "after", "-o", "json"), SHOWING),
            (("graph", "--layer", "network", "after", "-o", random.choice(("mermaid", "svg"))), SHOWING),
            (("lint", "after", "--diff", "--unsafe-fixes"), JUDGING),
            (("diff", "--rendered-before", "before", "--rendered-after", "after", "-o", "json-v1"), JUDGING),
            (("diff", "--rendered-before", "after", "--rendered-after", "before"), JUDGING),
        ]  # fmt: skip
        yield from random.sample(others, 4)


def _value(random: Random) -> Any:
    """Return a value for a network policy; now and then a very long list."""
    if random.random() > 0.02:
        return copied(random.choice(VALUES))
    return random.choice(
        (
            [f"10.{number // 250}.{number % 250}.0/24" for number in range(MANY)],
            [str(number) for number in range(MANY)],
            [{"port": number + 1, "endPort": 60_000 - number} for number in range(MANY // 10)],
            [{"podSelector": {"matchLabels": {"app": str(number)}}} for number in range(MANY // 10)],
        )
    )


def _is_policy(document: Any) -> bool:
    return isinstance(document, dict) and str(document.get("kind")).endswith("NetworkPolicy")


def _has_policies(world: World) -> bool:
    return any(_is_policy(document) for documents in world.files.values() for document in documents)
