"""GWP526: requests that may take longer than nothing may come (EG internal/xds/translator/route.go, idleTimeout)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model import Finding
from tests.worlds import gateway, gateway_class, manifest, route, service, simulated

EG = "gateway.envoyproxy.io/v1alpha1"
KGATEWAY = "gateway.kgateway.dev/v1alpha1"
CONTROLLERS = {
    EG: "gateway.envoyproxy.io/gatewayclass-controller",
    KGATEWAY: "kgateway.dev/kgateway",
    "contour": "projectcontour.io/gateway-controller",
    "istio": "istio.io/gateway-controller",
}
EDGE, WEB = "kind: Gateway, name: edge", "kind: HTTPRoute, name: web"


def findings(group: str, rule: str, *policies: str) -> list[Finding]:
    base = (
        gateway_class("here", CONTROLLERS[group]),
        gateway("edge", "shop", of_class="here"),
        service("web", "shop"),
        route("web", parents="[{name: edge}]", more=f"rules: [{{{rule}backendRefs: [{{name: web, port: 80}}]}}]"),
    )
    return list(run(simulated(*base, *policies), select={"GWP526"}))


def policy(group: str, kind: str, target: str, spec: str) -> str:
    refs = f"targetRefs: [{{group: gateway.networking.k8s.io, {target}}}]"
    return manifest(group, kind, kind.lower(), "shop", f"spec: {{{refs}, {spec}}}")


def client(idle: str) -> str:
    return policy(EG, "ClientTrafficPolicy", EDGE, f"timeout: {{http: {{streamIdleTimeout: {idle}}}}}")


def backend(times: str, target: str = WEB) -> str:
    return policy(EG, "BackendTrafficPolicy", target, f"timeout: {{http: {{{times}}}}}")


def traffic(times: str, target: str = WEB) -> str:
    return policy(KGATEWAY, "TrafficPolicy", target, f"timeouts: {{{times}}}")


LONG, SHORT = "timeouts: {request: 10m}, ", "timeouts: {request: 10s}, "


@pytest.mark.parametrize(
    ("group", "rule", "policies", "said"),
    [
        (EG, LONG, [client("1m")], ("warning", "10m", "1m")),
        (EG, "", [client("1m"), backend("requestTimeout: 15m")], ("warning", "15m", "1m")),
        (EG, "", [client("1m"), backend("requestTimeout: 15m", EDGE)], ("warning", "15m", "1m")),
        (EG, LONG, [backend("streamIdleTimeout: 30s")], ("warning", "10m", "30s")),
        (EG, "", [backend("streamIdleTimeout: 30s, requestTimeout: 1m")], ("warning", "1m", "30s")),
        (KGATEWAY, LONG, [], ("note", "10m", "5m")),
        (KGATEWAY, "", [traffic("request: 1h")], ("note", "1h", "5m")),
        (KGATEWAY, "", [traffic("request: 1h, streamIdle: 10m")], ("warning", "1h", "10m")),
        ("contour", LONG, [], ("note", "10m", "5m")),
    ],
)
def test_what_ends_too_soon(group: str, rule: str, policies: list[str], said: tuple[str, str, str]) -> None:
    severity, whole, idle = said
    [found] = findings(group, rule, *policies)
    assert found.severity == severity
    assert found.confidence == "assumed"
    assert f"that may take {whole} end after {idle} without traffic" in found.message


@pytest.mark.parametrize(
    ("group", "rule", "policies"),
    [
        (EG, LONG, []),  # then it is as long as the request may take
        (EG, SHORT, [client("1m")]),
        (EG, "timeouts: {request: 0s}, ", [client("1m")]),  # a stream without an end
        (EG, LONG, [client("1m"), backend("streamIdleTimeout: 10m")]),  # the nearer one counts
        (EG, LONG, [client("0s")]),
        (EG, SHORT, [client("1m"), backend("requestTimeout: 15m")]),  # the rule's own time counts
        (EG, "", [client("1m")]),
        (KGATEWAY, LONG, [traffic("streamIdle: 0s")]),
        (KGATEWAY, SHORT, []),
        ("istio", LONG, []),
    ],
)
def test_what_is_long_enough(group: str, rule: str, policies: list[str]) -> None:
    assert not findings(group, rule, *policies)
