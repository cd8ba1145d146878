"""Timeouts of rules and connections that are upgraded (envoyproxy/envoy#41068, #41075)."""

from __future__ import annotations

import pytest

from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.trace.test_sessions import EG, gateway, service
from tests.worlds import manifest, simulated

ENVOY = (
    EG,
    "kgateway.dev/kgateway",
    "istio.io/gateway-controller",
    "io.cilium/gateway-controller",
    "projectcontour.io/c",
)
OTHERS = ("example.com/unknown", "haproxy-ingress.github.io/c")
UNTIL = ", until the connection is upgraded"


@pytest.mark.parametrize(
    ("controller", "header", "until"),
    [
        *((each, ["Upgrade: websocket"], UNTIL) for each in ENVOY),
        *((each, ["Upgrade: websocket"], "") for each in OTHERS),
        (EG, [], ""),
        (EG, ["Connection: keep-alive"], ""),
    ],
)
def test_how_long_a_request_may_take(controller: str, header: list[str], until: str) -> None:
    timed = gateway(controller).replace("backendRefs", "timeouts: {request: 15s, backendRequest: 5s}, backendRefs")
    trace = Tracer(simulated(timed, service())).trace(from_url("GET", "http://shop.example.com/", header))
    assert [step.what for step in trace.steps] == [f"request timeout 15s{until}", f"timeout of each try 5s{until}"]


def proxy(more: str) -> str:
    """Contour: internal/dag/httpproxy_processor.go (timeoutPolicy, retryPolicy.perTryTimeout); 0 is not set."""
    spec = f"spec: {{virtualhost: {{fqdn: shop.example.com}}, routes: [{{services: [{{name: web, port: 80}}]{more}}}]}}"
    return manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", spec)


def virtual_service(more: str) -> str:
    """Istio: networking/v1 HTTPRoute (timeout, retries.perTryTimeout)."""
    server = "{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}"
    edge = manifest(
        "networking.istio.io/v1", "Gateway", "edge", "shop", f"spec: {{selector: {{app: gw}}, servers: [{server}]}}"
    )
    rule = f"{{route: [{{destination: {{host: web}}}}]{more}}}"
    spec = f"spec: {{hosts: [shop.example.com], gateways: [edge], http: [{rule}]}}"
    return edge + "---" + manifest("networking.istio.io/v1", "VirtualService", "web", "shop", spec)


@pytest.mark.parametrize("header", [[], ["Upgrade: websocket"]])
@pytest.mark.parametrize(
    ("door", "expected"),
    [
        (proxy(", timeoutPolicy: {response: 15s}, retryPolicy: {perTryTimeout: 5s}"), ["15s", "5s"]),
        (proxy(", timeoutPolicy: {idle: 15s}"), []),
        (proxy(", timeoutPolicy: {response: 0s}"), []),
        (virtual_service(", timeout: 15s, retries: {attempts: 3, perTryTimeout: 5s}"), ["15s", "5s"]),
        (virtual_service(", timeout: 0s"), []),
        (virtual_service(""), []),
    ],
)
def test_rules_of_doors(door: str, expected: list[str], header: list[str]) -> None:
    trace = Tracer(simulated(service(), door)).trace(from_url("GET", "http://shop.example.com/", header))
    until = UNTIL if header else ""
    words = ("request timeout", "timeout of each try")
    said = [f"{what} {length}{until}" for what, length in zip(words, expected, strict=False)]
    assert [step.what for step in trace.steps] == said
