"""Who a client is, by whichever of its names it is called, has one answer: for traces, regions and `diff`.

istio.io/docs/ambient/usage/l7-features (ztunnel applies no routes); gateway-api.sigs.k8s.io/geps/gep-1426 (routes of
Services are applied by the proxy of the client); linkerd.io/2/features/proxy-injection.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from policylint.compare import compare, pair_sides
from policylint.reach import ways_inside
from policylint.simulation import Simulation
from policylint.simulation.clients import UNMESHED
from policylint.trace import Tracer, request
from tests.contract.test_contract import disagreements as between_readers
from tests.contract.test_contract import disagreements_of
from tests.reach.test_agreement import disagreements
from tests.worlds import manifest, service, simulated

ROUTES = {
    "http": ("HTTPRoute", "v1", "http", "/", {}),
    "tcp": ("TCPRoute", "v1alpha2", "tcp", "", {}),
    "tls": ("TLSRoute", "v1alpha3", "tls", "", {"sni": "web.example.com"}),
}
ISTIO = {
    "ambient": "istio.io/dataplane-mode: ambient",
    "injected": "istio-injection: enabled",
    "disabled": "istio-injection: disabled",
}
LINKERD = {"injected": "linkerd.io/inject: enabled", "disabled": "linkerd.io/inject: disabled"}
ROUTED, STRAIGHT, OPEN = "other", "web", "unknown"


def workload(name: str, namespace: str, account: str = "", **marks: str) -> str:
    labels, annotations = marks.get("labels", ""), marks.get("annotations", "")
    pods = f"metadata: {{labels: {{app: {name}, {labels}}}, annotations: {{{annotations}}}}}"
    spec = f"spec: {{serviceAccountName: {account or name}, containers: [{{name: c}}]}}"
    selector = f"selector: {{matchLabels: {{app: {name}}}}}"
    return manifest("apps/v1", "Deployment", name, namespace, f"spec: {{{selector}, template: {{{pods}, {spec}}}}}")


def route(kind: str, namespace: str = "shop") -> str:
    name, version, *_ = ROUTES[kind]
    parent, hosts = "{group: '', kind: Service, name: web, namespace: shop}", "hostnames: [web.example.com], "
    rules = "rules: [{backendRefs: [{name: other, namespace: shop, port: 80}]}]"
    spec = f"spec: {{parentRefs: [{parent}], {hosts if kind == 'tls' else ''}{rules}}}"
    return manifest(f"gateway.networking.k8s.io/{version}", name, "mesh", namespace, spec)


GRANT = manifest(
    "gateway.networking.k8s.io/v1beta1", "ReferenceGrant", "all", "shop",
    "spec: {from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: ops}], "
    "to: [{group: '', kind: Service}]}",
)  # fmt: skip


def world(kind: str, mesh: str, mode: str, *more: str) -> Simulation:
    """Services web and other of namespace shop, a route from one to the other, and clients in namespace ops."""
    marked = f"labels: {{{ISTIO[mode]}}}" if mesh == "istio" else f"annotations: {{{LINKERD[mode]}}}"
    inside = f"labels: {{{ISTIO['injected']}}}" if mesh == "istio" else f"annotations: {{{LINKERD['injected']}}}"
    port = "http" if kind == "http" else "tcp"
    spaces = manifest("v1", "Namespace", "shop", more=inside), manifest("v1", "Namespace", "ops", more=marked)
    services = (
        service(name, ports=f"[{{name: {port}, port: 80}}]", more=f"selector: {{app: {name}}}")
        for name in ("web", "other")
    )
    pods = workload("web", "shop"), workload("other", "shop"), workload("client", "ops")
    return simulated(*spaces, *services, *pods, route(kind), *more)


def sent(kind: str, client: str) -> Any:
    _, _, scheme, path, more = ROUTES[kind]
    asked = {"scheme": scheme, "host": "web.shop", "port": 80, "client": client, "service": "Service/shop/web"}
    return request({**asked, **({"path": path} if path else {}), **more})


def end(simulation: Simulation, kind: str, client: str) -> str:
    outcome = Tracer(simulation).trace(sent(kind, client)).outcome
    return OPEN if outcome.unknown else ",".join(sorted(key.name for key in outcome.backends))


def ends_by_regions(simulation: Simulation, client: str, scheme: str) -> set[str]:
    tracer = Tracer(simulation)
    ways = ways_inside(tracer, None, tracer.simulation.clients.identities(client))
    outcomes = [way.trace.outcome for way in ways if way.entry.gateway.name == "web" and way.entry.scheme == scheme]
    return {OPEN if each.unknown else ",".join(sorted(key.name for key in each.backends)) for each in outcomes}


MET = {
    "istio": {"ambient": STRAIGHT, "injected": ROUTED, "disabled": STRAIGHT},
    "linkerd": {"injected": ROUTED, "disabled": STRAIGHT},
}


@pytest.mark.parametrize(
    ("kind", "mesh", "mode"), [(kind, *each) for kind in ROUTES for each in ((m, mode) for m in MET for mode in MET[m])]
)
def test_a_client_meets_what_its_pods_meet_by_whichever_name(kind: str, mesh: str, mode: str) -> None:
    simulation = world(kind, mesh, mode)
    expected = MET[mesh][mode]
    for client in ("Deployment/ops/client", "ServiceAccount/ops/client", "namespace/ops"):
        assert (client, end(simulation, kind, client)) == (client, expected)
    assert end(simulation, kind, UNMESHED) == STRAIGHT
    scheme = "tls" if kind == "tls" else "http" if kind == "http" else "tcp"
    for client in ("Deployment/ops/client", "ServiceAccount/ops/client"):
        assert ends_by_regions(simulation, client, scheme) == {expected}
    assert disagreements(simulation, 100)[1] == []
    assert list(between_readers(simulation)) == []


@pytest.mark.parametrize(("mesh", "mode"), [("istio", "ambient"), ("istio", "disabled"), ("linkerd", "disabled")])
def test_of_an_account_that_nobody_was_seen_to_have_nothing_is_known(mesh: str, mode: str) -> None:
    assert end(world("http", mesh, mode), "http", "ServiceAccount/ops/ghost") == ROUTED


KEPT_OUT = {
    "istio": {"labels": "istio.io/dataplane-mode: none, sidecar.istio.io/inject: 'false'"},
    "linkerd": {"annotations": "linkerd.io/inject: disabled"},
}


@pytest.mark.parametrize(("kind", "mesh"), list(product(ROUTES, KEPT_OUT)))
def test_an_account_is_shown_by_those_of_its_workloads_that_are_in_the_mesh(kind: str, mesh: str) -> None:
    simulation = world(kind, mesh, "injected", workload("batch", "ops", "client", **KEPT_OUT[mesh]))
    ends = [end(simulation, kind, name) for name in ("Deployment/ops/batch", "Deployment/ops/client")]
    assert ends == [STRAIGHT, ROUTED]
    assert end(simulation, kind, "ServiceAccount/ops/client") == ROUTED
    assert end(simulation, kind, "namespace/ops") == OPEN
    assert disagreements(simulation, 100)[1] == []


def test_where_workloads_of_an_account_meet_other_routes_nobody_knows_which_count() -> None:
    ambient = {"labels": "istio.io/dataplane-mode: ambient, sidecar.istio.io/inject: 'false'"}
    simulation = world("http", "istio", "injected", workload("batch", "ops", "client", **ambient))
    trace = Tracer(simulation).trace(sent("http", "ServiceAccount/ops/client"))
    assert trace.outcome.unknown
    assert "which workload of ServiceAccount/ops/client sends it" in trace.outcome.reason
    assert ends_by_regions(simulation, "ServiceAccount/ops/client", "http") == {OPEN}
    assert disagreements(simulation, 100)[1] == []


def waypointed(mode: str, *more: str) -> Simulation:
    """Service web of namespace shop behind a waypoint, and a client in namespace ops."""
    bound = manifest("v1", "Service", "web", "shop", "spec: {ports: [{name: http, port: 80}], selector: {app: web}}")
    bound = bound.replace("metadata: {", "metadata: {labels: {istio.io/use-waypoint: waypoint}, ")
    waypoint = manifest(
        "gateway.networking.k8s.io/v1", "Gateway", "waypoint", "shop",
        "spec: {gatewayClassName: istio-waypoint, listeners: [{name: mesh, port: 15008, protocol: HBONE}]}",
    )  # fmt: skip
    modes = {"shop": "ambient", "ops": mode}
    spaces = (manifest("v1", "Namespace", name, more=f"labels: {{{ISTIO[modes[name]]}}}") for name in modes)
    pods = workload("other", "shop"), workload("web", "shop"), workload("client", "ops")
    other = service("other", ports="[{name: http, port: 80}]", more="selector: {app: other}")
    return simulated(*spaces, bound, other, waypoint, *pods, *more)


def test_an_account_behind_ztunnel_meets_the_routes_of_the_service_and_not_those_of_its_own_namespace() -> None:
    """A waypoint applies the routes of the Service's namespace alone (istio.io, «Waypoint proxies»)."""
    own = route("http", "ops").replace("name: other", "name: web")
    beside = workload("near", "ops", labels="sidecar.istio.io/inject: 'true'")
    simulation = waypointed("ambient", beside, route("http"), own, GRANT)
    for client, expected in (("client", ROUTED), ("near", STRAIGHT)):
        for kind in ("Deployment", "ServiceAccount"):
            assert (client, kind, end(simulation, "http", f"{kind}/ops/{client}")) == (client, kind, expected)
    assert ends_by_regions(simulation, "ServiceAccount/ops/client", "http") == {ROUTED}
    assert ends_by_regions(simulation, "ServiceAccount/ops/near", "http") == {STRAIGHT}
    assert disagreements(simulation, 200, mixed=True)[1] == []


