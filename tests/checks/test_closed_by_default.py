"""GWP313: pods that let nobody in by default (Linkerd), where a Gateway sends requests to them."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests import worlds
from tests.doors.asking import ingress

ENVOY = "gateway.envoyproxy.io/gatewayclass-controller"
PORTS = "[{name: web, image: example.com/web, ports: [{name: http, containerPort: 8080}]}]"
PODS = worlds.manifest(
    "apps/v1",
    "Deployment",
    "web",
    "shop",
    "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}, annotations: "
    f"{{linkerd.io/inject: enabled}}}}, spec: {{containers: {PORTS}}}}}}}",
)
SERVER = worlds.manifest(
    "policy.linkerd.io/v1beta3", "Server", "web", "shop", "spec: {podSelector: {matchLabels: {app: web}}, port: 8080}"
)
OPEN = SERVER.replace("port: 8080", "port: 8080, accessPolicy: all-unauthenticated")


def namespace(default: str) -> str:
    annotation = f"annotations: {{config.linkerd.io/default-inbound-policy: {default}}}"
    return worlds.manifest("v1", "Namespace", "shop", more=annotation)


@pytest.mark.parametrize(
    ("world", "said"),
    [
        ((namespace("deny"),), ["Namespace shop"]),
        ((namespace("all-unauthenticated"),), []),
        ((namespace("all-authenticated"),), []),  # the pods of the Gateway may be in the mesh
        ((namespace("all-unauthenticated"), SERVER), ["Server shop/web"]),
        ((namespace("deny"), OPEN), []),
        ((), []),
    ],
)
def test_a_route_to_them_is_told(world: tuple[str, ...], said: list[str]) -> None:
    service = worlds.service("web", ports="[{port: 80, targetPort: 8080}]", more="selector: {app: web}")
    route = worlds.route(more="rules: [{backendRefs: [{name: web, port: 80}]}]")
    simulation = worlds.simulated(worlds.gateway_class("any", ENVOY), worlds.gateway(), route, service, PODS, *world)
    found = [each.message.partition(" rejects")[0] for each in run(simulation, select={"GWP313"})]
    assert found == said


def test_without_a_route_it_is_a_fence() -> None:
    simulation = worlds.simulated(worlds.service("web", more="selector: {app: web}"), PODS, namespace("deny"))
    assert list(run(simulation, select={"GWP313"})) == []


def test_ways_in_beside_gateways_count_as_well() -> None:
    service = worlds.service("web", ports="[{port: 80, targetPort: 8080}]", more="selector: {app: web}")
    simulation = worlds.simulated(service, ingress(), PODS, namespace("deny"))
    (found,) = run(simulation, select={"GWP313"})
    assert found.message == (
        "Namespace shop rejects every request that reaches Service shop/web through IngressClass nginx"
    )


@pytest.mark.parametrize("kind", ["LoadBalancer", "NodePort", "ClusterIP"])
def test_mutual_tls_that_is_demanded_is_no_default(kind: str) -> None:
    """The gateway of a mesh behind a Service that is published, or an Ingress of another controller before it."""
    strict = worlds.manifest(
        "security.istio.io/v1", "PeerAuthentication", "default", "istio-system", "spec: {mtls: {mode: STRICT}}"
    )
    pods = PODS.replace("linkerd.io/inject: enabled", "inject.istio.io/templates: gateway").replace(
        "labels: {app: web}, annotations", "labels: {app: web, sidecar.istio.io/inject: 'true'}, annotations"
    )
    service = worlds.service(
        "web", ports="[{port: 80, targetPort: 8080}]", more=f"type: {kind}, selector: {{app: web}}"
    )
    beside = ingress() if kind == "ClusterIP" else ""
    simulation = worlds.simulated(service, *filter(None, (beside,)), pods, strict)
    assert list(run(simulation, select={"GWP313"})) == []
