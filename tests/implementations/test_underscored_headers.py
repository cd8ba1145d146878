"""Headers with an underscore in their names: Envoy Gateway answers 400 by default (envoyproxy/gateway#8351), and NGINX
leaves them out (ngx_http_core_module, underscores_in_headers)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.simulation import Simulation
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests import worlds

ENVOY, NGINX, KGATEWAY = (
    "gateway.envoyproxy.io/gatewayclass-controller",
    "gateway.nginx.org/nginx-gateway-controller",
    "kgateway.dev/kgateway",
)
BY_TENANT = "{matches: [{headers: [{name: %s, value: a}]}], backendRefs: [{name: web, port: 80}]}"
SNIPPETS = worlds.manifest(
    "gateway.nginx.org/v1alpha1",
    "SnippetsFilter",
    "odd",
    "shop",
    "spec: {snippets: [{context: http, value: underscores_in_headers on;}]}",
)


def client(action: str) -> str:
    spec = f"headers: {{withUnderscoresAction: {action}}}"
    return worlds.policy("gateway.envoyproxy.io/v1alpha1", "ClientTrafficPolicy", "own", "Gateway/edge", spec, "infra")


def world(controller: str, header: str, *more: str) -> Simulation:
    return worlds.simulated(
        worlds.gateway_class("any", controller),
        worlds.gateway(),
        worlds.route(more=f"rules: [{BY_TENANT % header}]"),
        worlds.service("web"),
        *more,
    )


@pytest.mark.parametrize(
    ("controller", "header", "more", "status", "is_told"),
    [
        (ENVOY, "x_tenant", (), 400, True),
        (ENVOY, "x-tenant", (), None, False),
        (ENVOY, "x_tenant", (client("Allow"),), None, False),
        (ENVOY, "x_tenant", (client("DropHeader"),), 404, True),
        (ENVOY, "x_tenant", (client("RejectRequest"),), 400, True),
        (NGINX, "x_tenant", (), 404, True),
        (NGINX, "x_tenant", (SNIPPETS,), None, False),
        (KGATEWAY, "x_tenant", (), None, False),
    ],
)
def test_who_lets_them_in(
    controller: str, header: str, more: tuple[str, ...], status: int | None, is_told: bool
) -> None:
    simulation = world(controller, header, *more)
    asked = from_url("GET", "http://shop.example/", [f"{header}: a"])
    assert Tracer(simulation).trace(asked).outcome.status == status
    told = [each.field for each in run(simulation, select={"GWP526"})]
    assert told == (["spec.rules[0].matches[0].headers[0].name"] if is_told else [])


def test_any_such_header_is_enough() -> None:
    simulation = world(ENVOY, "x-tenant")
    asked = from_url("GET", "http://shop.example/", ["x-tenant: a", "sentry_trace: 1"])
    assert Tracer(simulation).trace(asked).outcome.status == 400