def rule(more: str) -> str:
    return manifest("security.istio.io/v1", "AuthorizationPolicy", "p", "shop", f"spec: {{{more}}}")


ONLY_CLIENT = rule("selector: {matchLabels: {app: web}}, rules: [{from: [{source: {serviceAccounts: [ops/client]}}]}]")


@pytest.mark.parametrize(("mode", "let_in"), [("injected", True), ("ambient", True), ("disabled", False)])
def test_nobody_shows_the_identity_of_an_account_whose_pods_are_outside(mode: str, *, let_in: bool) -> None:
    simulation = world("http", "istio", mode, ONLY_CLIENT, route("http").replace("name: other", "name: web"))
    traced = [Tracer(simulation).trace(sent("http", f"{kind}/ops/client")) for kind in ("Deployment", "ServiceAccount")]
    assert [bool(trace.outcome.backends) for trace in traced] == [let_in, let_in]
    assert disagreements(simulation, 100)[1] == []
    assert list(between_readers(simulation)) == []


def test_policies_of_a_waypoint_are_none_of_who_goes_past_it() -> None:
    login = manifest(
        "security.istio.io/v1", "AuthorizationPolicy", "front", "shop",
        "spec: {targetRefs: [{group: '', kind: Service, name: web}], rules: [{from: [{source: {principals: ['*']}}]}]}",
    )  # fmt: skip
    for mode, passes in (("disabled", False), ("injected", False), ("ambient", True)):
        simulation = waypointed(mode, login)
        for client in ("Deployment/ops/client", "ServiceAccount/ops/client"):
            assert bool(Tracer(simulation).trace(sent("http", client)).policies) is passes
        assert Tracer(simulation).trace(sent("http", UNMESHED)).policies == ()
        assert disagreements(simulation, 100)[1] == []
        assert list(between_readers(simulation)) == []


@pytest.mark.parametrize("kind", ROUTES)
def test_a_diff_asks_for_services_whose_routes_lead_to_what_changes(kind: str) -> None:
    """What turned connections away where a route of another Service leads goes: its own entry is opened."""
    closed = rule("selector: {matchLabels: {app: other}}, action: DENY, rules: [{}]")
    before, after = world(kind, "istio", "injected", closed), world(kind, "istio", "injected")
    assert list(disagreements_of(before, after)) == []
    (sides,) = pair_sides([before], [after])
    (found,) = compare([sides])
    assert found.requests is not None
    opened = {requests.gateway.name for change in found.requests.opens for requests in change.requests}
    assert opened == {"web", "other"}
