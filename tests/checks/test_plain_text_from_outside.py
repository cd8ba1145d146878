"""GWP313: pods that take certificates of the mesh alone, and load balancers that have none (istio/istio#43056)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model import Finding
from tests.doors.asking import ingress
from tests.worlds import gateway, gateway_class, labelled, manifest, route, service, simulated

CLOUD = manifest("networking.k8s.io/v1", "IngressClass", "alb", body="spec: {controller: ingress.k8s.aws/alb}")
NGINX = manifest("networking.k8s.io/v1", "IngressClass", "nginx", body="spec: {controller: k8s.io/ingress-nginx}")
PODS = manifest(
    "apps/v1",
    "Deployment",
    "web",
    "shop",
    "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: []}}}",
)
PORTS = "[{name: http, port: 80, targetPort: 8080}, {name: admin, port: 81, targetPort: 8081}]"


def told(mtls: str, of_class: str = "alb", mesh: str = "{istio-injection: enabled}") -> list[Finding]:
    asked = manifest("security.istio.io/v1", "PeerAuthentication", "own", "shop", f"spec: {{{mtls}}}")
    web = service("web", "shop", PORTS, "selector: {app: web}")
    world = (CLOUD, NGINX, labelled("shop", mesh), PODS, web, ingress(of_class=of_class), asked)
    return list(run(simulated(*world), select={"GWP313"}))


def test_a_load_balancer_of_a_cloud_shows_no_certificate_of_the_mesh() -> None:
    (found,) = told("mtls: {mode: STRICT}")
    assert found.message.startswith("PeerAuthentication shop/own rejects every request that reaches Service shop/web")
    assert found.severity == "warning"


@pytest.mark.parametrize(
    ("mtls", "of_class", "mesh"),
    [
        ("mtls: {mode: PERMISSIVE}", "alb", "{istio-injection: enabled}"),
        (
            "selector: {matchLabels: {app: web}}, mtls: {mode: STRICT}, portLevelMtls: {8080: {mode: PERMISSIVE}}",
            "alb",
            "{istio-injection: enabled}",
        ),
        ("mtls: {mode: STRICT}", "nginx", "{istio-injection: enabled}"),  # its pods may be in the mesh
        ("mtls: {mode: STRICT}", "alb", "{}"),  # these pods are not
    ],
)
def test_who_may_be_let_in(mtls: str, of_class: str, mesh: str) -> None:
    assert not told(mtls, of_class, mesh)


def through(controller: str, mtls: str = "mtls: {mode: STRICT}") -> list[str]:
    """What is said of a Gateway in a namespace of the mesh, beside pods that take certificates of the mesh alone."""
    asked = manifest("security.istio.io/v1", "PeerAuthentication", "own", "shop", f"spec: {{{mtls}}}")
    web = service("web", "shop", PORTS, "selector: {app: web}")
    edge = gateway("edge", "shop", listeners="[{name: http, port: 80, protocol: HTTP}]")
    led = route("web", "shop", parents="[{name: edge}]", more="rules: [{backendRefs: [{name: web, port: 80}]}]")
    world = (labelled("shop", "{istio-injection: enabled}"), PODS, web, asked, edge, led)
    return [each.message for each in run(simulated(gateway_class(controller=controller), *world), select={"GWP313"})]


@pytest.mark.parametrize(
    ("controller", "told_of"),
    [
        ("networking.gke.io/gateway", True),
        ("application-networking.k8s.aws/gateway-api-controller", True),
        ("alb.networking.azure.io/alb-controller", True),
        ("gateway.k8s.aws/alb", True),
        ("gateway.envoyproxy.io/gatewayclass-controller", False),  # its pods may be in the mesh
        ("istio.io/gateway-controller", False),
    ],
)
def test_gateways_of_clouds_have_no_pods_in_the_mesh(controller: str, told_of: bool) -> None:
    said = "PeerAuthentication shop/own rejects every request that reaches Service shop/web through Gateway shop/edge"
    assert through(controller) == ([said] if told_of else [])
    assert through(controller, "mtls: {mode: PERMISSIVE}") == []
