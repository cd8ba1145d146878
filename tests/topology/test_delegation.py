"""Delegated routes extend the path; circles are cut where they close."""

from __future__ import annotations

import pytest

from tests.worlds import gateway, paths, route, topology

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


@pytest.mark.parametrize("group", ["delegation.kgateway.dev", "delegation.gateway.solo.io"])
@pytest.mark.parametrize(("namespace", "delegated"), [("team", True), ("all", True), ("other", False)])
def test_a_rule_hands_over_by_label(group: str, namespace: str, delegated: bool) -> None:
    child = route("child", "team", parents="[]").replace(
        "namespace: team", f"namespace: team, labels: {{{group}/label: a1}}"
    )
    found = topology(gateway(), route("top", more=to("a1", namespace, group, "label")), child)
    assert paths(found) == [f"{START} > HTTPRoute team/child > HTTPRouteRule team/child#rule-1" if delegated else START]


A, B = "{path: {value: /a}}", "{path: {value: /b}}"


@pytest.mark.parametrize(
    ("above", "below", "delegated"),
    [
        (A, "{path: {value: /a/1}}", True),
        (A, "{path: {type: Exact, value: /a/1}}", True),
        (A, "{path: {type: RegularExpression, value: /a/.*}}", True),
        (A, "{path: {type: RegularExpression, value: /.*}}", False),
        (A, B, False),
        (A, f"{B}, {A}", True),
        (f"{A}, {B}", B, True),
        (A, "{path: {type: Exact, value: /}}", False),
        ("{path: {value: /a}, method: GET}", "{path: {value: /a/1}, method: POST}", False),
        ("{path: {value: /a}, method: GET}", "{path: {value: /a/1}, method: GET}", True),
        ("{path: {value: /a}, method: GET}", "{path: {value: /a/1}}", False),
        ("{path: {value: /a}, headers: [{name: x, value: b}]}", "{path: {value: /a/1}}", False),
        ("{path: {value: '/${x}'}}", B, True),
    ],
)
@pytest.mark.parametrize("relative", [False, True])
def test_a_route_that_gets_no_request_of_a_rule_is_not_under_it(
    above: str, below: str, delegated: bool, relative: bool
) -> None:
    top = to("child").replace("rules: [{", f"rules: [{{matches: [{above}], ")
    child = route("child", "team", parents="[]", more=f"rules: [{{matches: [{below}]}}]")
    if relative:
        child = child.replace(
            "namespace: team", "namespace: team, annotations: {delegation.kgateway.dev/inherit-parent-matcher: 'true'}"
        )
    found = topology(gateway(), route("top", more=top), child)
    assert (f"{START} > HTTPRoute team/child > HTTPRouteRule team/child#rule-1" in paths(found)) == (
        delegated or relative
    )
    assert found.delegations  # what is asked for with a request is for `trace` to say
    reasons = [each.reason for each in found.detached.values()]
    assert reasons == ([] if delegated or relative else ["HTTPRoute shop/top hands over no request that it matches"])


def test_a_circle_is_cut_where_it_closes() -> None:
    found = topology(
        gateway(),
        route("top", more=to("a")),
        route("a", "team", parents="[]", more=to("b")),
        route("b", "team", parents="[]", more=to("a")),
    )
    assert len(paths(found)) == 1
    assert len(found.delegations) == 3


def test_a_route_that_delegates_to_itself() -> None:
    found = topology(gateway(), route("top", more=to("top", "shop")))
    assert paths(found) == [START]
