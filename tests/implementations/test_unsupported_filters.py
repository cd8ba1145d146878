"""Filters that a controller does not support: what `trace` answers, GWP416 says.

Source: Kong's generatePluginsFromHTTPRouteFilters, Traefik's loadMiddlewares.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests import worlds

KONG, TRAEFIK, ENVOY = (
    "konghq.com/kic-gateway-controller",
    "traefik.io/gateway-controller",
    "gateway.envoyproxy.io/gatewayclass-controller",
)
HAS = "HTTPRoute shop/checkout has filter"
MIRROR = "{type: RequestMirror, requestMirror: {backendRef: {name: web, port: 80}}}"
CORS = "{type: CORS, cors: {allowOrigins: ['*']}}"
HEADERS = "{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: a, value: b}]}}"


@pytest.mark.parametrize(
    ("controller", "filters", "status", "told"),
    [
        (KONG, CORS, 404, f"{HAS} CORS, which kong does not support"),
        (
            KONG,
            f"{HEADERS}, {MIRROR}",
            404,
            f"{HAS} RequestMirror, which kong does not support",
        ),
        (KONG, HEADERS, None, ""),
        (TRAEFIK, MIRROR, 500, f"{HAS} RequestMirror, which traefik does not support"),
        (TRAEFIK, CORS, None, ""),
        (ENVOY, MIRROR, None, ""),
    ],
)
def test_one_answer(controller: str, filters: str, status: int | None, told: str) -> None:
    simulation = worlds.simulated(
        worlds.gateway_class("any", controller),
        worlds.gateway(),
        worlds.route(more=f"rules: [{{filters: [{filters}], backendRefs: [{{name: web, port: 80}}]}}]"),
        worlds.service("web"),
    )
    assert Tracer(simulation).trace(from_url("GET", "http://shop.example/")).outcome.status == status
    assert [each.message for each in run(simulation, select={"GWP416"})] == ([told] if told else [])
