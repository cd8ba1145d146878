"""What the API server refuses is Invalid, with its place, and decides nothing; whatever the input, nothing fails."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from policylint.network.connections import connections
from policylint.network.state import Network
from tests.implementations.calico_worlds import random_calico
from tests.network.worlds import hops_of, manifest, random_world, world

JUNK: tuple[Any, ...] = (None, [], {}, "x", -1, 1.5, True, {"a": None}, [None], ["x"], [{}], {"namespaces": {}})


def pod(name: str) -> dict[str, Any]:
    return manifest("v1", "Pod", name, "shop", labels={"app": name}, spec={"containers": [{"name": "main"}]})


def network(spec: Any) -> Network:
    policy = {**manifest("networking.k8s.io/v1", "NetworkPolicy", "odd", "shop"), "spec": spec}
    return hops_of(world([pod("web"), pod("db"), policy])).network


def port(value: Any) -> dict[str, Any]:
    return {"podSelector": {}, "ingress": [{"ports": [{"port": value}]}]}


def block(cidr: Any, *excepted: Any) -> dict[str, Any]:
    return {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": cidr, "except": list(excepted)}}]}]}


REFUSED = [
    ([], "no mapping"),
    ({"podSelector": []}, "mapping"),
    ({"podSelector": {"matchLabels": {"tier": True}}}, "no text"),
    ({"podSelector": {"matchExpressions": [None]}}, "key"),
    ({"podSelector": {"matchExpressions": [{"key": "a", "operator": "Like", "values": ["b"]}]}}, "operator"),
    ({"podSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}, "needs values"),
    ({"podSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}}, "takes no values"),
    ({"policyTypes": ["Inbound"]}, "policyTypes"),
    ({"ingress": {}}, "list"),
    ({"ingress": [{"from": [{}]}]}, "a peer needs"),
    (
        {"ingress": [{"from": [{"podSelector": {}, "ipBlock": {"cidr": "10.0.0.0/8"}}]}]},
        "ipBlock cannot stand with a selector",
    ),
    ({"ingress": [{"ports": [{"port": "http", "endPort": 90}]}]}, "endPort"),
    ({"ingress": [{"ports": [{"port": 10, "endPort": 1}]}]}, "between 10 and 65535"),
    ({"ingress": [{"ports": [{"protocol": "ICMP"}]}]}, "protocol"),
    *((port(value), "port") for value in (0, 65536, -1, "80", 80.5, True, "a--b", "-a", "UPPER")),
    *((block(cidr), "no CIDR") for cidr in ("10.0.0.0", "10.0.0.0/33", "010.0.0.0/8", "fe80::1%eth0/64", 7)),
    (block(None), "null is no CIDR"),
    (block("10.0.0.0/8", "11.0.0.0/16"), "no part of"),
    (block("10.0.0.0/8", "10.0.0.0/8"), "no part of"),
]


@pytest.mark.parametrize(("spec", "why"), REFUSED, ids=range(len(REFUSED)))
def test_a_refused_policy_says_why_and_decides_nothing(spec: Any, why: str) -> None:
    read = network(spec)
    (policy,), (status,) = read.policies, read.statuses.policies
    assert why in policy.refused
    assert status.verdict == "Invalid"
    assert len(connections(read)) == len(connections(hops_of(world([pod("web"), pod("db")])).network))


@pytest.mark.parametrize("spec", [None, {}, {"podSelector": None}])
def test_a_policy_without_selector_isolates_everything(spec: Any) -> None:
    assert [column.allowed for column in network(spec).row(0, "ingress")] == [0]


def test_large_lists_are_bounded() -> None:
    excepted = [f"{first}.{second}.0.0/16" for first in range(20) for second in range(250)]
    assert len(network(block("0.0.0.0/0", *excepted)).universe.addresses.ranges) > 4_000
    values = [str(number) for number in range(10_000)]
    chosen = {"podSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": values}]}}
    assert not network(chosen).statuses.policies[0].subjects


def cilium() -> dict[str, Any]:
    rule = {
        "fromEndpoints": [{"matchLabels": {"k8s:io.kubernetes.pod.namespace": "ns1"}}],
        "toPorts": [{"ports": [{"port": "80", "protocol": "TCP"}], "rules": {"http": [{}]}}],
    }
    away = [{"toFQDNs": [{"matchName": "example.com"}]}, {"toServices": [{"k8sService": {}}]}]
    spec = {
        "endpointSelector": {"matchLabels": {"app": "web"}},
        "ingress": [rule, {"fromEntities": ["world"]}, {}],
        "egressDeny": [{"toCIDRSet": [{"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}]}],
        "egress": away,
    }
    body = manifest("cilium.io/v2", "CiliumNetworkPolicy", "odd", "ns0", spec=spec)
    return {**body, "specs": [{"endpointSelector": {}, "egress": [{}]}]}


def broken(random: Random, value: Any) -> Any:
    if random.random() < 0.12:
        return random.choice(JUNK)
    if isinstance(value, dict):
        return {name: broken(random, inner) for name, inner in value.items()}
    return [broken(random, inner) for inner in value] if isinstance(value, list) else value


def test_no_manifest_makes_anything_fail() -> None:
    for seed in range(150):
        random = Random(seed)
        manifests, _ = random_world(seed)
        odd = [
            {**body, **{name: broken(random, body[name]) for name in ("spec", "specs") if name in body}}
            for body in (*manifests, cilium(), *random_calico(seed)[0])
        ]
        read = hops_of(world(odd, partial=bool(seed % 2))).network
        connections(read)
        assert len(read.statuses.policies) == len({policy.key for policy in read.policies})
