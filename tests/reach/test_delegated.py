"""Routes that delegate: the requests of each child are a way in of their own.

Source: kgateway pkg/kgateway/translator/httproute/delegation_helpers.go @ 48460f7f9.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.reach.ways import all_ways
from tests.reach.test_agreement import disagreements
from tests.reach.test_reach import said, ways, written
from tests.worlds import gateway, gateway_class, manifest, opened, route, service

EDGE = (gateway_class("kgw", "kgateway.dev/kgateway"), gateway(of_class="kgw"), service("app"), service("app", "infra"))
LOGIN = manifest(
    "gateway.kgateway.dev/v1alpha1",
    "TrafficPolicy",
    "login",
    "shop",
    "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: admin}], apiKeyAuth: "
    "{secretRef: {name: keys}}}",
)


def delegating(to: str = "'*', namespace: shop", value: str = "/team", name: str = "top", more: str = "") -> str:
    group, _, kind = to.rpartition("|")
    reference = f"{group or 'group: gateway.networking.k8s.io, kind: HTTPRoute'}, name: {kind}"
    rule = f"{{matches: [{{path: {{value: {value}}}{more}}}], backendRefs: [{{{reference}}}]}}"
    return route(name, "infra", more=f"hostnames: [shop.example.com], rules: [{rule}]")


def child(name: str, match: str, parents: str = "", annotations: str = "", backend: str = "name: app, port: 80") -> str:
    rules = f"rules: [{{matches: [{{{match}}}], backendRefs: [{{{backend}}}]}}]"
    return route(name, parents=parents, more=rules, annotations=annotations)


PLAIN = child("plain", "path: {value: /team/plain}")
ADMIN = child("admin", "path: {value: /team/admin}, headers: [{name: x-role, value: admin}]")
RELATIVE = child(
    "relative", "path: {value: /below}", annotations="delegation.kgateway.dev/inherit-parent-matcher: 'true'"
)
MIDDLE = child(
    "middle", "path: {value: /team/deep}", backend="group: gateway.networking.k8s.io, kind: HTTPRoute, name: leaf"
)
LEAF = child("leaf", "path: {value: /team/deep/leaf}, method: POST")
CIRCLE = child(
    "leaf", "path: {value: /team/deep}", backend="group: gateway.networking.k8s.io, kind: HTTPRoute, name: middle"
)
ONE = delegating("plain, namespace: shop")
OTHER = route("other", more="hostnames: [shop.example.com], rules: [{backendRefs: [{name: app, port: 80}]}]")
NARROW = route(
    "narrow",
    more="hostnames: [shop.example.com], rules: [{matches: [{path: {value: /team}, headers: [{name: x-a, value: b}]}, "
    "{path: {value: /team/plain/own}}], backendRefs: [{name: app, port: 80}]}]",
)
WORLDS: dict[str, tuple[Any, ...]] = {
    "one child": ({"plain"}, ONE, PLAIN),
    "a login on one of two": ({"plain", "admin"}, delegating(), PLAIN, ADMIN, LOGIN),
    "relative": ({"plain", "relative"}, delegating(), RELATIVE, PLAIN),
    "two deep": ({"leaf"}, delegating("middle, namespace: shop"), MIDDLE, LEAF),
    "in a circle": (set(), delegating("middle, namespace: shop"), MIDDLE, CIRCLE),
    "beside a rule of its own": ({"plain", "other"}, ONE, PLAIN, OTHER),
    "beside rules by a header and by a path below": ({"plain", "other", "narrow"}, ONE, PLAIN, OTHER, NARROW),
    "several, relative, beside a rule of its own": (
        {"plain", "relative", "other"},
        delegating(),
        RELATIVE,
        PLAIN,
        OTHER,
    ),
    "two deep, beside a rule of its own": (
        {"leaf", "other"},
        delegating("middle, namespace: shop"),
        MIDDLE,
        LEAF,
        OTHER,
    ),
    "by label": (
        {"plain"},
        delegating("group: delegation.kgateway.dev, kind: label|team-a, namespace: shop"),
        PLAIN.replace("{name: plain", "{labels: {delegation.kgateway.dev/label: team-a}, name: plain"),
    ),
}


def test_what_a_child_takes_is_a_way_of_its_own(tmp_path: Path) -> None:
    written(tmp_path, "---".join((*EDGE, delegating(), PLAIN, ADMIN, LOGIN)))
    assert said(ways(tmp_path, "--without", "authentication")) == [("shop.example.com", "/team/plain/**", "open")]
    of_admin = next(way for way in ways(tmp_path) if way["route"] == "HTTPRoute shop/admin")
    assert of_admin["requests"] == "/team/admin/** x-role: admin"
    assert of_admin["asked"]["authentication"]["state"] == "asked"


@pytest.mark.parametrize(("routes", "manifests"), [(each[0], each[1:]) for each in WORLDS.values()], ids=WORLDS)
def test_every_request_is_answered_as_trace_does(tmp_path: Path, routes: set[str], manifests: tuple[str, ...]) -> None:
    simulation = opened(tmp_path, *EDGE, *manifests)
    tried, wrong = disagreements(simulation, 200, mixed=True)
    assert (tried > 10, wrong) == (True, [])
    assert routes <= {way.trace.route.key.name for way in all_ways(simulation) if way.trace.route is not None}
