"""Clients that are called by their account are the workloads that have it: at network policies, and at waypoints."""

from __future__ import annotations

import pytest

from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.worlds import manifest, service, simulated


def workload(name: str, account: str) -> str:
    pods = f"metadata: {{labels: {{app: {name}}}}}, spec: {{serviceAccountName: {account}, containers: []}}"
    spec = f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {{{pods}}}}}"
    return manifest("apps/v1", "Deployment", name, "shop", spec)


ORDERS = service("orders", ports="[{name: http, port: 80, targetPort: 8080}]", more="selector: {app: orders}")
FROM_WEB = manifest(
    "networking.k8s.io/v1",
    "NetworkPolicy",
    "orders",
    "shop",
    "spec: {podSelector: {matchLabels: {app: orders}}, policyTypes: [Ingress], "
    "ingress: [{from: [{podSelector: {matchLabels: {app: web}}}]}]}",
)
AMBIENT = manifest(
    "v1", "Namespace", "shop", more="labels: {istio.io/dataplane-mode: ambient, istio.io/use-waypoint: waypoint}"
)
WAYPOINT = manifest(
    "gateway.networking.k8s.io/v1",
    "Gateway",
    "waypoint",
    "shop",
    "spec: {gatewayClassName: istio-waypoint, listeners: [{name: mesh, port: 15008, protocol: HBONE}]}",
)
READERS = manifest(
    "security.istio.io/v1",
    "AuthorizationPolicy",
    "orders",
    "shop",
    "spec: {targetRefs: [{group: '', kind: Service, name: orders}], rules: [{to: [{operation: {methods: [GET]}}]}]}",
)


@pytest.mark.parametrize(("account", "verdict"), [("web", "allowed"), ("batch", "denied"), ("other", "unknown")])
def test_network_policies_see_the_pods_of_an_account(account: str, verdict: str) -> None:
    simulation = simulated(
        ORDERS, FROM_WEB, workload("orders", "orders"), workload("web", "web"), workload("b", "batch")
    )
    request = from_url("GET", "http://orders/", client=f"ServiceAccount/shop/{account}", service="shop/orders")
    way = Tracer(simulation).trace(request).network
    assert way is not None
    assert way.verdict == verdict


@pytest.mark.parametrize(("method", "refused"), [("GET", False), ("POST", True)])
def test_requests_of_an_account_pass_the_waypoint_that_its_pods_pass(method: str, refused: bool) -> None:
    simulation = simulated(AMBIENT, WAYPOINT, READERS, ORDERS, workload("orders", "orders"), workload("web", "web"))
    request = from_url(method, "http://orders/", client="ServiceAccount/shop/web", service="shop/orders")
    trace = Tracer(simulation).trace(request)
    assert (trace.outcome.status == 403) is refused
    assert all(placed.decision.answer != "depends" for placed in trace.admissions)
