"""backendRefs: kind, existence, port, ReferenceGrant (docs/design/request-precedence.md §6 and §7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.model import Unseen
from policylint.workspace import open_workspace
from tests.worlds import conditions, gateway, grant, manifest, opened, route, service, topology

FROM_SHOP = grant(
    "pay",
    "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}",
    "{group: '', kind: Service}",
)
PORTS = "[{name: http, port: 80}, {name: admin, port: 81}]"
ENVOY_BACKEND = manifest("gateway.envoyproxy.io/v1alpha1", "Backend", "outside", "shop")
CUSTOM = manifest("example.com/v1", "Pool", "pool", "shop")


def rules(*references: str) -> str:
    return f"rules: [{', '.join(f'{{backendRefs: [{each}]}}' for each in references)}]"


@pytest.mark.parametrize(
    ("reference", "state", "reason", "port_found", "section"),
    [
        ("{name: checkout, port: 80}", "found", "", True, "http"),
        ("{name: checkout, port: 81}", "found", "", True, "admin"),
        ("{name: checkout, port: 8080}", "found", "", False, None),
        ("{name: checkout}", "found", "", None, None),
        ("{name: unnamed, port: 80}", "found", "", True, None),
        ("{name: gone, port: 80}", "missing", "BackendNotFound", None, None),
        ("{name: '${SERVICE}', port: 80}", "unknown", "", None, None),
        ("{name: checkout, port: '${PORT}'}", "found", "", None, None),
        ("{kind: NonExistent, name: checkout, port: 80}", "missing", "InvalidKind", None, None),
        ("{group: '', kind: ConfigMap, name: checkout}", "missing", "InvalidKind", None, None),
        ("{group: gateway.envoyproxy.io, kind: Backend, name: outside}", "found", "", None, None),
        ("{group: gateway.envoyproxy.io, kind: Backend, name: gone}", "missing", "BackendNotFound", None, None),
        ("{group: example.com, kind: Pool, name: pool}", "found", "", None, None),
        ("{group: example.com, kind: Pool, name: gone}", "missing", "BackendNotFound", None, None),
        ("{group: example.org, kind: Pool, name: pool}", "missing", "InvalidKind", None, None),
        ("{group: networking.istio.io, kind: Hostname, name: a.com, port: 80}", "unknown", "", None, None),
        ("{name: cards, namespace: pay, port: 80}", "found", "RefNotPermitted", True, "http"),
        ("{}", "missing", "BackendNotFound", None, None),
        ("{name: 7, port: x}", "missing", "BackendNotFound", None, None),
    ],
)
def test_a_backend_ref(reference: str, state: str, reason: str, port_found: bool | None, section: str | None) -> None:
    found = topology(
        gateway(),
        service(ports=PORTS),
        service("unnamed", ports="[{port: 80}]"),
        service("cards", "pay"),
        ENVOY_BACKEND,
        CUSTOM,
        route(more=rules(reference)),
    ).routes[0]
    backend = found.backends[0]
    assert (backend.resolution.state, backend.reason, backend.port_found) == (state, reason, port_found)
    assert (backend.section.section if backend.section else None) == section
    assert backend.pointer == ("spec", "rules", 0, "backendRefs", 0)
    resolved = f"ResolvedRefs={not reason}/{reason or 'ResolvedRefs'}"
    assert conditions(found.parents[0].conditions) == ["Accepted=True/Accepted", resolved]


def test_a_grant_lets_a_route_name_a_service_elsewhere() -> None:
    more = rules("{name: cards, namespace: pay, port: 80}")
    backend = topology(gateway(), service("cards", "pay"), FROM_SHOP, route(more=more)).routes[0].backends[0]
    assert (backend.granted, backend.reason) == (True, "")


def test_the_first_failing_ref_names_the_reason() -> None:
    more = rules("{name: checkout, port: 80}", "{name: cards, namespace: pay, port: 80}, {kind: Nope, name: x}")
    found = topology(gateway(), service(), service("cards", "pay"), route(more=more)).routes[0]
    assert conditions(found.parents[0].conditions)[1] == "ResolvedRefs=False/RefNotPermitted"


def test_a_mirror_is_judged_but_is_no_step_of_a_path() -> None:
    more = (
        "rules: [{filters: [{type: RequestMirror, requestMirror: {backendRef: {name: gone, port: 80}}}],"
        " backendRefs: [{name: checkout, port: 80}]}]"
    )
    found = topology(gateway(), service(), route(more=more)).routes[0]
    assert [(each.role, each.reason) for each in found.backends] == [
        ("RequestMirror", "BackendNotFound"),
        ("backend", ""),
    ]
    assert found.backends[0].pointer == ("spec", "rules", 0, "filters", 0, "requestMirror", "backendRef")


def test_the_port_of_the_routes_protocol_is_taken() -> None:
    ports = "[{name: dns-tcp, port: 53}, {name: dns, port: 53, protocol: UDP}]"
    more = rules("{name: dns, port: 53}")
    found = topology(
        service("dns", ports=ports), route("u", kind="UDPRoute", more=more), route("t", kind="TCPRoute", more=more)
    )
    sections = {each.route.key.kind: each.backends[0].section for each in found.routes}
    assert {kind: node.section for kind, node in sections.items() if node} == {"TCPRoute": "dns-tcp", "UDPRoute": "dns"}


def test_what_a_chart_may_bring_is_unknown() -> None:
    unseen = Unseen()
    unseen.add("HelmRelease shop/app is not rendered", "shop")
    found = topology(gateway(), route(more=rules("{name: app, port: 80}")), unseen=unseen).routes[0]
    assert found.backends[0].resolution.unknown
    assert not found.backends[0].reason


def test_a_consumer_route_may_name_the_service_it_is_for() -> None:
    more = rules("{name: cards, namespace: pay, port: 80}")
    parents = "[{group: '', kind: Service, name: cards, namespace: pay}]"
    backend = topology(service("cards", "pay"), route(parents=parents, more=more)).routes[0].backends[0]
    assert (backend.granted, backend.reason) == (True, "")


@pytest.mark.parametrize(
    ("reference", "beside", "state", "reason"),
    [
        ("{name: checkout, port: 80}", "", "unknown", ""),
        ("{group: gateway.envoyproxy.io, kind: Backend, name: outside}", "", "unknown", ""),
        ("{group: example.org, kind: Pool, name: pool}", "", "unknown", ""),
        ("{kind: NonExistent, name: checkout}", "", "missing", "InvalidKind"),
        ("{name: '', port: 80}", "", "missing", "BackendNotFound"),
        ("{name: checkout, port: 80}", service("cart"), "missing", "BackendNotFound"),
        ("{name: checkout, port: 80}", service("checkout", "pay"), "missing", "BackendNotFound"),
    ],
)
def test_a_tree_leaves_backends_of_places_that_it_has_none_of_to_others(
    tmp_path: Path, reference: str, beside: str, state: str, reason: str
) -> None:
    manifests = "---\n".join(filter(None, [gateway(), route(more=rules(reference)), beside]))
    (tmp_path / "world.yaml").write_text(manifests, encoding="utf-8")
    backend = open_workspace([str(tmp_path)]).simulations[0].topology.routes[0].backends[0]
    assert (backend.resolution.state, backend.reason) == (state, reason)


def test_files_that_are_named_are_all_there_is(tmp_path: Path) -> None:
    simulation = opened(tmp_path, gateway(), route(more=rules("{name: checkout, port: 80}")))
    assert simulation.topology.routes[0].backends[0].reason == "BackendNotFound"


@pytest.mark.parametrize(
    ("parents", "reason"),
    [
        ("[{group: core, kind: Service, name: checkout}]", ""),
        ("[{group: '', kind: Service, name: checkout}]", ""),
        ("[{name: edge, namespace: infra}]", "InvalidKind"),
    ],
)
@pytest.mark.parametrize("group", ["core", "Core"])
def test_a_mesh_reads_core_for_the_group_of_services(parents: str, reason: str, group: str) -> None:
    """linkerd2 policy-controller/k8s/index/src/outbound/index.rs, is_service; Gateways of no implementation do."""
    backend = f"[{{backendRefs: [{{group: {group}, kind: Service, name: checkout, port: 80}}]}}]"
    found = topology(gateway(), service(), route(parents=parents, more=f"rules: {backend}")).routes[0].backends
    assert [(each.reason, each.resolution.found) for each in found] == [(reason, not reason)]
