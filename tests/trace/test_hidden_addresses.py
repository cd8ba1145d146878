"""`trace --from`: a client whose address the nodes hide is not judged by it (GWP327 tells of the same Services)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from policylint.report.trace.environments import trace_requests
from policylint.trace import Request
from policylint.trace.result import Trace
from tests.checks.test_client_address_hidden import (
    ADDRESSES,
    EG,
    NGINX,
    NGINX_RUNS,
    OFFICE,
    PARAMETERS,
    PROXY,
    RELEASE,
    WEB,
    at_gateway,
    published,
    workload,
)
from tests.worlds import gateway, gateway_class, route, service, simulated

LISTENERS = "[{name: http, port: 80, protocol: HTTP}]"
ROUTE = route("web", "edge", "[{name: edge}]", more="rules: [{backendRefs: [{name: web, port: 80}]}]")
HOPS = at_gateway(
    "gateway.envoyproxy.io/v1alpha1", "ClientTrafficPolicy", "clientIPDetection: {xForwardedFor: {numTrustedHops: 1}}"
)
PROXIED = at_gateway("gateway.envoyproxy.io/v1alpha1", "ClientTrafficPolicy", "enableProxyProtocol: true")
OWN = """apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: own, namespace: edge}
spec: {selector: {app: proxy}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ["*"]}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: own, namespace: edge}
spec: {hosts: ["*"], gateways: [own], http: [{route: [{destination: {host: web}}]}]}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: office, namespace: edge}
spec: {selector: {matchLabels: {app: proxy}}, rules: [{from: [{source: {ipBlocks: [203.0.113.0/24]}}]}]}
"""
LISTED = """apiVersion: traefik.io/v1alpha1
kind: Middleware
metadata: {name: office, namespace: shop}
spec: {ipAllowList: {sourceRange: [203.0.113.0/24]}}
---
apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {name: web, namespace: shop}
spec:
  entryPoints: [web]
  routes:
    - {kind: Rule, match: PathPrefix(`/`), middlewares: [{name: office}], services: [{name: web, port: 80}]}
"""
TRAEFIK = workload("traefik", "edge", "docker.io/traefik:v3.5.0", args='args: ["--entrypoints.web.address=:8080"], ')


def asked(manifests: tuple[str, ...], address: str, headers: tuple[tuple[str, str], ...] = ()) -> Trace:
    request = Request(host="shop.example.com", port=80, address=address, headers=headers)
    return trace_requests([simulated(*manifests)], [(request, {})])[0].trace


def hides(trace: Trace) -> str:
    return next((note for note in trace.notes if "externalTrafficPolicy" in note), "")


def nginx(policy: str) -> tuple[str, ...]:
    stated = f"externalTrafficPolicy: {policy}, " if policy else ""
    return NGINX, NGINX_RUNS, WEB, service("web", "shop"), published("nginx", "edge", stated)


def chart(policy: str) -> tuple[str, ...]:
    values = f"{{service: {{externalTrafficPolicy: {policy or 'Cluster'}}}}}"
    return NGINX, WEB, service("web", "shop"), RELEASE.replace("{VALUES}", values)


def traefik(policy: str) -> tuple[str, ...]:
    stated = f"externalTrafficPolicy: {policy}, " if policy else ""
    return LISTED, TRAEFIK, WEB, service("web", "shop"), published("traefik", "edge", stated)


def own_gateway(policy: str) -> tuple[str, ...]:
    stated = f"externalTrafficPolicy: {policy}, " if policy else ""
    pods = workload("proxy", "edge", "docker.io/istio/proxyv2:1.28.0")
    return OWN, pods, service("web", "edge"), published("proxy", "edge", stated)


def envoy(policy: str) -> tuple[str, ...]:
    parameters = PROXY.replace("POLICY", policy or "Cluster")
    rule = at_gateway("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", ADDRESSES)
    return EG, parameters, gateway("edge", "edge", LISTENERS, PARAMETERS, "eg"), service("web", "edge"), ROUTE, rule


@pytest.mark.parametrize("world", [nginx, chart, traefik, own_gateway, envoy])
def test_hidden_addresses_decide_nothing(world: Callable[[str], tuple[str, ...]]) -> None:
    for address in ("203.0.113.9", "8.8.8.8"):
        for policy in ("", "Cluster"):
            trace = asked(world(policy), address)
            decisions = [each.decision.answer for each in (*trace.judged, *trace.admissions)]
            assert "depends" in decisions
            assert trace.denied is None
            assert trace.request.address == address
            assert f"{address} is perhaps not what the proxy sees" in hides(trace)
    assert asked(world("Local"), "8.8.8.8").denied is not None
    kept = asked(world("Local"), "203.0.113.9")
    assert kept.outcome.backends
    assert not hides(kept)
    assert "depends" not in [each.decision.answer for each in (*kept.judged, *kept.admissions)]


def test_the_ground_is_what_hides_it() -> None:
    assert "Service edge/nginx (`externalTrafficPolicy: Cluster`, the default)" in hides(asked(nginx(""), "8.8.8.8"))
    assert "EnvoyProxy edge/proxy (`externalTrafficPolicy: Cluster`)" in hides(asked(envoy("Cluster"), "8.8.8.8"))


def test_a_controller_that_leaves_it_out() -> None:
    rule = at_gateway(
        "security.istio.io/v1", "AuthorizationPolicy", f"rules: [{{from: [{{source: {{ipBlocks: [{OFFICE}]}}}}]}}]"
    )
    base = gateway_class("here", "istio.io/gateway-controller"), service("web", "edge"), ROUTE, rule
    trace = asked((*base, gateway("edge", "edge", LISTENERS, of_class="here")), "8.8.8.8")
    assert "Gateway edge/edge" in hides(trace)
    assert trace.denied is None


@pytest.mark.parametrize(("policy", "headers"), [(HOPS, (("X-Forwarded-For", "8.8.8.8"),)), (PROXIED, ())])
def test_addresses_that_come_otherwise(policy: str, headers: tuple[tuple[str, str], ...]) -> None:
    trace = asked((*envoy("Cluster"), policy), "8.8.8.8", headers)
    assert trace.denied is not None
    assert not hides(trace)


def test_what_is_turned_away_whoever_asks() -> None:
    closed = at_gateway(
        "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "authorization: {defaultAction: Deny, rules: []}"
    )
    trace = asked((*envoy("Cluster")[:-1], closed), "203.0.113.9")
    assert trace.denied is not None
    assert not hides(trace)
