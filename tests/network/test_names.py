"""Hosts outside by their names, the names that TLS shows, and who must authenticate: what policies make of them.

Sources: docs.cilium.io, «DNS based», «Layer 7 Policies», «TLS SNI», «Mutual Authentication», «Node based»;
cilium/cilium pkg/fqdn/matchpattern, pkg/auth/manager.go; cilium/proxy cilium/network_policy.cc;
network-policy-api.sigs.k8s.io, NPEP-133; docs.tigera.io, «DNS policy».
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from tests.network.test_semantics import CLIENT, pod, policy
from tests.network.worlds import manifest

KUBE_DNS = {"matchLabels": {"k8s:io.kubernetes.pod.namespace": "kube-system", "k8s-app": "kube-dns"}}
HTTPS = [{"ports": [{"port": "443", "protocol": "TCP"}]}]
RESOLVER = manifest("v1", "Pod", "dns", "kube-system", labels={"k8s-app": "kube-dns"}, spec=pod("dns")["spec"])
PASSES = "network policies let it through; what answers at"
UNNAMED, UNASKED = "cut off by CiliumNetworkPolicy shop/out", "no rule for DNS lets"


def dns(*rules: dict[str, str]) -> dict[str, Any]:
    port = {"ports": [{"port": "53", "protocol": "ANY"}], **({"rules": {"dns": list(rules)}} if rules else {})}
    return {"toEndpoints": [KUBE_DNS], "toPorts": [port]}


def names(*entries: dict[str, str], **port: Any) -> dict[str, Any]:
    return {"toFQDNs": list(entries), "toPorts": [{**HTTPS[0], **port}]}


def traced(directory: Path, url: str, *manifests: dict[str, Any]) -> str:
    file = directory / "world.yaml"
    file.write_text(yaml.safe_dump_all([pod("client"), RESOLVER, *manifests]), encoding="utf-8")
    result = CliRunner().invoke(main, ["trace", "--from", "Pod/shop/client", "GET", url, str(file)])
    return " ".join((result.stdout + result.stderr).split())


def out(*egress: dict[str, Any]) -> dict[str, Any]:
    return policy("out", "CiliumNetworkPolicy", endpointSelector=CLIENT, egress=list(egress))


ALL = dns({"matchPattern": "*"})
WORLD = {"toEntities": ["world"]}


@pytest.mark.parametrize(
    ("rules", "host", "said"),
    [
        ([ALL, names({"matchName": "api.example.com"})], "api.example.com", PASSES),
        ([ALL, names({"matchName": "API.example.com."})], "api.example.com", PASSES),
        ([ALL, names({"matchName": "api.example.com"})], "www.example.com", UNNAMED),
        ([ALL, names({"matchPattern": "*.example.com"})], "api.example.com", PASSES),
        ([ALL, names({"matchPattern": "*.example.com"})], "example.com", UNNAMED),
        ([ALL, names({"matchPattern": "*.example.com"})], "a.b.example.com", UNNAMED),  # within one label
        ([ALL, names({"matchPattern": "api-*.example.com"})], "api-2.example.com", PASSES),
        ([ALL, names({"matchPattern": "**.example.com"})], "api.example.com", PASSES),
        ([ALL, names({"matchPattern": "**.example.com"})], "a.b.example.com", "hangs on what stands behind it"),
        ([ALL, names({"matchPattern": "*"})], "any.example.com", PASSES),
        ([dns({"matchPattern": "*.example.com"}), names({"matchName": "api.example.com"})], "api.example.com", PASSES),
        ([dns({"matchName": "www.example.com"}), names({"matchPattern": "*"})], "api.example.com", UNASKED),
        ([dns(), names({"matchName": "api.example.com"})], "api.example.com", UNNAMED),  # nothing learns its addresses
        ([ALL, WORLD], "api.example.com", PASSES),
        ([dns(), WORLD], "api.example.com", PASSES),  # whether or not any rule looks at names
        ([dns({"matchPattern": "*.internal"}), WORLD], "api.example.com", UNASKED),
        ([dns({"matchPattern": "*.internal"}), dns(), WORLD], "api.example.com", PASSES),  # rules of one port add up
        ([ALL, {"toCIDR": ["192.0.2.0/24"]}], "api.example.com", "hangs on what stands behind it"),
        ([ALL], "api.example.com", UNNAMED),
    ],
)  # fmt: skip
def test_names_of_hosts_outside(rules: list[dict[str, Any]], host: str, said: str, tmp_path: Path) -> None:
    told = traced(tmp_path, f"https://{host}/", out(*rules))
    assert said in told, told


@pytest.mark.parametrize(
    ("block", "host", "said"),
    [
        ({"cidr": "0.0.0.0/0"}, "api.example.com", "TCP 443 allowed"),
        ({"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}, "api.example.com", "hangs on what stands behind it"),
        ({"cidr": "10.0.0.0/8"}, "api.example.com", "hangs on what stands behind it"),
    ],
)
def test_names_where_all_addresses_are_open(tmp_path: Path, block: dict[str, Any], host: str, said: str) -> None:
    spec = {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{"to": [{"ipBlock": block}]}]}
    opened = manifest("networking.k8s.io/v1", "NetworkPolicy", "out", "shop", spec=spec)
    told = traced(tmp_path, f"https://{host}/", opened)
    assert said in told, told


def test_another_port_is_not_opened(tmp_path: Path) -> None:
    assert UNNAMED in traced(tmp_path, "http://api.example.com/", out(ALL, names({"matchPattern": "*"})))


def test_the_rule_for_dns_may_stand_in_another_policy(tmp_path: Path) -> None:
    asking = policy("dns", "CiliumNetworkPolicy", endpointSelector={}, egress=[ALL])
    assert PASSES in traced(tmp_path, "https://api.example.com/", asking, out(names({"matchName": "api.example.com"})))


def test_who_has_no_policy_is_told_nothing(tmp_path: Path) -> None:
    assert "there is no Service" in traced(tmp_path, "https://api.example.com/")


def test_names_behind_an_external_name(tmp_path: Path) -> None:
    spec = {"type": "ExternalName", "externalName": "api.example.com", "ports": [{"port": 443}]}
    alias = manifest("v1", "Service", "pay", "shop", spec=spec)
    url = "https://pay.shop:443/"
    assert "TCP 443 allowed" in traced(tmp_path, url, alias, out(ALL, names({"matchName": "api.example.com"})))
    assert "TCP 443 DENIED" in traced(tmp_path, url, alias, out(ALL, names({"matchName": "www.example.com"})))


@pytest.mark.parametrize(
    ("name", "host", "verdict"),
    [
        ("api.example.com", "api.example.com", "allowed"),
        ("api.example.com", "www.example.com", "DENIED"),
        ("*.example.com", "a.b.example.com", "allowed"),  # one label or more
        ("*.example.com", "example.com", "DENIED"),
    ],
)
def test_domain_names_of_other_engines(name: str, host: str, verdict: str, tmp_path: Path) -> None:
    here = {"namespaces": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}}
    deny = {"action": "Deny", "to": [{"networks": ["0.0.0.0/0"]}]}
    allow = {"action": "Accept", "to": [{"domainNames": [name]}]}
    spec = {"tier": "Admin", "priority": 1, "subject": here, "egress": [allow, deny]}
    cluster = manifest("policy.networking.k8s.io/v1alpha2", "ClusterNetworkPolicy", "out", "", spec=spec)
    among_all = verdict.replace("DENIED", "not known")  # a name may be that of a load balancer before pods
    assert f"TCP 443 {among_all}" in traced(tmp_path, f"https://{host}/", cluster)
    spec = {"selector": "app == 'client'", "types": ["Egress"],
            "egress": [{"action": "Allow", "destination": {"domains": [name]}}]}  # fmt: skip
    calico = manifest("projectcalico.org/v3", "NetworkPolicy", "out", "shop", spec=spec)
    assert f"TCP 443 {verdict}" in traced(tmp_path, f"https://{host}/", calico)


@pytest.mark.parametrize(
    ("shown", "url", "said"),
    [
        (["api.example.com"], "https://api.example.com/", PASSES),
        (["www.example.com"], "https://api.example.com/", "turns it away at Pod shop/client"),
        (["*.example.com"], "https://api.example.com/", PASSES),
        (["*.example.com"], "https://a.b.example.com/", "turns it away at Pod shop/client"),
        (["**.example.com"], "https://a.b.example.com/", PASSES),
        (["*"], "https://api.example.com/", PASSES),
        (["api.example.com"], "http://api.example.com:443/", "turns it away at Pod shop/client"),  # no TLS, no name
    ],
)
def test_names_that_tls_shows(shown: list[str], url: str, said: str, tmp_path: Path) -> None:
    told = traced(tmp_path, url, out(ALL, names({"matchPattern": "*"}, serverNames=shown), {"toEntities": ["none"]}))
    if "a.b." in url:
        told = traced(tmp_path, url, out(ALL, {**WORLD, "toPorts": [{**HTTPS[0], "serverNames": shown}]}))
    assert said in told, told


SERVICE = manifest("v1", "Service", "web", "shop", spec={"selector": {"app": "web"}, "ports": [{"port": 8080}]})
INSIDE = "http://web.shop:8080/"


def let_in(whom: dict[str, Any], mode: str = "required") -> dict[str, Any]:
    rule = {**whom, "authentication": {"mode": mode}}
    return policy(
        "in", "CiliumNetworkPolicy", endpointSelector={"matchLabels": {"app": "web"}}, ingress=[rule]
    )  # fmt: skip


def installed(**values: Any) -> dict[str, Any]:
    return manifest("cilium.io/v1alpha1", "CiliumConfig", "cilium", "kube-system", spec={"cluster": {}, **values})


SPIRE = installed(authentication={"mutual": {"spire": {"enabled": True}}})
OFF = installed(authentication={"enabled": False, "mutual": {"spire": {"enabled": True}}})


@pytest.mark.parametrize(
    ("whom", "more", "said"),
    [
        ({"fromEndpoints": [CLIENT]}, [SPIRE], "Result: reaches shop/web"),
        ({"fromEndpoints": [CLIENT]}, [installed()], "Result: cut off by CiliumNetworkPolicy shop/in"),
        ({"fromEndpoints": [CLIENT]}, [OFF], "Result: cut off by CiliumNetworkPolicy shop/in"),
        ({"fromEndpoints": [CLIENT]}, [], "Result: not known"),
        ({"fromEntities": ["cluster"]}, [installed()], "Result: cut off by CiliumNetworkPolicy shop/in"),
    ],
)
def test_who_must_authenticate(whom: dict[str, Any], more: list[Any], said: str, tmp_path: Path) -> None:
    told = traced(tmp_path, INSIDE, pod("web"), SERVICE, let_in(whom), *more)
    assert said in told, told


def test_nobody_must_authenticate_where_it_is_switched_off(tmp_path: Path) -> None:
    told = traced(tmp_path, INSIDE, pod("web"), SERVICE, let_in({"fromEndpoints": [CLIENT]}, "disabled"), installed())
    assert "Result: reaches shop/web" in told


def test_a_gateway_of_cilium_cannot_authenticate(tmp_path: Path) -> None:
    listener = {"name": "http", "port": 80, "protocol": "HTTP"}
    spec = {"gatewayClassName": "cilium", "listeners": [listener]}
    version = "gateway.networking.k8s.io/v1"
    gateway = manifest(version, "Gateway", "web", "shop", spec=spec)
    made = manifest(version, "GatewayClass", "cilium", "", spec={"controllerName": "io.cilium/gateway-controller"})
    rules = [{"backendRefs": [{"name": "web", "port": 8080}]}]
    route = manifest(version, "HTTPRoute", "web", "shop", spec={"parentRefs": [{"name": "web"}], "rules": rules})
    file = tmp_path / "world.yaml"

    def asked(mode: str) -> str:
        rule = let_in({"fromEntities": ["ingress"]}, mode)
        world = [pod("web"), SERVICE, gateway, made, route, rule, SPIRE]
        file.write_text(yaml.safe_dump_all(world), encoding="utf-8")
        return " ".join(CliRunner().invoke(main, ["trace", "http://web.example.com/", str(file)]).stdout.split())

    assert "Result: cut off by CiliumNetworkPolicy shop/in" in asked("required")
    assert "Result: reaches shop/web" in asked("disabled")


@pytest.mark.parametrize(
    ("more", "refused"),
    [([], False), ([installed()], True), ([installed(nodeSelectorLabels=True)], False)],
)
def test_nodes_have_labels_where_cilium_is_told_so(more: list[Any], *, refused: bool, tmp_path: Path) -> None:
    file = tmp_path / "world.yaml"
    rule = {"fromNodes": [{"matchLabels": {"node-role.kubernetes.io/control-plane": ""}}]}
    nodes = policy("in", "CiliumNetworkPolicy", endpointSelector={}, ingress=[rule])
    file.write_text(yaml.safe_dump_all([pod("web"), nodes, *more]), encoding="utf-8")
    said = CliRunner().invoke(main, ["lint", "--isolated", str(file)]).stdout
    assert ("`nodeSelectorLabels: true`" in said) is refused, said


def test_a_mode_for_tests_lets_nobody_through(tmp_path: Path) -> None:
    rule = {"fromEndpoints": [{}], "authentication": {"mode": "test-always-fail"}}
    closed = policy("in", "CiliumNetworkPolicy", endpointSelector=CLIENT, ingress=[rule])
    other = pod("other", labels={"app": "other"})
    file = tmp_path / "world.yaml"
    file.write_text(yaml.safe_dump_all([pod("client"), other, closed]), encoding="utf-8")
    asked = ["trace", "--from", "Pod/shop/other", "--to", "Pod/shop/client", "--port", "80", str(file)]
    assert "TCP 80 DENIED" in " ".join(CliRunner().invoke(main, asked).stdout.split())
    said = " ".join(CliRunner().invoke(main, ["lint", str(file)]).stdout.split())
    assert "it demands an authentication that never succeeds" in said


@pytest.mark.parametrize(
    ("rules", "is_said"),
    [
        ([ALL, names({"matchName": "api.example.com"})], True),
        ([ALL], False),
        ([dns(), names({"matchName": "api.example.com"})], False),
    ],
)
def test_a_refusal_by_name_says_that_names_are_addresses(
    rules: list[dict[str, Any]], is_said: bool, tmp_path: Path
) -> None:
    told = traced(tmp_path, "https://www.example.com/", out(*rules))
    assert ("another name passes that has one of them" in told) == is_said
