"""Contexts: the maximal paths of the topology (docs/design/interfaces.md §3), and what hangs on nothing."""

from __future__ import annotations

import pytest

from policylint.model import GATEWAY_GROUP, Node, ResourceKey, Unseen
from policylint.topology import whole
from tests.worlds import gateway, gateway_class, listener_set, paths, route, service, topology

CLASS = gateway_class()
TO_CHECKOUT = "rules: [{name: pay, backendRefs: [{name: checkout, port: 80}]}]"
TO_PORT = " > ".join(
    [
        "HTTPRoute shop/checkout",
        "HTTPRouteRule shop/checkout#pay",
        "Service shop/checkout",
        "ServicePort shop/checkout#http",
    ]
)
ROUTE = ResourceKey(GATEWAY_GROUP, "HTTPRoute", "shop", "checkout")


def test_a_path_runs_from_the_class_to_the_port() -> None:
    assert paths(topology(CLASS, gateway(), service(), route(more=TO_CHECKOUT))) == [
        f"GatewayClass any > Gateway infra/edge > Listener infra/edge#http > {TO_PORT}"
    ]


@pytest.mark.parametrize(
    ("manifests", "expected"),
    [
        ([gateway()], ["Gateway infra/edge > Listener infra/edge#http"]),
        ([gateway(listeners="[null]")], ["Gateway infra/edge"]),
        ([CLASS], ["GatewayClass any"]),
        ([service()], ["Service shop/checkout > ServicePort shop/checkout#http"]),
        ([service(ports="[{port: 80}]")], ["Service shop/checkout"]),
        ([service(ports="null")], ["Service shop/checkout"]),
        (
            [service(ports="[{name: a, port: 1}, {name: b, port: 2}]")],
            [
                "Service shop/checkout > ServicePort shop/checkout#a",
                "Service shop/checkout > ServicePort shop/checkout#b",
            ],
        ),
        ([route(parents="[]")], []),
    ],
)
def test_what_stands_alone(manifests: list[str], expected: list[str]) -> None:
    assert paths(topology(*manifests)) == expected


def test_which_port_is_the_rules_affair() -> None:
    ports = "[{name: a, port: 1}, {name: b, port: 2}]"
    rules = "rules: [{backendRefs: [{name: s, port: 1}]}, {backendRefs: [{name: s}, {name: s, port: 9}]}]"
    found = topology(gateway(), service("s", ports=ports), route(more=rules))
    start = "Gateway infra/edge > Listener infra/edge#http > HTTPRoute shop/checkout > HTTPRouteRule shop/checkout#"
    assert paths(found) == [
        f"{start}rule-1 > Service shop/s > ServicePort shop/s#a",
        f"{start}rule-2 > Service shop/s",
    ]
    assert len(found.vertices_of(Node(ResourceKey("", "Service", "shop", "s")))) == 2


def test_listener_sets_are_a_level_of_their_own() -> None:
    found = topology(
        gateway(more="allowedListeners: {namespaces: {from: All}}"),
        listener_set("extra", "shop", "[{name: web, port: 81, protocol: HTTP}]"),
        route(parents="[{kind: ListenerSet, name: extra}]"),
    )
    extra = "ListenerSet shop/extra"
    assert paths(found) == [
        "Gateway infra/edge > Listener infra/edge#http",
        f"Gateway infra/edge > {extra} > {extra}#web > HTTPRoute shop/checkout > HTTPRouteRule shop/checkout#rule-1",
    ]


@pytest.mark.parametrize(
    ("backend", "steps"),
    [
        ("{name: gone, port: 80}", ""),
        ("{name: cards, namespace: pay, port: 80}", ""),
        ("{kind: ConfigMap, name: checkout}", ""),
        ("{name: checkout, port: 8080}", " > Service shop/checkout"),
        ("{name: checkout, port: 80, weight: 0}", " > Service shop/checkout > ServicePort shop/checkout#http"),
    ],
)
def test_a_path_ends_where_a_backend_is_missing_or_refused(backend: str, steps: str) -> None:
    found = topology(
        gateway(), service(), service("cards", "pay"), route(more=f"rules: [{{backendRefs: [{backend}]}}]")
    )
    start = (
        "Gateway infra/edge > Listener infra/edge#http > HTTPRoute shop/checkout > HTTPRouteRule shop/checkout#rule-1"
    )
    assert start + steps in paths(found)


