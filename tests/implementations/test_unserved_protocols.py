"""Listeners of UDP, which some controllers do not serve, and what ResolvedRefs of a Gateway hangs on."""

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
