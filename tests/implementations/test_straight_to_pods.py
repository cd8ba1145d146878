"""What the sidecar of a client sends to the address of a pod: no TLS, and nobody's identity (istio/istio#37431).

Predicted from pilot/pkg/networking/core/cluster_builder.go @ 1.31, buildDefaultPassthroughCluster: without a Service
that has the address, connections are passed on as they are; one without an address of its own has those of its pods.
"""

from __future__ import annotations

import pytest

from policylint.trace import Tracer
from policylint.trace.request import request
from tests.worlds import manifest, service, simulated

SIDECARS, AMBIENT = "istio-injection: enabled", "istio.io/dataplane-mode: ambient"


def pods(name: str) -> str:
    template = f"template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: a, image: a}}]}}}}"
    spec = f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, {template}}}"
    return manifest("apps/v1", "Deployment", name, "web", spec)


def namespace(label: str) -> str:
    return manifest("v1", "Namespace", "web", more=f"labels: {{{label}}}")


def mode(of: str) -> str:
    return manifest("security.istio.io/v1", "PeerAuthentication", "default", "web", f"spec: {{mtls: {{mode: {of}}}}}")


IDENTITY = manifest(
    "security.istio.io/v1", "AuthorizationPolicy", "own", "web",
    "spec: {selector: {matchLabels: {app: two}}, rules: [{from: [{source: {namespaces: [web]}}]}]}",
)  # fmt: skip
SELECTING = service("two", "web", more="selector: {app: two}")
HEADLESS = service("two", "web", more="selector: {app: two}, clusterIP: None")


@pytest.mark.parametrize(
    ("objects", "answer"),
    [
        ((namespace(SIDECARS), mode("STRICT")), "denied"),
        ((namespace(SIDECARS), mode("STRICT"), SELECTING), "denied"),
        ((namespace(SIDECARS), mode("STRICT"), HEADLESS), "depends"),
        ((namespace(SIDECARS), mode("PERMISSIVE")), "allowed"),
        ((namespace(SIDECARS), mode("PERMISSIVE"), IDENTITY), "denied"),
        ((namespace(AMBIENT), mode("STRICT")), "allowed"),  # ztunnel knows the addresses of pods
        ((namespace(AMBIENT), mode("STRICT"), IDENTITY), "allowed"),
    ],
)
@pytest.mark.parametrize(
    "how", [{"host": "10.0.0.2", "path": "/"}, {"scheme": "tcp", "port": 8080}], ids=["a request", "a connection"]
)
def test_the_address_of_a_pod_is_no_services(objects: tuple[str, ...], answer: str, how: dict[str, object]) -> None:
    world = simulated(pods("one"), pods("two"), *objects)
    asked = {**how, "client": "Deployment/web/one", "pod": "Deployment/web/two"}
    trace = Tracer(world).trace(request(asked))
    answers = [each.decision.answer for each in trace.admissions]
    expected = "denied" if "denied" in answers else "depends" if "depends" in answers else "allowed"
    assert expected == answer


@pytest.mark.parametrize("objects", [(mode("STRICT"),), (mode("STRICT"), IDENTITY)])
def test_through_a_service_it_shows_who_it_is(objects: tuple[str, ...]) -> None:
    world = simulated(pods("one"), pods("two"), namespace(SIDECARS), SELECTING, *objects)
    asked = {"host": "two.web.svc", "path": "/", "client": "Deployment/web/one", "service": "two"}
    assert Tracer(world).trace(request(asked)).outcome.backends


@pytest.mark.parametrize("to", [{"pod": "Deployment/web/two"}, {"service": "two"}])
@pytest.mark.parametrize(("scheme", "gets_in"), [("tcp", False), ("udp", True), ("sctp", True)])
def test_a_mesh_passes_on_tcp_alone(scheme: str, gets_in: bool, to: dict[str, str]) -> None:
    """Istio's rules of iptables are for TCP; what comes by UDP gets to the pods past the proxy beside them."""
    world = simulated(pods("one"), pods("two"), namespace(SIDECARS), SELECTING, mode("STRICT"))
    asked = {"scheme": scheme, "port": 80, "client": "unmeshed", **to}
    trace = Tracer(world).trace(request(asked))
    assert bool(trace.outcome.backends) is gets_in
    assert not gets_in or not trace.sessions
    assert bool(trace.policies) is not gets_in  # what proxies would ask stands nowhere
