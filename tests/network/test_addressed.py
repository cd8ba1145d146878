"""Backends that are no pods: addresses and hosts, on which the policies of the proxies alone bear."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.model import ResourceKey
from tests.network.worlds import hops_of, manifest, world

PROXY = manifest("v1", "Pod", "proxy", "shop", labels={"app": "proxy"}, spec={"containers": []})
WEB = manifest("v1", "Pod", "web", "shop", labels={"app": "web"}, spec={"containers": []})
NAMED = {"fqdn": {"hostname": "api.example.com", "port": 443}}
INSIDE = {"fqdn": {"hostname": "web.shop.svc.cluster.local", "port": 80}}


def service(name: str, **spec: Any) -> dict[str, Any]:
    return manifest("v1", "Service", name, "shop", spec={"ports": [{"name": "http", "port": 80}], **spec})


def backend(*endpoints: Any) -> dict[str, Any]:
    return manifest("gateway.envoyproxy.io/v1alpha1", "Backend", "away", "shop", spec={"endpoints": list(endpoints)})


def slice_of(name: str, *addresses: str) -> dict[str, Any]:
    body = manifest("discovery.k8s.io/v1", "EndpointSlice", name, "shop", labels={"kubernetes.io/service-name": name})
    ports = [{"name": "https", "port": 1}, {"name": "http", "port": 8006}]
    return {**body, "endpoints": [{"addresses": list(addresses)}], "ports": ports}


def egress(*rules: Any) -> dict[str, Any]:
    spec = {"podSelector": {"matchLabels": {"app": "proxy"}}, "policyTypes": ["Egress"], "egress": list(rules)}
    return manifest("networking.k8s.io/v1", "NetworkPolicy", "out", "shop", spec=spec)


def to(cidr: str, *ports: int) -> dict[str, Any]:
    return {"to": [{"ipBlock": {"cidr": cidr}}], "ports": [{"port": port} for port in ports]}


def asked(kind: str, port: int | None, *manifests: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What is said of the way from the proxy to the backend `shop/away`: end, port, verdict of each hop."""
    key = ResourceKey("" if kind == "Service" else "gateway.envoyproxy.io", kind, "shop", "away")
    hops = hops_of(world([PROXY, WEB, *manifests]))
    source = hops.network.universe.endpoints[hops.network.numbers["Pod shop/proxy"]]
    return [(str(hop.target).strip(), hop.port, hop.verdict) for hop in hops.to_backend(source, key, port)]


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        ([to("192.0.2.0/24", 8006)], "allowed"),
        ([to("192.0.2.0/24", 80)], "denied"),
        ([to("203.0.113.0/24", 8006)], "unknown"),  # 192.0.2.7 may be a load balancer's, which has others behind it
        ([], "denied"),
    ],
)
def test_addresses_of_a_service_without_selector(rules: list[Any], verdict: str) -> None:
    said = asked("Service", 80, service("away"), slice_of("away", "192.0.2.7"), egress(*rules))
    assert said == [("192.0.2.7", "TCP 8006", verdict)]


def test_a_name_is_allowed_only_where_everything_is() -> None:
    assert asked("Backend", None, backend(NAMED)) == [("api.example.com", "TCP 443", "allowed")]
    assert asked("Backend", None, backend(NAMED), egress()) == [("api.example.com", "TCP 443", "denied")]
    assert asked("Backend", None, backend(NAMED), egress(to("192.0.2.0/24", 443))) == [
        ("api.example.com", "TCP 443", "unknown")
    ]


def test_a_name_of_the_cluster_is_that_of_a_service() -> None:
    web = service("web", selector={"app": "web"})
    closed = manifest("networking.k8s.io/v1", "NetworkPolicy", "in", "shop", spec={"podSelector": {}})
    assert asked("Backend", None, backend(INSIDE), web) == [("Pod shop/web", "TCP 80", "allowed")]
    assert asked("Backend", None, backend(INSIDE), web, closed) == [("Pod shop/web", "TCP 80", "denied")]
    assert asked("Service", 80, service("away", type="ExternalName", externalName="web.shop.svc"), web) == [
        ("Pod shop/web", "TCP 80", "allowed")
    ]


def test_names_that_lead_back_end() -> None:
    names = (
        service("away", type="ExternalName", externalName="back.shop"),
        service("back", type="ExternalName", externalName="away.shop"),
    )
    assert asked("Service", 80, *names) == []


def test_ipv6_of_which_no_rule_speaks_is_let_through_where_all_is() -> None:
    odd = service("away"), slice_of("away", "2001:db8::1")
    assert asked("Service", 80, *odd) == [("2001:db8::1", "TCP 8006", "allowed")]
    assert asked("Service", 80, *odd, egress(to("2001:db8::/32", 8006))) == [("2001:db8::1", "TCP 8006", "allowed")]
