"""Delegated routes extend the path; circles are cut and can be asked for."""

from __future__ import annotations

import pytest

from policylint.topology import cycles, to_networkx
from tests.topology.worlds import gateway, paths, route, topology

START = "Gateway infra/edge > Listener infra/edge#http > HTTPRoute shop/top > HTTPRouteRule shop/top#rule-1"


def to(name: str, namespace: str = "team", group: str = "gateway.networking.k8s.io", kind: str = "HTTPRoute") -> str:
    reference = f"{{group: {group}, kind: {kind}, name: '{name}', namespace: {namespace}}}"
    return f"rules: [{{backendRefs: [{reference}]}}]"


@pytest.mark.parametrize(
    ("reference", "child", "delegated"),
    [
        (to("child"), route("child", "team", parents="[]", more="rules: [{}]"), True),
        (to("*"), route("child", "team", parents="[]", more="rules: [{}]"), True),
        (to("*"), route("child", "other", parents="[]", more="rules: [{}]"), False),
        (to("*"), route("child", "team", parents="[{name: gone}]", more="rules: [{}]"), False),
        (
            to("*"),
            route("child", "team", parents="[{kind: HTTPRoute, name: top, namespace: shop}]", more="rules: [{}]"),
            True,
        ),
        (to("child"), route("child", "team", parents="[{kind: HTTPRoute, name: else}]", more="rules: [{}]"), False),
        (to("child"), route("other", "team", parents="[]"), False),
    ],
)
def test_a_rule_hands_over_to_a_route(reference: str, child: str, delegated: bool) -> None:
    found = topology(gateway(), route("top", more=reference), child)
    extended = f"{START} > HTTPRoute team/child > HTTPRouteRule team/child#rule-1"
    assert paths(found) == ([extended] if delegated else [START])
    assert bool(found.delegations) is delegated


@pytest.mark.parametrize(("namespace", "delegated"), [("team", True), ("all", True), ("other", False)])
def test_a_rule_hands_over_by_label(namespace: str, delegated: bool) -> None:
    child = route("child", "team", parents="[]").replace(
        "namespace: team", "namespace: team, labels: {delegation.kgateway.dev/label: a1}"
    )
    found = topology(gateway(), route("top", more=to("a1", namespace, "delegation.kgateway.dev", "label")), child)
    assert paths(found) == [f"{START} > HTTPRoute team/child" if delegated else START]


def test_a_circle_is_cut_where_it_closes_and_reported() -> None:
    found = topology(
        gateway(),
        route("top", more=to("a")),
        route("a", "team", parents="[]", more=to("b")),
        route("b", "team", parents="[]", more=to("a")),
    )
    assert [[str(key) for key in cycle] for cycle in cycles(found)] == [["HTTPRoute team/a", "HTTPRoute team/b"]]
    assert len(paths(found)) == 1
    assert len(found.delegations) == 3


def test_a_route_that_delegates_to_itself() -> None:
    found = topology(gateway(), route("top", more=to("top", "shop")))
    assert paths(found) == [START]
    assert len(cycles(found)) == 1


def test_without_delegation_there_are_no_cycles() -> None:
    assert cycles(topology(gateway(), route())) == []


def test_the_export_has_the_same_ids() -> None:
    found = topology(gateway(), route("top", more=to("child")), route("child", "team", parents="[]"))
    graph = to_networkx(found)
    assert list(graph.nodes) == list(range(len(found.vertices)))
    assert graph.nodes[0]["label"] == "Gateway infra/edge"
    assert sorted(graph.edges) == sorted((p, c) for p, below in enumerate(found.children) for c in below)
