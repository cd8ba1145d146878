"""The order in which settings act: Envoy Gateway's newOrderedHTTPFilter and `filterOrder`, Kuadrant's wasm actions."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from policylint.report.kit.display import Paint
from policylint.report.kit.identity import Names
from policylint.report.trace.text import page
from policylint.trace import Tracer, request
from tests import worlds

CLASS = worlds.gateway_class("edge", "gateway.envoyproxy.io/gatewayclass-controller")
ROUTE = worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]")
JWT = "jwt: {providers: [{name: id, remoteJWKS: {uri: https://id/jwks}}]}"
LIMIT = "rateLimit: {type: Local, local: {rules: [{limit: {requests: 1, unit: Minute}}]}}"
MOVE = "parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: proxy"
ON_GATEWAY, ON_CLASS = f"infrastructure: {{{MOVE}}}}}", f"{MOVE}, namespace: infra}}"


def envoy(kind: str, spec: str) -> str:
    return worlds.policy("gateway.envoyproxy.io/v1alpha1", kind, kind.lower(), "HTTPRoute/checkout", spec, "shop")


def kuadrant(kind: str, spec: str, name: str) -> str:
    return worlds.policy("kuadrant.io/v1", kind, name, "HTTPRoute/checkout", spec, "shop", field="targetRef")


def proxy(order: str) -> str:
    return worlds.manifest(
        "gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "proxy", "infra", f"spec: {{filterOrder: [{order}]}}"
    )


def heads(manifests: Iterable[str]) -> list[str]:
    """Return the headings of policies and the settings below each, in order."""
    simulation = worlds.simulated(*manifests)
    trace = Tracer(simulation).trace(request({"host": "shop.example"}))
    lines = "".join(page(trace, Names.of([simulation]), Paint(on=False), 120)).splitlines()
    start = next(number for number, line in enumerate(lines) if "Policies" in line)
    end = next(number for number, line in enumerate(lines) if "Backend" in line)
    return [line.split(" shop/")[0].strip().lstrip("0123456789 ").strip() for line in lines[start:end]]


EVERYTHING = envoy(
    "SecurityPolicy",
    f"authorization: {{defaultAction: Allow}}, {JWT}, basicAuth: {{users: {{name: x}}}}, "
    "cors: {allowOrigins: ['*']}, extAuth: {http: {backendRefs: [{name: checkout, port: 80}]}}",
)
LIMITS = envoy(
    "BackendTrafficPolicy", f"{LIMIT}, faultInjection: {{abort: {{httpStatus: 500}}}}, retry: {{numRetries: 2}}"
)
DEFAULT = ["faultInjection", "cors", "extAuth", "basicAuth", "jwt", "authorization", "rateLimit", "retry"]


def test_filters_of_envoy_gateway() -> None:
    assert heads((CLASS, worlds.gateway(of_class="edge"), ROUTE, worlds.service(), EVERYTHING, LIMITS)) == [
        "Policies in order",
        *DEFAULT,
    ]


JWT_FIRST = ["faultInjection", "jwt", "cors", "extAuth", "basicAuth", "authorization", "rateLimit", "retry"]
LIMIT_FIRST = ["faultInjection", "cors", "extAuth", "basicAuth", "rateLimit", "jwt", "authorization", "retry"]
MOVES = [
    ("{name: envoy.filters.http.jwt_authn, before: envoy.filters.http.cors}", JWT_FIRST),
    ("{name: envoy.filters.http.jwt_authn, after: envoy.filters.http.fault}", JWT_FIRST),
    ("{name: envoy.filters.http.local_ratelimit, before: envoy.filters.http.jwt_authn}", LIMIT_FIRST),
    ("{name: envoy.filters.http.local_ratelimit, before: envoy.filters.http.oauth2}", DEFAULT),
    ("{name: envoy.filters.http.ratelimit, before: envoy.filters.http.jwt_authn}", DEFAULT),  # of limits of a service
    ("{name: envoy.filters.http.unheard_of, before: envoy.filters.http.cors}", DEFAULT),
]


@pytest.mark.parametrize(("move", "expected"), MOVES)
@pytest.mark.parametrize(("on_gateway", "on_class"), [(ON_GATEWAY, ""), ("", ON_CLASS)])
def test_an_envoy_proxy_moves_filters_that_are_there(
    move: str, expected: list[str], on_gateway: str, on_class: str
) -> None:
    of_class = worlds.gateway_class("edge", "gateway.envoyproxy.io/gatewayclass-controller", on_class)
    gateway = worlds.gateway(of_class="edge", more=on_gateway)
    found = heads((of_class, gateway, ROUTE, worlds.service(), proxy(move), EVERYTHING, LIMITS))
    assert found == ["Policies in order", *expected]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("request.path", ["limits", "rules"]), ("auth.identity.user", ["rules", "limits"])],
)
def test_limits_of_kuadrant_that_read_who_it_is_come_after_the_login(expression: str, expected: list[str]) -> None:
    found = heads(
        (
            worlds.gateway_class("edge", "istio.io/gateway-controller"),
            worlds.gateway(of_class="edge"),
            ROUTE,
            worlds.service(),
            kuadrant("AuthPolicy", "rules: {authentication: {keys: {apiKey: {selector: {}}}}}", "z"),
            kuadrant(
                "RateLimitPolicy",
                f"limits: {{l: {{rates: [{{limit: 1, window: 1m}}], counters: [{{expression: {expression}}}]}}}}",
                "a",
            ),
        )
    )
    assert found == ["Policies in order", *expected]


def test_no_order_is_claimed_where_none_is_known() -> None:
    policies = (
        worlds.policy("gateway.nginx.org/v1alpha1", kind, "own", "HTTPRoute/checkout", spec, "shop", field=field)
        for kind, spec, field in (
            ("ClientSettingsPolicy", "body: {maxSize: 1m}", "targetRef"),
            ("ProxySettingsPolicy", "buffering: {disable: true}", "targetRefs"),
        )
    )
    nginx = worlds.gateway_class("edge", "gateway.nginx.org/nginx-gateway-controller")
    found = heads((nginx, worlds.gateway(of_class="edge"), ROUTE, worlds.service(), *policies))
    assert found == ["Policies (order unknown)", "body", "buffering"]
