"""Kong serves a route at every listener for requests, whichever it is attached to (KIC #2606, #3314)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.reach import all_ways
from policylint.simulation import Simulation
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests import worlds

KONG, ENVOY = "konghq.com/kic-gateway-controller", "gateway.envoyproxy.io/gatewayclass-controller"
ALL = "allowedRoutes: {namespaces: {from: All}}"
LISTENERS = (
    f"[{{name: public, port: 80, protocol: HTTP, {ALL}}}, {{name: internal, port: 8081, protocol: HTTP, {ALL}}},"
    f" {{name: secure, port: 443, protocol: HTTPS, tls: {{certificateRefs: [{{name: c}}]}}, {ALL}}}]"
)
RULES = "rules: [{backendRefs: [{name: web, port: 80}]}]"


def world(controller: str, parent: str) -> Simulation:
    return worlds.simulated(
        worlds.gateway_class("any", controller),
        worlds.gateway(listeners=LISTENERS),
        worlds.route("admin", parents=f"[{{name: edge, namespace: infra{parent}}}]", more=RULES),
        worlds.service("web"),
    )


@pytest.mark.parametrize("parent", [", sectionName: internal", ", port: 8081", ""])
@pytest.mark.parametrize("url", ["http://shop.example/", "http://shop.example:8081/", "https://shop.example/"])
def test_every_listener_serves_it(parent: str, url: str) -> None:
    trace = Tracer(world(KONG, parent)).trace(from_url("GET", url))
    assert trace.rule is not None


def test_hostnames_of_listeners_choose_none_of_its_requests() -> None:
    """internal/dataplane/translator/subtranslator/httproute.go reads the hostnames of routes alone."""
    listeners = (
        f"[{{name: a, port: 80, protocol: HTTP, hostname: a.example, {ALL}}},"
        f" {{name: b, port: 8080, protocol: HTTP, hostname: b.example, {ALL}}}]"
    )
    for controller, reaches in ((KONG, True), (ENVOY, False)):
        simulation = worlds.simulated(
            worlds.gateway_class("any", controller),
            worlds.gateway(listeners=listeners),
            worlds.route(parents="[{name: edge, namespace: infra, sectionName: a}]", more=RULES),
            worlds.service("web"),
        )
        trace = Tracer(simulation).trace(from_url("GET", "http://a.example:8080/"))
        assert (trace.rule is not None) is reaches


def test_elsewhere_its_own_alone_does() -> None:
    tracer = Tracer(world(ENVOY, ", sectionName: internal"))
    assert tracer.trace(from_url("GET", "http://shop.example/")).outcome.status == 404
    assert tracer.trace(from_url("GET", "http://shop.example:8081/")).rule is not None


def test_reach_knows_each_way_in() -> None:
    ways = {str(way.trace.listener) for way in all_ways(world(KONG, ", sectionName: internal")) if way.trace.rule}
    assert len(ways) == 3


@pytest.mark.parametrize(
    ("controller", "parent", "told"),
    [
        (KONG, ", sectionName: internal", ["spec.parentRefs[0].sectionName"]),
        (KONG, ", port: 8081", ["spec.parentRefs[0].port"]),
        (KONG, "", []),
        (ENVOY, ", sectionName: internal", []),
    ],
)
def test_a_route_is_told_that_chooses_a_listener_in_vain(controller: str, parent: str, told: list[str]) -> None:
    assert [each.field for each in run(world(controller, parent), select={"GWP526"})] == told
