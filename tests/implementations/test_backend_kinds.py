"""Which kinds of backends a controller reads: a route that names another controller's is answered with 500.

Source: `backends` and `externalNames` of each catalog file; Istio's and NGINX Gateway Fabric's stand in their modules.
"""

from __future__ import annotations

import pytest

from policylint.trace import Tracer, request
from tests import worlds
from tests.worlds import gateway, gateway_class, route, service, simulated

CONTROLLERS = {
    "eg": "gateway.envoyproxy.io/gatewayclass-controller",
    "kgateway": "kgateway.dev/kgateway",
    "agentgateway": "agentgateway.dev/agentgateway",
    "istio": "istio.io/gateway-controller",
    "nginx": "gateway.nginx.org/nginx-gateway-controller",
    "traefik": "traefik.io/gateway-controller",
    "cilium": "io.cilium/gateway-controller",
    "kong": "konghq.com/kic-gateway-controller",
    "unheard-of": "example.net/controller",
}
POOL = "spec: {selector: {matchLabels: {app: a}}, targetPorts: [{number: 80}], endpointPickerRef: {name: checkout}}"
BACKENDS = {
    "Backend of Envoy Gateway": (
        "gateway.envoyproxy.io/v1alpha1",
        "Backend",
        "spec: {endpoints: [{fqdn: {hostname: a.example.com, port: 80}}]}",
    ),
    "Backend of kgateway": (
        "gateway.kgateway.dev/v1alpha1",
        "Backend",
        "spec: {type: Static, static: {hosts: [{host: a.example.com, port: 80}]}}",
    ),
    "TraefikService": (
        "traefik.io/v1alpha1",
        "TraefikService",
        "spec: {weighted: {services: [{name: checkout, port: 80}]}}",
    ),
    "InferencePool": ("inference.networking.k8s.io/v1", "InferencePool", POOL),
    "Service": ("v1", "Service", ""),
    "ExternalName": ("v1", "Service", "spec: {type: ExternalName, externalName: a.example.com, ports: [{port: 80}]}"),
}
READS = {
    "Backend of Envoy Gateway": {"eg", "unheard-of"},
    "Backend of kgateway": {"kgateway", "agentgateway", "unheard-of"},
    "TraefikService": {"traefik", "unheard-of"},
    "InferencePool": {"eg", "kgateway", "agentgateway", "istio", "nginx", "unheard-of"},
    "Service": set(CONTROLLERS),
    "ExternalName": set(CONTROLLERS) - {"eg", "nginx", "traefik", "agentgateway"},  # NGINX asks for a resolver
}


def manifests(controller: str, backend: str, parents: str = "[{name: edge, namespace: infra}]") -> tuple[str, ...]:
    version, kind, spec = BACKENDS[backend]
    group = version.rpartition("/")[0]
    port = "" if group == "gateway.kgateway.dev" else ", port: 80"  # which has its own, and takes none
    named = f"{{name: own, group: '{group}', kind: {kind}{port}}}"
    return (
        gateway_class(controller, CONTROLLERS[controller]),
        gateway(of_class=controller),
        route(parents=parents, more=f"rules: [{{backendRefs: [{named}]}}]"),
        service(),
        worlds.manifest(version, kind, "own", "shop", spec) if spec else service("own"),
    )


