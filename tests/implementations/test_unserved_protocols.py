"""Listeners of protocols that some controllers do not serve, and what ResolvedRefs of a Gateway hangs on."""

from __future__ import annotations

import pytest

from tests import worlds

BOTH = (
    "[{name: http, port: 80, protocol: HTTP}, {name: udp, port: 5300, protocol: UDP}, "
    "{name: tls, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: gone}]}}]"
)
REFUSED = "Accepted=False/UnsupportedProtocol"
SPEC = ["Accepted=True/Accepted", "ResolvedRefs=False/ListenersNotResolved"]
PARTLY = "Accepted=True/ListenersNotValid"


@pytest.mark.parametrize(
    ("controller", "of_gateway", "of_udp", "kinds"),
    [
        ("example.net/controller", SPEC, "Accepted=True/Accepted", ("UDPRoute",)),
        (
            "istio.io/gateway-controller",
            [PARTLY, "ResolvedRefs=True/ResolvedRefs"],
            "Accepted=False/UnsupportedProtocol",
            (),
        ),
        ("kgateway.dev/kgateway", [PARTLY, SPEC[1]], REFUSED, ()),
        ("agentgateway.dev/agentgateway", [PARTLY], REFUSED, ()),
    ],
)
def test_a_protocol_that_is_not_served(
    controller: str, of_gateway: list[str], of_udp: str, kinds: tuple[str, ...]
) -> None:
    simulation = worlds.simulated(
        worlds.gateway_class("edge", controller), worlds.gateway(of_class="edge", listeners=BOTH)
    )
    (gateway,) = simulation.topology.gateways
    assert worlds.conditions(gateway.conditions) == of_gateway
    udp = gateway.listeners[1]
    assert of_udp in worlds.conditions(udp.conditions)
    assert udp.supported_kinds == kinds


@pytest.mark.parametrize(
    ("controller", "resolved"),
    [("example.net/controller", "False/RefNotPermitted"), ("kgateway.dev/kgateway", "True/ResolvedRefs")],
)
def test_backends_of_a_route_that_no_listener_takes(controller: str, resolved: str) -> None:
    """kgateway does not look them up."""
    simulation = worlds.simulated(
        worlds.gateway_class("edge", controller),
        worlds.gateway(of_class="edge", listeners="[{name: http, port: 80, protocol: HTTP, hostname: a.example}]"),
        worlds.route(more="hostnames: [b.example], rules: [{backendRefs: [{name: x, namespace: pay, port: 80}]}]"),
    )
    ((parent,),) = [route.parents for route in simulation.topology.routes]
    assert f"ResolvedRefs={resolved}" in worlds.conditions(parent.conditions)


FOREIGN = (
    "[{name: own, port: 7000, protocol: example.net/own, allowedRoutes: {namespaces: {from: All}}},"
    " {name: tunnel, port: 15008, protocol: HBONE, allowedRoutes: {namespaces: {from: All}}},"
    " {name: odd, port: 7001, protocol: QUIC, allowedRoutes: {namespaces: {from: All}}}]"
)


@pytest.mark.parametrize(
    ("controller", "refused", "taking"),
    [
        ("example.net/controller", ["odd"], {"HTTPRoute": ["own", "tunnel"], "TLSRoute": ["own", "tunnel"]}),
        ("gateway.envoyproxy.io/gatewayclass-controller", ["own", "tunnel", "odd"], {"HTTPRoute": [], "TLSRoute": []}),
        ("kgateway.dev/kgateway", ["own", "odd"], {"HTTPRoute": ["own", "tunnel", "odd"], "TLSRoute": []}),
        ("istio.io/gateway-controller", ["own", "tunnel", "odd"], {"HTTPRoute": [], "TLSRoute": []}),
        ("istio.io/mesh-controller", ["own", "odd"], {"HTTPRoute": [], "TLSRoute": []}),
    ],
)
def test_protocols_beyond_those_of_gateway_api(
    controller: str, refused: list[str], taking: dict[str, list[str]]
) -> None:
    """Predicted from each controller's source: what it serves, and which kinds of routes attach all the same."""
    simulation = worlds.simulated(
        worlds.gateway_class("edge", controller),
        worlds.gateway(of_class="edge", listeners=FOREIGN),
        *(worlds.route(f"a-{kind.lower()}", kind=kind, more="hostnames: [a.example], rules: [{}]") for kind in taking),
    )
    (gateway,) = simulation.topology.gateways
    assert [each.name for each in gateway.listeners if REFUSED in worlds.conditions(each.conditions)] == refused
    for route in simulation.topology.routes:
        attached = [each.node.section for parent in route.parents for each in parent.candidates if not each.failure]
        assert attached == taking[route.route.key.kind]


EAST_WEST = "istio.io/eastwest-controller"


@pytest.mark.parametrize(
    ("controller", "listener", "served"),
    [
        ("istio.io/mesh-controller", "port: 15008, protocol: HBONE", True),
        ("istio.io/mesh-controller", "port: 15009, protocol: HBONE", False),
        ("istio.io/mesh-controller", "port: 80, protocol: HTTP", False),
        (EAST_WEST, "port: 15008, protocol: HBONE, tls: {mode: Terminate}", True),
        (EAST_WEST, "port: 15008, protocol: HBONE", False),
        (EAST_WEST, "port: 15443, protocol: TLS, tls: {mode: Passthrough}", True),
        (EAST_WEST, "port: 15443, protocol: TLS, tls: {mode: Terminate, certificateRefs: [{name: cert}]}", False),
        (EAST_WEST, "port: 80, protocol: HTTP", False),
    ],
)
def test_what_passes_traffic_on_within_a_mesh_listens_for_little_else(
    controller: str, listener: str, served: bool
) -> None:
    """Source: pilot/pkg/config/kube/gateway/conversion.go, unexpected{Waypoint,EastWestWaypoint}Listener (1.31)."""
    simulation = worlds.simulated(
        worlds.gateway_class("edge", controller),
        worlds.gateway(of_class="edge", listeners=f"[{{name: mesh, {listener}}}]"),
    )
    ((only,),) = [gateway.listeners for gateway in simulation.topology.gateways]
    assert (REFUSED not in worlds.conditions(only.conditions)) is served


def test_a_waypoint_is_known_by_its_class_where_that_is_not_in_the_tree() -> None:
    simulation = worlds.simulated(
        worlds.gateway(of_class="istio-waypoint", listeners="[{name: mesh, port: 15008, protocol: HBONE}]")
    )
    ((only,),) = [gateway.listeners for gateway in simulation.topology.gateways]
    assert REFUSED not in worlds.conditions(only.conditions)