@pytest.mark.parametrize(
    ("parents", "reason"),
    [
        ("[]", "it has no parentRefs"),
        ("[{name: gone}]", "Gateway shop/gone: nothing deploys Gateway shop/gone"),
        (
            "[{name: edge, namespace: infra, sectionName: nope}]",
            "Gateway infra/edge#nope: Gateway infra/edge has no such",
        ),
    ],
)
def test_a_route_that_hangs_on_nothing_is_kept_and_marked(parents: str, reason: str) -> None:
    found = topology(gateway(), service(), route(parents=parents, more=TO_CHECKOUT))
    vertex = found.vertices_of(whole(ROUTE))[0]
    assert found.detached[vertex].reason.startswith(reason)
    assert not found.detached[vertex].unknown
    assert vertex not in found.roots
    assert not found.reachable[vertex]
    # The Service that only this route names stands alone.
    assert "Service shop/checkout > ServicePort shop/checkout#http" in paths(found)


def test_an_unknown_parent_is_a_root() -> None:
    unseen = Unseen()
    unseen.add("HelmRelease infra/gateways is not rendered", "infra")
    found = topology(service(), route(more=TO_CHECKOUT), unseen=unseen)
    assert not found.detached
    assert paths(found) == [f"Gateway infra/edge > {TO_PORT}"]


def test_a_mesh_route_is_a_root_without_a_gateway() -> None:
    found = topology(service(), route(parents="[{group: '', kind: Service, name: checkout}]", more=TO_CHECKOUT))
    assert paths(found) == [TO_PORT]
    assert not found.detached


def test_sections_by_name_and_the_synthetic_ones_apart() -> None:
    rules = "rules: [{name: pay}, {}]"
    found = topology(gateway(), service(), route(more=rules))
    assert str(found.node_for(ROUTE)) == "HTTPRoute shop/checkout"
    assert str(found.node_for(ROUTE, "pay")) == "HTTPRouteRule shop/checkout#pay"
    assert set(found.sections(ROUTE)) == {"pay"}
    assert set(found.synthetic_sections(ROUTE)) == {"rule-2"}
    synthetic = found.node_for(ROUTE, "rule-2")
    assert synthetic is not None
    assert found.is_synthetic(synthetic)
    assert found.node_for(ROUTE, "rule-1") is None
    edge = ResourceKey(GATEWAY_GROUP, "Gateway", "infra", "edge")
    assert str(found.node_for(edge, "http")) == "Listener infra/edge#http"
    checkout = ResourceKey("", "Service", "shop", "checkout")
    assert str(found.node_for(checkout, "http")) == "ServicePort shop/checkout#http"
    assert found.node_for(checkout, "80") is None
    assert found.node_for(checkout._replace(name="gone")) is None


def test_kinds_of_one_name_in_other_groups_are_not_mixed_up() -> None:
    knative = service().replace("apiVersion: v1", "apiVersion: serving.knative.dev/v1")
    istio = gateway().replace("gateway.networking.k8s.io", "networking.istio.io")
    found = topology(istio, knative, route(more=TO_CHECKOUT))
    assert not found.gateways
    assert found.routes[0].parents[0].resolution.resource is None
    assert found.routes[0].backends[0].resolution.missing


def test_ids_do_not_depend_on_the_order_of_the_input() -> None:
    manifests = [
        CLASS,
        gateway(),
        gateway("b"),
        service(),
        service("x"),
        route(more=TO_CHECKOUT),
        route("z", kind="GRPCRoute"),
    ]
    one, other = topology(*manifests), topology(*reversed(manifests))
    assert one.vertices == other.vertices
    assert (one.children, one.roots) == (other.children, other.roots)
