"""Where policies act though the topology leads there, and where not: ListenerSets for Kuadrant, connections for JWT."""

from __future__ import annotations

import pytest

from policylint.trace import Tracer, request
from tests import worlds

ENVOY = worlds.gateway_class("edge", "gateway.envoyproxy.io/gatewayclass-controller")
ISTIO = worlds.gateway_class("edge", "istio.io/gateway-controller")
LISTENERS = (
    "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}, "
    "{name: tcp, port: 9000, protocol: TCP, allowedRoutes: {namespaces: {from: All}}}]"
)
JWT = "jwt: {providers: [{name: id, remoteJWKS: {uri: https://id/jwks}}]}"
CIDRS = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [10.0.0.0/8]}}]}"
RULES = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"


@pytest.mark.parametrize(
    ("spec", "routes"), [(JWT, ["HTTPRoute"]), (CIDRS, ["HTTPRoute", "TCPRoute"]), ("{}", ["HTTPRoute"])]
)
def test_of_a_gateways_policy_connections_take_authorization_alone(spec: str, routes: list[str]) -> None:
    simulation = worlds.simulated(
        ENVOY,
        worlds.gateway(of_class="edge", listeners=LISTENERS),
        worlds.route(parents="[{name: edge, namespace: infra, sectionName: http}]", more=RULES),
        worlds.route(
            "stream", parents="[{name: edge, namespace: infra, sectionName: tcp}]", kind="TCPRoute", more=RULES
        ),
        worlds.service(),
        worlds.policy(
            "gateway.envoyproxy.io/v1alpha1",
            "SecurityPolicy",
            "own",
            "Gateway/edge",
            "" if spec == "{}" else spec,
            "infra",
        ),
    )
    assert sorted({route.kind for group in simulation.groups for route in group.routes()}) == routes


@pytest.mark.parametrize("kind", ["AuthPolicy", "RateLimitPolicy"])
def test_kuadrant_does_not_know_listener_sets(kind: str) -> None:
    spec = {
        "AuthPolicy": "rules: {authentication: {keys: {apiKey: {selector: {}}}}}",
        "RateLimitPolicy": "limits: {one: {rates: [{limit: 1, window: 1m}]}}",
    }[kind]
    shared = "[{name: extra, port: 81, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
    simulation = worlds.simulated(
        ISTIO,
        worlds.gateway(of_class="edge", more="allowedListeners: {namespaces: {from: All}}"),
        worlds.listener_set("set", "shop", shared),
        worlds.route("direct", more=RULES),
        worlds.route("aside", parents="[{kind: ListenerSet, name: set, namespace: shop}]", more=RULES),
        worlds.service(),
        worlds.policy("kuadrant.io/v1", kind, "own", "Gateway/edge", spec, "infra", field="targetRef"),
    )
    assert {route.name for group in simulation.groups for route in group.routes()} == {"direct"}


@pytest.mark.parametrize(
    ("of_class", "answer"),
    [
        (worlds.gateway_class("edge"), (500, "Service shop/checkout is named without a port")),
        (ISTIO, (404, "no route of this listener serves host shop.example")),
    ],
)
def test_a_service_needs_a_port(of_class: str, answer: tuple[int, str]) -> None:
    """By the spec it is answered with 500, and Istio serves nothing of such a route; the API server refuses it in the
    first place, which a note says.
    """
    simulation = worlds.simulated(
        of_class,
        worlds.gateway(of_class="edge"),
        worlds.route(more="rules: [{backendRefs: [{name: checkout}]}]"),
        worlds.service(),
    )
    trace = Tracer(simulation).trace(request({"host": "shop.example"}))
    assert (trace.outcome.status, trace.outcome.reason) == answer
    why = "spec.rules[0].backendRefs[0]: Invalid value: Must have port for Service reference"
    state = "so that a cluster has its former state, or none"
    note = f"the API server refuses HTTPRoute shop/checkout ({why}), {state}"
    assert trace.notes == ((note,) if trace.route is not None else ())