@pytest.mark.parametrize("controller", CONTROLLERS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_of_a_kind_that_nobody_reads_answers_500(controller: str, backend: str) -> None:
    traced = Tracer(simulated(*manifests(controller, backend))).trace(request({"host": "www.example.com", "path": "/"}))
    assert (traced.outcome.status == 500) == (controller not in READS[backend])


@pytest.mark.parametrize("controller", ["eg", "traefik"])
def test_what_several_controllers_serve_is_none_ones_alone(controller: str) -> None:
    """One of them may read it: what each answers is not said of the route."""
    backend = "Backend of kgateway"
    both = manifests(controller, backend, "[{name: edge, namespace: infra}, {name: other, namespace: infra}]")
    others = (gateway_class("kgateway", CONTROLLERS["kgateway"]), gateway("other", of_class="kgateway"))
    (state,) = simulated(*both, *others).topology.routes
    assert [backend.reason for backend in state.backends] == [""]


@pytest.mark.parametrize(("controller", "status"), [("kgateway", 503), ("cilium", 503), ("agentgateway", 500)])
def test_a_name_that_is_taken_has_no_endpoints(controller: str, status: int) -> None:
    """The reference is resolved, and nothing answers; beside a backend that works, its part of the requests fails."""
    simulation = simulated(*manifests(controller, "ExternalName"))
    (state,) = simulation.topology.routes
    resolved = next(each for each in state.parents[0].conditions if each.type == "ResolvedRefs")
    assert (resolved.status, state.backends[0].status) == ("True", status)
    traced = Tracer(simulation).trace(request({"host": "www.example.com", "path": "/"}))
    assert traced.outcome.status == status
    assert "knows no endpoints of a Service of type ExternalName" in traced.outcome.reason


def test_the_status_says_so() -> None:
    (state,) = simulated(*manifests("eg", "Backend of kgateway")).topology.routes
    resolved = next(each for each in state.parents[0].conditions if each.type == "ResolvedRefs")
    assert (resolved.status, resolved.reason) == ("False", "InvalidKind")


LATTICE = gateway_class("lattice", "application-networking.k8s.aws/gateway-api-controller")
IMPORT = "application-networking.k8s.aws/v1alpha1"


@pytest.mark.parametrize("group", ["", "group: application-networking.k8s.aws, ", "group: multicluster.x-k8s.io, "])
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("of_class", ["lattice", "any"])
def test_vpc_lattice_reads_a_service_import_of_any_group(group: str, is_there: bool, of_class: str) -> None:
    """aws-application-networking-k8s pkg/controllers/route_controller.go, validateBackedRefs: it asks for the kind."""
    rules = f"[{{backendRefs: [{{{group}kind: ServiceImport, name: own, port: 80}}]}}]"
    parts = [LATTICE, gateway_class(), gateway(of_class=of_class), route(more=f"rules: {rules}")]
    if is_there:
        parts.append(worlds.manifest(IMPORT, "ServiceImport", "own", "shop", "spec: {type: ClusterSetIP, ports: []}"))
    (backend,) = simulated(*parts).topology.routes[0].backends
    if of_class == "lattice" and "x-k8s" not in group:
        assert (backend.reason, backend.resolution.found) == ("" if is_there else "BackendNotFound", is_there)
    elif not group:
        assert backend.reason == "InvalidKind"


NAMING_CORE = {"kgateway", "nginx", "traefik", "kong"}
TO_SERVICES = "{group: %s, kind: Service}"
ROUTES = "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}"


@pytest.mark.parametrize("controller", CONTROLLERS)
@pytest.mark.parametrize(
    ("name", "port", "reason"),
    [("checkout", 80, ""), ("gone", 80, "BackendNotFound"), ("cards, namespace: pay", 80, "")],
)
def test_core_is_the_group_of_services_to_some(controller: str, name: str, port: int, reason: str) -> None:
    """Kong internal/util; traefik provider/kubernetes/gateway, groupCore; nginx-gateway-fabric
    graph/backend_refs.go, validateBackendRef; kgateway krtcollections/policy.go, emptyIfCore."""
    rules = f"[{{backendRefs: [{{group: core, kind: Service, name: {name}, port: {port}}}]}}]"
    parts = (gateway_class(controller, CONTROLLERS[controller]), gateway(of_class=controller), service())
    more = (service("cards", "pay"), worlds.grant("pay", ROUTES, TO_SERVICES % "''"))
    (state,) = simulated(*parts, *more, route(more=f"rules: {rules}")).topology.routes
    expected = reason if controller in NAMING_CORE else "InvalidKind"
    assert [backend.reason for backend in state.backends] == [expected]
    resolved = next(each for each in state.parents[0].conditions if each.type == "ResolvedRefs")
    assert (resolved.status == "True") == (not expected)


@pytest.mark.parametrize(("named", "granted"), [("core", None), ("''", True), ("apps", False)])
def test_a_grant_of_the_core_group_by_name_may_be_one(named: str, granted: bool | None) -> None:
    parts = (service("cards", "pay"), worlds.grant("pay", ROUTES, TO_SERVICES % named), gateway(), gateway_class())
    rules = "[{backendRefs: [{name: cards, namespace: pay, port: 80}]}]"
    (backend,) = simulated(*parts, route(more=f"rules: {rules}")).topology.routes[0].backends
    assert backend.granted is granted


@pytest.mark.parametrize(("group", "works"), [("core", True), ("''", True), ("apps", False)])
def test_a_certificate_of_the_core_group_by_name(group: str, works: bool) -> None:
    """kubernetes-ingress-controller gateway_utils.go; traefik gateway/kubernetes.go: both take it."""
    tls = f"tls: {{certificateRefs: [{{group: {group}, kind: Secret, name: cert}}]}}"
    listeners = f"[{{name: https, port: 443, protocol: HTTPS, {tls}}}]"
    topology = simulated(
        gateway_class("kong", CONTROLLERS["kong"]), gateway(listeners=listeners, of_class="kong")
    ).topology
    (state,) = (each for known in topology.gateways for listener in known.listeners for each in listener.references)
    assert (state.reason == "InvalidCertificateRef" and "kind" in state.message) == (not works)


@pytest.mark.parametrize(("controller", "reason"), [("eg", "UnsupportedValue"), ("traefik", "BackendNotFound")])
@pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute", "TCPRoute"])
def test_a_name_is_no_backend_of_any_kind_of_route(controller: str, reason: str, kind: str) -> None:
    """A mirror of a rule is a backend, too."""
    protocol, port = ("TCP", 5432) if kind == "TCPRoute" else ("HTTP", 80)
    mirror = "filters: [{type: RequestMirror, requestMirror: {backendRef: {name: own, port: 80}}}], "
    named, served = "backendRefs: [{name: own, port: 80}]", "backendRefs: [{name: checkout, port: 80}]"
    rules = f"[{{{mirror}{served}}}]" if kind == "HTTPRoute" else f"[{{{named}}}]"
    listeners = f"[{{name: any, protocol: {protocol}, port: {port}, allowedRoutes: {{namespaces: {{from: All}}}}}}]"
    simulation = simulated(
        gateway_class(controller, CONTROLLERS[controller]),
        gateway(of_class=controller, listeners=listeners),
        worlds.manifest(
            f"gateway.networking.k8s.io/{'v1alpha2' if kind == 'TCPRoute' else 'v1'}",
            kind,
            "any",
            "shop",
            f"spec: {{parentRefs: [{{name: edge, namespace: infra}}], rules: {rules}}}",
        ),
        service(),
        worlds.manifest("v1", "Service", "own", "shop", BACKENDS["ExternalName"][2]),
    )
    (state,) = simulation.topology.routes
    (parent,) = state.parents
    resolved = next(each for each in parent.conditions if each.type == "ResolvedRefs")
    assert (resolved.status, resolved.reason) == ("False", reason)
