"""Which routes for a request's host are asked: those for the narrowest host alone, or further ones as well."""

from __future__ import annotations

import pytest

from policylint.trace import Tracer, request
from tests import worlds


@pytest.mark.parametrize(
    ("controller", "goes_on"),
    [
        ("example.net/controller", True),
        ("gateway.envoyproxy.io/gatewayclass-controller", False),
        ("istio.io/gateway-controller", False),
        ("kgateway.dev/kgateway", False),
    ],
)
def test_where_a_virtual_host_is_chosen_first_its_routes_alone_count(controller: str, goes_on: bool) -> None:
    """Translators for Envoy make one virtual host of each hostname; what none of its routes matches gets 404."""
    rules = "rules: [{matches: [{path: {value: %s}}], backendRefs: [{name: checkout, port: 80}]}]"
    simulation = worlds.simulated(
        worlds.gateway_class("edge", controller),
        worlds.gateway(of_class="edge"),
        worlds.service(),
        worlds.route("narrow", more="hostnames: [a.example.com], " + rules % "/a"),
        worlds.route("wide", more="hostnames: ['*.example.com'], " + rules % "/"),
    )
    tracer = Tracer(simulation)
    asked = [("a.example.com", "/a"), ("b.example.com", "/b"), ("a.example.com", "/b")]
    answers = [tracer.trace(request({"host": host, "path": path})) for host, path in asked]
    assert [each.route.key.name if each.route else each.outcome.status for each in answers] == [
        "narrow",
        "wide",
        "wide" if goes_on else 404,
    ]
