"""The rules of each kind that are easy to get wrong, one world each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from policylint.model import ResourceKey
from policylint.network.state import Network
from tests.network.worlds import hops_of, manifest, world
from tests.worlds import simulated


def pod(name: str, namespace: str = "shop", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "ports": [{"name": "http", "containerPort": 8080}]}]
    body = {"containers": containers, **spec}
    return manifest("v1", "Pod", name, namespace, labels={"app": name}, spec=body)


def policy(name: str = "web", kind: str = "NetworkPolicy", namespace: str = "shop", **spec: Any) -> dict[str, Any]:
    version = {"NetworkPolicy": "networking.k8s.io/v1", "ClusterNetworkPolicy": "policy.networking.k8s.io/v1alpha2"}
    place = "" if kind in ("ClusterNetworkPolicy", "CiliumClusterwideNetworkPolicy") else namespace
    return manifest(version.get(kind, "cilium.io/v2"), kind, name, place, spec=spec)


def verdict(network: Network, source: str, target: str, port: int = 8080) -> str:
    numbers = [network.numbers[f"Pod {name}"] for name in (source, target)]
    return network.ask(*numbers, network.universe.ports.at("TCP", port)).verdict


def network(*manifests: dict[str, Any], **facts: Any) -> Network:
    return hops_of(world([pod("web"), pod("client"), pod("far", "away"), *manifests], **facts)).network


SERVICE_PORT = {"port": 80, "targetPort": 8080}
L7 = "reaches shop/web, no login, where L7 rules of CiliumNetworkPolicy shop/l7 let it through."
CLIENT = {"matchLabels": {"app": "client"}}


@pytest.mark.parametrize(
    ("spec", "near", "far"),
    [
        ({"podSelector": {}}, "denied", "denied"),
        ({"ingress": [{}]}, "allowed", "allowed"),
        ({"ingress": [{"from": []}]}, "allowed", "allowed"),
        ({"ingress": [{"from": [{"podSelector": {}}]}]}, "allowed", "denied"),
        ({"ingress": [{"from": [{"namespaceSelector": {}}]}]}, "allowed", "allowed"),
        ({"ingress": [{"from": [{"namespaceSelector": {}, "podSelector": CLIENT}]}]}, "allowed", "denied"),
        ({"ingress": [{"from": [{"podSelector": CLIENT}], "ports": [{"port": "http"}]}]}, "allowed", "denied"),
        ({"ingress": [{"from": [{"podSelector": CLIENT}], "ports": [{"port": 80}]}]}, "denied", "denied"),
        ({"policyTypes": ["Egress"]}, "allowed", "allowed"),
        ({"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]}, "unknown", "unknown"),
        ({"ingress": [{"from": [{"ipBlock": {"cidr": "8.0.0.0/8"}}]}]}, "denied", "denied"),
    ],
)
def test_network_policy(spec: dict[str, Any], near: str, far: str) -> None:
    read = network(policy(**{"podSelector": {"matchLabels": {"app": "web"}}, **spec}))
    assert verdict(read, "shop/client", "shop/web") == near
    assert verdict(read, "away/far", "shop/web") == far


@pytest.mark.parametrize(
    ("spec", "near", "far"),
    [
        ({"ingress": []}, "allowed", "allowed"),
        ({"ingress": [{}]}, "denied", "denied"),
        ({"ingress": [{"fromEndpoints": [{}]}]}, "allowed", "denied"),
        ({"ingress": [{"fromEndpoints": []}]}, "denied", "denied"),
        ({"ingress": [{"fromEntities": ["cluster"]}]}, "allowed", "allowed"),
        ({"ingress": [{"fromEntities": ["world"]}]}, "denied", "denied"),
        ({"ingress": [{"toPorts": [{"ports": [{"port": "8080"}]}]}]}, "allowed", "allowed"),
        ({"ingress": [{"fromEndpoints": [{"matchLabels": {"k8s:io.kubernetes.pod.namespace": "away"}}]}]},
         "denied", "allowed"),
        ({"ingress": [{"fromEndpoints": [{"matchLabels": {"io.kubernetes.podNamespace": "away"}}]}]},
         "denied", "denied"),
        ({"ingress": [{"fromEntities": ["all"]}], "ingressDeny": [{"fromEndpoints": [CLIENT]}]}, "denied", "allowed"),
        ({"ingressDeny": [{"fromEndpoints": [CLIENT]}], "enableDefaultDeny": {"ingress": False}}, "denied", "allowed"),
        ({"ingress": [{"fromCIDR": ["0.0.0.0/0"]}]}, "denied", "denied"),
        ({"ingress": [{"fromCIDR": ["10.0.0.1"]}]}, "denied", "denied"),
        ({"ingress": [{"fromEntities": ["${WHO}"]}]}, "unknown", "unknown"),
        ({"ingress": [{"fromEndpoints": [{}], "toPorts": [{"ports": [{"port": "${PORT}", "protocol": "TCP"}]}]}]},
         "unknown", "denied"),
        ({"ingress": [{"fromEndpoints": [{}], "toPorts": [{"ports": [{"port": "8", "protocol": "ICMP"}]}]}]},
         "denied", "denied"),
        ({"ingress": [{"fromEndpoints": [{"matchExpressions": [
            {"key": "io.kubernetes.pod.namespace", "operator": "NotIn", "values": ["away"]}]}]}]}, "allowed", "denied"),
    ],
)  # fmt: skip
def test_cilium(spec: dict[str, Any], near: str, far: str) -> None:
    selected = {"endpointSelector": {"matchLabels": {"app": "web"}}}
    read = network(policy(kind="CiliumNetworkPolicy", **selected, **spec))
    assert verdict(read, "shop/client", "shop/web") == near
    assert verdict(read, "away/far", "shop/web") == far


TO_WEB = [{"ports": [{"port": "8080", "protocol": "TCP"}]}]
HTTP = {"http": [{"method": "GET"}]}


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"ingress": [{"fromEndpoints": [CLIENT], "fromEntities": ["ingress"]}]}, "does not combine"),
        ({"egress": [{"toFQDNs": [{"matchName": "a.example.com"}], "toCIDR": ["1.1.1.1/32"]}]}, "does not combine"),
        ({"ingress": [{"icmps": [{"fields": [{"type": 8}]}], "toPorts": TO_WEB}]}, "does not combine"),
        ({"ingress": [{"toPorts": [{"ports": [{"port": "80"}], "rules": HTTP}]}]}, "need ports with `protocol: TCP`"),
        ({"ingress": [{"toPorts": [{"ports": [{"port": "53", "protocol": "UDP"}],
                                    "rules": {"dns": [{"matchPattern": "*"}]}}]}]}, "for egress only"),
        ({"ingress": [{"toPorts": [{"ports": [{"port": 8080, "protocol": "TCP"}]}]}]}, "port: 8080 is no text"),
        ({"ingress": [{"toPorts": [{"ports": [{"protocol": "TCP"}]}]}]}, "port is missing"),
        ({"ingress": [{"toPorts": [{"ports": [{"port": "80", "protocol": "tcp"}]}]}]}, "'tcp' is none of"),
        ({"ingress": [{"toPorts": [{"ports": [{"port": "80"}] * 41}]}]}, "41 are more than 40"),
        ({"ingress": [{"fromEntities": ["worlds"]}]}, "no entity of Cilium"),
        ({"egress": [{"toFQDNs": [{"matchPattern": "a[1-5].example.com"}]}]}, "'[' is neither a letter"),
        ({"egressDeny": [{"toFQDNs": [{"matchName": "a.example.com"}]}]}, "refuses nothing by name"),
        ({"egressDeny": [{"toPorts": [{"port": "53", "protocol": "UDP"}]}]}, "stands in an entry of `ports`"),
        ({"egress": [{"toCIDRSet": [{"cidr": "10.0.0.0/8", "except": ["1.1.1.1/32"]}]}]}, "no part of 10.0.0.0/8"),
        ({"endpointSelector": None, "ingress": [{}]}, "needs an endpointSelector or a nodeSelector, and has none"),
        ({"nodeSelector": {}, "ingress": [{}]}, "not both"),
        ({"endpointSelector": None, "nodeSelector": {}, "ingress": [{}]}, "only a CiliumClusterwideNetworkPolicy"),
    ],
)  # fmt: skip
def test_what_cilium_refuses_decides_nothing(spec: dict[str, Any], why: str) -> None:
    """All releases validate so, and enforce nothing of a policy that fails (pkg/policy/api/rule_validation.go)."""
    read = network(policy(kind="CiliumNetworkPolicy", **{"endpointSelector": {}, **spec}))
    (refused,) = read.policies
    assert why in refused.refused
    assert verdict(read, "shop/client", "shop/web") == verdict(read, "away/far", "shop/web") == "allowed"


ANY: dict[str, Any] = {"endpointSelector": {}, "ingress": [{"fromEndpoints": [{}]}]}
NO_RULE: dict[str, Any] = {"endpointSelector": {}, "ingress": []}
ODD_PORT: dict[str, Any] = {"endpointSelector": {}, "ingress": [{"toPorts": [{"ports": [{"port": "a b"}]}]}]}


@pytest.mark.parametrize("specs", [[ANY, ODD_PORT], [ODD_PORT, ANY], [ANY, NO_RULE], [NO_RULE, ANY, ANY]])
def test_of_several_specs_all_are_taken_or_none(specs: list[dict[str, Any]]) -> None:
    """As the agent has it (CiliumNetworkPolicy.Parse); each alone would close the pods."""
    body = {"apiVersion": "cilium.io/v2", "kind": "CiliumNetworkPolicy", "specs": specs}
    read = network({**body, "metadata": {"name": "web", "namespace": "shop"}})
    assert [bool(each.refused) for each in read.policies] == [True]
    assert verdict(read, "away/far", "shop/web") == "allowed"


@pytest.mark.parametrize("empty", [{}, {"toPorts": []}, {"icmps": []}, {"toPorts": [], "icmps": []}])
def test_a_rule_of_empty_lists_lets_nobody_in(empty: dict[str, Any]) -> None:
    read = network(policy(kind="CiliumNetworkPolicy", endpointSelector={}, ingress=[empty]))
    assert verdict(read, "shop/client", "shop/web") == "denied"


@pytest.mark.parametrize("rule", [{"fromRequires": [CLIENT]}, {"fromEntities": []}])
def test_requirements_and_empty_lists_combine(rule: dict[str, Any]) -> None:
    spec = {"endpointSelector": {}, "ingress": [{"fromEndpoints": [{}], **rule}]}
    assert not network(policy(kind="CiliumNetworkPolicy", **spec)).policies[0].refused


@pytest.mark.parametrize(
    ("labels", "selected"),
    [
        ({"app": "web"}, ["Pod shop/web"]),
        ({"k8s:io.kubernetes.pod.namespace": "away"}, ["Pod shop/client", "Pod shop/web"]),
        ({"io.kubernetes.pod.namespace": "away"}, []),
        ({"io.kubernetes.pod.namespace": "shop", "app": "web"}, ["Pod shop/web"]),
        ({"io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name": "away"}, []),
        ({"reserved:ingress": ""}, []),
    ],
)
def test_a_namespaced_policy_of_cilium_selects_in_its_namespace(labels: dict[str, str], selected: list[str]) -> None:
    """The namespace is added to what is asked for, and replaces `k8s:io.kubernetes.pod.namespace`."""
    spec = {"endpointSelector": {"matchLabels": labels}, "ingress": [{"fromEntities": ["host"]}]}
    read = network(policy(kind="CiliumNetworkPolicy", **spec))
    assert read.subjects[0].sure == read.subjects[0].maybe
    ends = [str(end) for number, end in enumerate(read.universe.endpoints) if read.subjects[0].sure >> number & 1]
    assert sorted(ends) == selected


VPN = manifest("cilium.io/v2alpha1", "CiliumCIDRGroup", "vpn", labels={"role": "vpn"}, spec={
    "externalCIDRs": ["10.48.0.0/24", "10.16.0.0/24"]})  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "partial", "inside", "excepted", "outside"),
    [
        ({"cidrGroupRef": "vpn"}, True, "allowed", "allowed", "denied"),
        ({"cidrGroupRef": "vpn", "except": ["10.48.0.8/29"]}, True, "allowed", "denied", "denied"),
        ({"cidrGroupRef": "elsewhere"}, False, "unknown", "unknown", "unknown"),
        ({"cidrGroupSelector": {"matchLabels": {"role": "vpn"}}}, False, "allowed", "allowed", "denied"),
        ({"cidrGroupSelector": {"matchLabels": {"role": "vpn"}}}, True, "allowed", "allowed", "unknown"),
        ({"cidrGroupSelector": {"matchLabels": {"role": "x"}}}, False, "denied", "denied", "denied"),
    ],
)
def test_groups_of_addresses_are_looked_up(
    entry: dict[str, Any], partial: bool, inside: str, excepted: str, outside: str
) -> None:
    spec = {"endpointSelector": {}, "ingress": [{"fromCIDRSet": [entry]}]}
    edges = policy("edges", "CiliumNetworkPolicy", endpointSelector={"matchLabels": {"app": "no"}}, ingress=[
        {"fromCIDR": ["10.48.0.9/32", "192.0.2.1/32"]}])  # fmt: skip
    read = network(policy(kind="CiliumNetworkPolicy", **spec), VPN, edges, partial=partial)
    web, port = read.numbers["Pod shop/web"], read.universe.ports.at("TCP", 8080)
    addresses = ("10.48.0.1", "10.48.0.9", "192.0.2.1")
    answers = [read.check(web, "ingress", read.universe.addresses.at(address), port) for address in addresses]
    assert answers == [inside, excepted, outside]


def test_who_is_not_in_a_namespace_may_be_no_pod_at_all() -> None:
    """A selector of Cilium that only excludes namespaces matches every identity without one."""
    excluding = {"matchExpressions": [{"key": "io.kubernetes.pod.namespace", "operator": "NotIn", "values": ["away"]}]}
    for peer, outside in ((excluding, "unknown"), ({"matchExpressions": [
        {"key": "io.kubernetes.pod.namespace", "operator": "Exists"}]}, "denied")):  # fmt: skip
        spec = {"endpointSelector": {"matchLabels": {"app": "web"}}, "ingress": [{"fromEndpoints": [peer]}]}
        read = network(policy(kind="CiliumNetworkPolicy", **spec))
        at = read.numbers["Pod shop/web"]
        assert read.check(at, "ingress", read.universe.addresses.all, read.universe.ports.at("TCP", 8080)) == outside


def test_a_pass_hands_over_and_does_not_skip_the_baseline() -> None:
    subject = {"pods": {"podSelector": {"matchLabels": {"app": "web"}}}}
    everybody = [{"namespaces": {}}]
    admin = {"tier": "Admin", "priority": 1, "subject": subject, "ingress": [{"action": "Pass", "from": everybody}]}
    base = {"tier": "Baseline", "priority": 1, "subject": subject, "ingress": [{"action": "Deny", "from": everybody}]}
    policies = policy("admin", "ClusterNetworkPolicy", **admin), policy("base", "ClusterNetworkPolicy", **base)
    assert verdict(network(*policies), "shop/client", "shop/web") == "denied"
    opened = policy(podSelector={}, ingress=[{}])
    assert verdict(network(*policies, opened), "shop/client", "shop/web") == "allowed"


def test_pods_on_the_network_of_their_node_are_not_known_to_network_policies() -> None:
    agent = pod("agent", hostNetwork=True)
    read = network(agent, policy(podSelector={}, ingress=[{"from": [{"podSelector": {}}]}]))
    assert verdict(read, "shop/agent", "shop/web") == "unknown"
    assert verdict(read, "shop/client", "shop/agent") == "allowed"
    assert verdict(read, "away/far", "shop/agent") == "unknown"


def test_a_namespace_without_manifest_has_any_labels_in_a_tree_and_none_in_a_file() -> None:
    rule = {"from": [{"namespaceSelector": {"matchLabels": {"team": "a"}}}]}
    closed = policy(podSelector={}, ingress=[rule])
    assert verdict(network(closed, partial=True), "away/far", "shop/web") == "unknown"
    assert verdict(network(closed), "away/far", "shop/web") == "denied"
    named = policy(podSelector={}, ingress=[{"from": [{"namespaceSelector": {
        "matchLabels": {"kubernetes.io/metadata.name": "away"}}}]}])  # fmt: skip
    assert verdict(network(named, partial=True), "away/far", "shop/web") == "allowed"


def test_a_pod_stands_for_its_owner() -> None:
    owned = pod("web-5c9-x")
    owned["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "web-5c9"}]
    assert "ReplicaSet shop/web-5c9" in network(owned).numbers


def test_what_a_policy_of_another_engine_may_select_is_not_known() -> None:
    both = {"ingress": RULE, "egress": RULE}
    antrea = manifest("crd.antrea.io/v1beta1", "NetworkPolicy", "web", "shop", spec=both)
    assert verdict(network(antrea), "away/far", "shop/web") == "unknown"
    assert verdict(network(antrea), "shop/web", "away/far") == "unknown"
    hops = hops_of(world([pod("web"), pod("client"), antrea]))
    hop = hops.to_pod(hops.network.numbers["Pod shop/client"], hops.network.numbers["Pod shop/web"], "TCP", 8080)
    assert hop.because == "it hangs on NetworkPolicy shop/web of crd.antrea.io, which is not evaluated"


RULE = [{"action": "Deny"}]


@pytest.mark.parametrize(
    ("kind", "spec", "web_takes", "web_sends", "far_takes"),
    [
        (("crd.antrea.io/v1beta1", "ClusterNetworkPolicy", ""), {"ingress": RULE}, "unknown", "allowed", "unknown"),
        (("crd.antrea.io/v1beta1", "NetworkPolicy", "shop"), {"egress": RULE}, "allowed", "unknown", "allowed"),
        (("networking.k8s.aws/v1alpha1", "ClusterNetworkPolicy", ""), {}, "unknown", "unknown", "unknown"),
        (("networking.k8s.aws/v1alpha1", "ApplicationNetworkPolicy", "shop"), {}, "unknown", "unknown", "allowed"),
        (("networking.gke.io/v1alpha1", "FQDNNetworkPolicy", "shop"), {}, "allowed", "unknown", "allowed"),
        (("k8s.ovn.org/v1", "EgressFirewall", "shop"), {}, "allowed", "allowed", "allowed"),
    ],
)
def test_another_engine_may_act_on_whom_it_selects_and_in_its_direction(
    kind: tuple[str, str, str], spec: dict[str, Any], web_takes: str, web_sends: str, far_takes: str
) -> None:
    assert acts(kind, spec) == (web_takes, web_sends, far_takes)


def acts(kind: tuple[str, str, str], spec: dict[str, Any]) -> tuple[str, str, str]:
    """Whether pods get to web, web to pods, and pods to another one."""
    version, name, namespace = kind
    read = network(manifest(version, name, "p", namespace, spec=spec))
    web, far, port = read.numbers["Pod shop/web"], read.numbers["Pod away/far"], read.universe.ports.at("TCP", 8080)
    ways = ((web, "ingress"), (web, "egress"), (far, "ingress"))
    return tuple(read.check(end, way, read.universe.pods, port) for end, way in ways)  # type: ignore[arg-type, return-value]


GLOBAL = ("projectcalico.org/v3", "GlobalNetworkPolicy", "")
OF_SHOP = ("projectcalico.org/v3", "NetworkPolicy", "shop")


@pytest.mark.parametrize(
    ("kind", "spec", "web_takes", "web_sends", "far_takes"),
    [
        (GLOBAL, {}, "denied", "allowed", "denied"),
        (GLOBAL, {"egress": RULE, "selector": "app == 'web'"}, "allowed", "denied", "allowed"),
        (GLOBAL, {"types": ["Ingress"], "selector": "all() && app in {'web', 'db'}"}, "denied", "allowed", "allowed"),
        (GLOBAL, {"types": ["Ingress"], "selector": "has(app) && app != 'web'"}, "allowed", "allowed", "denied"),
        (GLOBAL, {"types": ["Ingress"], "selector": "has(host-endpoint)"}, "allowed", "allowed", "allowed"),
        (GLOBAL, {"preDNAT": True, "applyOnForward": True, "ingress": RULE}, "allowed", "allowed", "allowed"),
        (GLOBAL, {"doNotTrack": True, "applyOnForward": True, "egress": RULE}, "allowed", "allowed", "allowed"),
        (GLOBAL, {"applyOnForward": True, "ingress": RULE}, "denied", "allowed", "denied"),
        (GLOBAL, {"types": ["Ingress"], "selector": "app == 'x' || app == 'web'"}, "denied", "allowed", "allowed"),
        (GLOBAL, {"types": ["Ingress"], "selector": "!(a == 'b' && app == 'y' && c == 'd')"},
         "denied", "allowed", "denied"),
        (GLOBAL, {"types": ["Ingress"], "namespaceSelector": "projectcalico.org/name == 'away'"},
         "allowed", "allowed", "denied"),
        (GLOBAL, {"types": ["Ingress"], "selector": "projectcalico.org/namespace not in {'away', 'x'}"},
         "denied", "allowed", "allowed"),
        (GLOBAL, {"types": ["Ingress"], "selector": "app == 'web'", "ingress": [{"action": "Log"}]},
         "denied", "allowed", "allowed"),
        (GLOBAL, {"types": ["Ingress"], "ingress": [{"action": "Pass"}]}, "allowed", "allowed", "allowed"),
        (GLOBAL, {"types": ["Ingress"], "selector": "${whom}", "ingress": RULE}, "unknown", "allowed", "unknown"),
        (GLOBAL, {"types": ["Ingress"], "serviceAccountSelector": "projectcalico.org/name == 'default'"},
         "denied", "allowed", "denied"),
        (GLOBAL, {"types": ["Ingress"], "serviceAccountSelector": "has(team)"}, "allowed", "allowed", "allowed"),
        (GLOBAL, {"types": ["Ingress"], "tier": "nowhere"}, "allowed", "allowed", "allowed"),
        (GLOBAL, {"types": ["Ingress"], "selector": "app = 'web'"}, "allowed", "allowed", "allowed"),
        (OF_SHOP, {"egress": RULE}, "allowed", "denied", "allowed"),
        (("crd.projectcalico.org/v1", "NetworkPolicy", "shop"), {"egress": RULE}, "denied", "denied", "allowed"),
    ],
)  # fmt: skip
def test_calico_acts_on_whom_it_selects_and_in_its_directions(
    kind: tuple[str, str, str], spec: dict[str, Any], web_takes: str, web_sends: str, far_takes: str
) -> None:
    assert acts(kind, spec) == (web_takes, web_sends, far_takes)


@pytest.mark.parametrize(("version", "kind"), [("k8s.ovn.org/v1", "EgressFirewall"),
                                               ("network.openshift.io/v1", "EgressNetworkPolicy")])  # fmt: skip
def test_what_a_firewall_lets_out_of_the_cluster_is_not_known(version: str, kind: str) -> None:
    read = network(manifest(version, kind, "default", "shop", spec={"egress": [{"type": "Deny"}]}))
    number, ports = read.numbers["Pod shop/web"], read.universe.ports.at("TCP", 443)
    assert read.check(number, "egress", read.universe.addresses.all, ports) == "unknown"
    assert read.check(number, "ingress", read.universe.addresses.all, ports) == "allowed"


DATA = {"kind": "NetworkPolicy", "namespace": "{{request.object.metadata.name}}", "name": "deny", "data": {}}
COPIES = {"cloneList": {"kinds": ["v1/Secret", "networking.k8s.io/v1/NetworkPolicy"]}}
EXPRESSION = {"expression": 'generator.Apply(variables.ns, [{"kind": dyn("NetworkPolicy")}])'}


@pytest.mark.parametrize(
    ("version", "kind", "namespace", "spec", "want"),
    [
        ("kyverno.io/v1", "ClusterPolicy", "", {"rules": [{"generate": DATA}]}, "unknown"),
        ("kyverno.io/v1", "Policy", "shop", {"rules": [{"generate": COPIES}]}, "unknown"),
        ("kyverno.io/v1", "Policy", "elsewhere", {"rules": [{"generate": DATA}]}, "allowed"),
        ("kyverno.io/v1", "ClusterPolicy", "", {"rules": [{"generate": {"foreach": [DATA]}}]}, "unknown"),
        ("policies.kyverno.io/v1", "GeneratingPolicy", "", {"generate": [EXPRESSION]}, "unknown"),
        ("kyverno.io/v1", "ClusterPolicy", "", {"rules": [{"validate": {"pattern": DATA}}]}, "allowed"),
        ("kyverno.io/v1", "ClusterPolicy", "", {"rules": [{"generate": {"kind": "Secret"}}]}, "allowed"),
    ],
)
def test_what_kyverno_generates_for_the_network_is_not_known(
    version: str, kind: str, namespace: str, spec: dict[str, Any], want: str
) -> None:
    kyverno = manifest(version, kind, "isolate", namespace, spec=spec)
    assert verdict(network(kyverno), "away/far", "shop/web") == want


def service(**ports: Any) -> dict[str, Any]:
    return manifest("v1", "Service", "web", "shop", spec={"selector": {"app": "web"}, "ports": [{"port": 80, **ports}]})


@pytest.mark.parametrize(
    ("ports", "want"),
    [({"targetPort": 8080}, "allowed"), ({"targetPort": "http"}, "allowed"), ({}, "denied")],
)
def test_policies_see_the_port_of_the_pods(ports: dict[str, Any], want: str) -> None:
    opened = policy(podSelector={"matchLabels": {"app": "web"}}, ingress=[{"ports": [{"port": 8080}]}])
    hops = hops_of(world([pod("web"), pod("client"), service(**ports), opened]))
    source = next(end for end in hops.network.universe.endpoints if end.key.name == "client")
    (hop,) = hops.to_backend(source, ResourceKey("", "Service", "shop", "web"), 80)
    assert hop.verdict == want


AMBIENT = {"labels": {"istio.io/dataplane-mode": "ambient"}}
INJECTED = {"annotations": {"linkerd.io/inject": "enabled"}}
TO_8080 = {"podSelector": {"matchLabels": {"app": "web"}}, "ingress": [{"ports": [{"port": 8080}]}]}
FROM_CLIENT = {"podSelector": {"matchLabels": {"app": "web"}}, "ingress": [{"from": [{"podSelector": CLIENT}]}]}
SENT_TO_8080 = {"podSelector": CLIENT, "policyTypes": ["Egress"], "egress": [{"ports": [{"port": 8080}]}]}
SENT_NOWHERE = {"podSelector": CLIENT, "policyTypes": ["Egress"]}


@pytest.mark.parametrize(
    ("namespace", "spec", "want", "why"),
    [
        (AMBIENT, TO_8080, "denied", "15008"),
        (AMBIENT, SENT_TO_8080, "denied", "15008"),
        (AMBIENT, FROM_CLIENT, "allowed", ""),
        (AMBIENT, SENT_NOWHERE, "denied", ""),
        (INJECTED, TO_8080, "unknown", "4143"),
        (INJECTED, SENT_TO_8080, "unknown", "4143"),
        (INJECTED, FROM_CLIENT, "allowed", ""),
        ({}, TO_8080, "allowed", ""),
    ],
)
def test_a_mesh_may_send_to_another_port_than_that_of_the_pods(
    namespace: dict[str, Any], spec: dict[str, Any], want: str, why: str
) -> None:
    """Where policies decide alike on both ports, it does not matter which of them they see."""
    space = manifest("v1", "Namespace", "shop", labels=namespace.get("labels", {}))
    space["metadata"] |= namespace
    manifests = pod("web"), pod("client"), service(targetPort=8080), policy(**spec), space
    hops = simulated(*map(yaml.safe_dump, manifests)).hops
    source = next(end for end in hops.network.universe.endpoints if end.key.name == "client")
    (hop,) = hops.to_backend(source, ResourceKey("", "Service", "shop", "web"), 80)
    assert (hop.verdict, why in hop.because) == (want, True)
    assert bool(hop.because) == bool(why)


def traced(directory: Path, *more: dict[str, Any]) -> str:
    """Return what `trace` says of a request through a Gateway of Cilium."""
    gateway = {"gatewayClassName": "cilium", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}
    rule = {"backendRefs": [{"name": "web", "port": 80}]}
    version = "gateway.networking.k8s.io/v1"
    manifests = [
        manifest(version, "GatewayClass", "cilium", spec={"controllerName": "io.cilium/gateway-controller"}),
        manifest(version, "Gateway", "edge", "shop", spec=gateway),
        manifest(version, "HTTPRoute", "web", "shop", spec={"parentRefs": [{"name": "edge"}], "rules": [rule]}),
        manifest("v1", "Service", "web", "shop", spec={"selector": {"app": "web"}, "ports": [SERVICE_PORT]}),
        pod("web"),
        *more,
    ]
    file = directory / "world.yaml"
    file.write_text(yaml.safe_dump_all(manifests), encoding="utf-8")
    return CliRunner().invoke(main, ["trace", "GET", "http://a.example.com/", str(file)]).stdout


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({}, "reaches shop/web, no login."),
        ({"http": [{"method": "GET"}]}, "reaches shop/web, no login."),
        ({"http": [{"method": "PUT"}]}, "Result: 403: CiliumNetworkPolicy shop/l7 turns it away at Pod shop/web"),
        ({"l7proto": "r2d2", "l7": [{"cmd": "READ"}]}, L7),
    ],
)
def test_what_l7_rules_refuse_is_not_claimed(rules: dict[str, Any], said: str, tmp_path: Path) -> None:
    port = {"ports": [{"port": "8080", "protocol": "TCP"}], **({"rules": rules} if rules else {})}
    spec = {"endpointSelector": {}, "ingress": [{"fromEntities": ["ingress"], "toPorts": [port]}]}
    assert said in traced(tmp_path, policy("l7", "CiliumNetworkPolicy", **spec))


EVERYWHERE = policy("lockdown", "CiliumClusterwideNetworkPolicy", endpointSelector={}, ingress=[
    {"fromEntities": ["cluster"]}])  # fmt: skip
OUTSIDE_SYSTEM = {"key": "io.kubernetes.pod.namespace", "operator": "NotIn", "values": ["kube-system"]}
NOT_SYSTEM = policy("closed", "CiliumClusterwideNetworkPolicy", egress=[{"toEntities": ["host"]}], endpointSelector={
    "matchExpressions": [OUTSIDE_SYSTEM]})  # fmt: skip
GATEWAYS = {"matchExpressions": [{"key": "reserved:ingress", "operator": "Exists"}]}
BUT_GATEWAYS = {"matchExpressions": [{"key": "reserved:ingress", "operator": "DoesNotExist"}]}


@pytest.mark.parametrize(
    ("policies", "said"),
    [
        ((EVERYWHERE,), "cut off by CiliumClusterwideNetworkPolicy lockdown"),
        ((NOT_SYSTEM,), "cut off by CiliumClusterwideNetworkPolicy closed"),
        ((policy("outside", "CiliumClusterwideNetworkPolicy", endpointSelector={}, ingress=[{"fromEntities": ["all"]}],
                 ingressDeny=[{"fromEntities": ["world"]}]),), "cut off by CiliumClusterwideNetworkPolicy outside"),
        ((policy("metadata", "CiliumClusterwideNetworkPolicy", endpointSelector={},
                 egressDeny=[{"toCIDR": ["169.254.169.254/32"]}]),),
         "cut off by CiliumClusterwideNetworkPolicy metadata"),
        ((NOT_SYSTEM, policy("out", "CiliumClusterwideNetworkPolicy", endpointSelector=GATEWAYS,
                             egress=[{"toEntities": ["cluster"]}])), "reaches shop/web, no login."),
        ((EVERYWHERE, policy("in", "CiliumClusterwideNetworkPolicy", endpointSelector=GATEWAYS,
                             ingress=[{"fromCIDRSet": [{"cidr": "172.18.0.1/32"}]}])), "not known"),
        ((policy("pods", "CiliumClusterwideNetworkPolicy", endpointSelector=BUT_GATEWAYS,
                 ingress=[{"fromEntities": ["cluster"]}]),), "reaches shop/web, no login."),
        ((policy("named", "CiliumClusterwideNetworkPolicy", endpointSelector={"matchLabels": {"app": "web"}},
                 ingress=[{"fromEntities": ["cluster"]}]),), "reaches shop/web, no login."),
        ((policy("near", "CiliumNetworkPolicy", endpointSelector={}, ingress=[{"fromEntities": ["ingress"]}]),),
         "reaches shop/web, no login."),
    ],
)  # fmt: skip
def test_clusterwide_policies_select_the_gateways_of_cilium(
    policies: tuple[dict[str, Any], ...], said: str, tmp_path: Path
) -> None:
    """What comes in and goes out must pass the identity `ingress`, too (docs.cilium.io, «Default Deny Ingress Policy»,
    «External Lock-down Policy»: both answer 403)."""
    assert said in traced(tmp_path, *policies).partition("Result:")[2]


def test_the_gateway_that_is_followed_to_the_pods_is_no_other_one(tmp_path: Path) -> None:
    version = "gateway.networking.k8s.io/v1"
    spec = {"gatewayClassName": "any", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}
    rule = {"backendRefs": [{"name": "web", "port": 80}]}
    route = {"parentRefs": [{"name": "edge"}], "rules": [rule]}
    manifests = [
        *(manifest(version, "Gateway", name, "shop", spec=spec) for name in ("edge", "spare")),
        manifest(version, "HTTPRoute", "web", "shop", spec=route),
        manifest("v1", "Service", "web", "shop", spec={"selector": {"app": "web"}, "ports": [SERVICE_PORT]}),
        pod("web"),
        policy(podSelector={}, ingress=[{}]),
    ]
    said = []
    for parents in ([{"name": "edge"}], [{"name": "edge"}, {"name": "spare"}]):
        route["parentRefs"] = parents
        (tmp_path / "world.yaml").write_text(yaml.safe_dump_all(manifests), encoding="utf-8")
        asked = CliRunner().invoke(main, ["trace", "GET", "http://a.example.com/", str(tmp_path / "world.yaml")])
        said.append([line for line in asked.stdout.splitlines() if "would answer it too" in line])
    assert said == [[], ["note: Gateway shop/spare would answer it too; --gateway chooses"]]


@pytest.mark.parametrize(
    ("networks", "pods", "answers"),
    [
        (["0.0.0.0/0"], [], "denied denied allowed"),
        (["::/0"], [], "unknown allowed denied"),  # the cluster may have addresses of both families
        (["0.0.0.0/0", "::/0"], [], "denied denied denied"),
        (["::/0"], ["10.1.0.0/16"], "allowed allowed denied"),
        (["::/0"], ["fd00::/48"], "denied allowed denied"),
        (["0.0.0.0/0"], ["fd00::/48"], "allowed denied allowed"),
    ],
)
def test_all_addresses_are_those_of_one_family(networks: list[str], pods: list[str], answers: str) -> None:
    spec = {
        "tier": "Admin",
        "priority": 1,
        "subject": {"namespaces": {}},
        "egress": [{"action": "Deny", "to": [{"networks": networks}]}],
    }
    wide = policy("wide", "ClusterNetworkPolicy", **spec)
    six = policy(podSelector={"matchLabels": {"app": "none"}}, egress=[{"to": [{"ipBlock": {"cidr": "::/0"}}]}])
    seen = world([pod("web"), pod("client"), wide, six])  # what no rule speaks of has no number
    seen.network = {"pods": pods}
    read = hops_of(seen).network
    source, web = read.numbers["Pod shop/client"], read.numbers["Pod shop/web"]
    outside = (read.universe.addresses.at(address).bit_length() - 1 for address in ("192.0.2.1", "2001:db8::1"))
    port = read.universe.ports.at("TCP", 80)
    assert " ".join(read.ask(source, target, port).verdict for target in (web, *outside)) == answers


def selecting(name: str, namespace: str, app: str = "", **labels: str) -> dict[str, Any]:
    spec = {"ports": [{"port": 80, "targetPort": 8080}], **({"selector": {"app": app}} if app else {})}
    return manifest("v1", "Service", name, namespace, labels=labels, spec=spec)


@pytest.mark.parametrize(
    ("entry", "web", "far"),
    [
        ({"k8sService": {"serviceName": "web", "namespace": "shop"}}, "allowed", "denied"),
        ({"k8sService": {"serviceName": "web", "namespace": "away"}}, "denied", "denied"),
        ({"k8sService": {"serviceName": "both"}}, "allowed", "allowed"),  # that name, in every namespace
        ({"k8sService": {"serviceName": "both", "namespace": "away"}}, "denied", "allowed"),
        ({"k8sService": {"serviceName": "bare", "namespace": "shop"}}, "unknown", "unknown"),
        ({"k8sService": {"serviceName": "nobody", "namespace": "shop"}}, "denied", "denied"),
        ({"k8sServiceSelector": {"selector": {"matchLabels": {"tier": "front"}}, "namespace": "shop"}},
         "allowed", "denied"),
        ({"k8sServiceSelector": {"selector": {"matchLabels": {"tier": "front"}}}}, "allowed", "denied"),
        ({"k8sServiceSelector": {"selector": {"matchLabels": {"tier": "back"}}}}, "denied", "allowed"),
    ],
)  # fmt: skip
def test_services_of_cilium(entry: dict[str, Any], web: str, far: str) -> None:
    """Source: cilium/cilium pkg/policy/k8s/service.go, serviceRefMatches and serviceSelectorMatches."""
    services = (
        selecting("web", "shop", "web", tier="front"),
        selecting("both", "shop", "web"),
        selecting("both", "away", "far", tier="back"),
        selecting("bare", "shop"),
    )
    sending = policy("out", "CiliumNetworkPolicy", endpointSelector=CLIENT, egress=[{"toServices": [entry]}])
    read = network(*services, sending)
    assert verdict(read, "shop/client", "shop/web") == web
    assert verdict(read, "shop/client", "away/far") == far


def in_mesh(name: str, value: str) -> dict[str, Any]:
    made = pod(name)
    made["metadata"]["labels"]["security.istio.io/tlsMode"] = value
    return made


def asking(operator: str, key: str = "security.istio.io/tlsMode", **more: Any) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, **more}]}


@pytest.mark.parametrize(
    ("labels", "answer"),
    [
        ({"matchLabels": {"security.istio.io/tlsMode": "istio"}}, "unknown"),
        ({"matchLabels": {"service.istio.io/canonical-name": "client"}}, "unknown"),
        ({"matchLabels": {"linkerd.io/control-plane-ns": "linkerd"}}, "unknown"),
        ({"matchLabels": {"topology.kubernetes.io/zone": "a"}}, "unknown"),
        (asking("Exists"), "unknown"),
        (asking("DoesNotExist"), "unknown"),
        (asking("In", values=["istio"]), "unknown"),
        ({"matchLabels": {"security.istio.io/other": "istio"}}, "denied"),
        ({"matchLabels": {"security.istio.io/tlsMode": "istio", "app": "web"}}, "denied"),
    ],
)
def test_labels_that_pods_get_when_they_are_made(labels: dict[str, Any], answer: str) -> None:
    """A mesh injects them, as a policy for pods of the mesh has it; no template shows them."""
    read = network(policy(ingress=[{"from": [{"podSelector": labels}]}]))
    assert verdict(read, "shop/client", "shop/web") == answer
    isolating = network(policy(podSelector=labels, ingress=[]))
    closed = {"unknown": "unknown", "denied": "allowed"}[answer]
    assert verdict(isolating, "away/far", "shop/client") == closed


@pytest.mark.parametrize(("stated", "answer"), [("istio", "allowed"), ("disabled", "denied")])
def test_what_a_pod_states_itself_counts(stated: str, answer: str) -> None:
    peer = {"podSelector": {"matchLabels": {"security.istio.io/tlsMode": "istio"}}}
    manifests = [
        pod("web"),
        in_mesh("client", stated),
        policy(podSelector={"matchLabels": {"app": "web"}}, ingress=[{"from": [peer]}]),
    ]
    assert verdict(hops_of(world(manifests)).network, "shop/client", "shop/web") == answer
