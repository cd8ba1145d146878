"""What Gateways ask, nobody asks who calls a Service inside the mesh: no proxy of theirs is on the way."""

from __future__ import annotations

import pytest

from policylint.simulation import Simulation
from policylint.trace import Request, Requirements, Tracer
from tests.reach.test_agreement import disagreements
from tests.worlds import gateway, gateway_class, labelled, manifest, policy, route, service, simulated

TO_CHECKOUT = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
WAYPOINT = "[{name: mesh, port: 15008, protocol: HBONE}]"
IAP = "default: {iap: {enabled: true, oauth2ClientSecret: {name: secret}, clientID: web}}"
EXTERNAL = "backend: {extAuth: {backendRef: {name: checkout, port: 80}, grpc: {}}}"
LOGINS = [
    ("agentgateway.dev/agentgateway", ("agentgateway.dev/v1alpha1", "AgentgatewayPolicy"), EXTERNAL, "targetRefs"),
    ("networking.gke.io/gateway", ("networking.gke.io/v1", "GCPBackendPolicy"), IAP, "targetRef"),
]
BY_KONG = (
    service().replace("metadata: {", "metadata: {annotations: {konghq.com/plugins: auth}, ", 1),
    manifest("configuration.konghq.com/v1", "KongPlugin", "auth", "shop", "plugin: key-auth"),
)
INSIDE = Request(
    scheme="http", host="checkout.shop", port=80, service="Service/shop/checkout", client="ServiceAccount/a/b"
)
OUTSIDE = Request(scheme="http", host="shop.example.com", port=80)


def served(controller: str, *manifests: str, routed: bool = True) -> Simulation:
    """A Service in a mesh, and behind a Gateway of some controller where it is routed."""
    front = (gateway_class("any", controller), gateway(of_class="any"), route(more=TO_CHECKOUT)) if routed else ()
    return simulated(*front, labelled("shop", "{istio.io/dataplane-mode: ambient}"), *manifests)


def asked(simulation: Simulation, request: Request) -> str:
    """Whether a request needs a login."""
    tracer = Tracer(simulation)
    return Requirements(tracer).of(tracer.trace(request), "authentication").state


@pytest.mark.parametrize(("controller", "kind", "spec", "field"), LOGINS)
@pytest.mark.parametrize("routed", [True, False])
def test_policies_of_gateways_ask_nobody_inside(
    controller: str, kind: tuple[str, str], spec: str, field: str, routed: bool
) -> None:
    login = policy(*kind, "login", "Service/checkout", spec, "shop", field=field)
    simulation = served(controller, service(), login, routed=routed)
    assert asked(simulation, INSIDE) == "open"
    assert not routed or asked(simulation, OUTSIDE) == "asked"
    assert disagreements(simulation, 40)[1] == []


def test_plugins_of_gateways_ask_nobody_inside() -> None:
    simulation = served("konghq.com/kic-gateway-controller", *BY_KONG)
    assert (asked(simulation, INSIDE), asked(simulation, OUTSIDE)) == ("open", "asked")


def test_whoever_serves_waypoints_may_ask_inside() -> None:
    controller, kind, spec, _ = LOGINS[0]
    login = policy(*kind, "login", "Service/checkout", spec, "shop")
    waypoint = gateway("waypoint", "shop", of_class="any", listeners=WAYPOINT)
    assert asked(served(controller, service(), login, waypoint), INSIDE) == "asked"
