"""GWP313: pods that take certificates of the mesh alone, and load balancers that have none (istio/istio#43056)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model import Finding
from tests.doors.asking import ingress
from tests.worlds import labelled, manifest, service, simulated

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
