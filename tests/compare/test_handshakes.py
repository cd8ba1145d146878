"""GWP304 for objects of Gateway API itself: who may attach, what may be named, which sites may use credentials."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import worlds
from tests.compare.test_weakening import weakened
from tests.worlds import gateway, gateway_class, manifest, route, service

CLASS = gateway_class()
HTTP = "name: http, port: 80, protocol: HTTP"
SAME = gateway(listeners=f"[{{{HTTP}}}]")
OWN = route(namespace="infra", parents="[{name: edge}]", more="rules: [{backendRefs: [{name: app, port: 80}]}]")


def of_listener(namespaces: str) -> str:
    return gateway(listeners=f"[{{{HTTP}, allowedRoutes: {{namespaces: {{{namespaces}}}}}}}]")


def listener_set(more: str) -> str:
    spec = f"spec: {{parentRef: {{name: edge}}, listeners: [{{name: extra, port: 8080, protocol: HTTP{more}}}]}}"
    return manifest("gateway.networking.k8s.io/v1", "ListenerSet", "team", "infra", spec)


def grant(trusted: str, named: str) -> str:
    spec = f"spec: {{from: [{trusted}], to: [{named}]}}"
    return manifest("gateway.networking.k8s.io/v1beta1", "ReferenceGrant", "trust", "data", spec)


SHOP = "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}"
WEB = SHOP.replace("shop", "web")
DB, ANY = "{group: '', kind: Service, name: db}", "{group: '', kind: Service}"
TEAM = "from: Selector, selector: {matchLabels: {team: a}}"
EDGE, TRUST = "Gateway infra/edge", "ReferenceGrant data/trust"
AT = "spec.listeners[0].allowedRoutes.namespaces"
NOBODY, EVERYBODY = "allowedListeners: {namespaces: {from: None}}", "allowedListeners: {namespaces: {from: All}}"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (SAME, of_listener("from: All"), f"{AT}.from of {EDGE} goes from Same to All, routes of other names"),
        (of_listener(TEAM), of_listener("from: All"), f"{AT}.from of Gateway infra/edge goes from Selector to All"),
        (of_listener("from: Selector, selector: {matchLabels: {team: a, prod: b}}"), of_listener(TEAM),
         f"{AT}.selector.matchLabels of Gateway infra/edge loses prod"),
        (listener_set(""), listener_set(", allowedRoutes: {namespaces: {from: All}}"), "ListenerSet infra/team is"),
        (gateway(more=NOBODY), gateway(more=EVERYBODY), f"allowedListeners.namespaces.from of {EDGE} goes from N"),
        (gateway(), gateway(more=EVERYBODY), f"allowedListeners.namespaces.from of {EDGE} goes from N"),
        (grant(SHOP, DB), grant(SHOP, ANY), f"spec.to of {TRUST} gains every Service, other namespaces may name them"),
        (grant(SHOP, DB), grant(f"{SHOP}, {WEB}", DB), f"spec.from of {TRUST} gains HTTPRoute of web"),
        (grant(SHOP, DB), grant(SHOP, DB.replace("db", "cache")), ""),  # exchanged
        (grant(SHOP, DB), grant(SHOP, f"{DB}, {DB.replace('db', '${NAME}')}"), ""),
        (grant(SHOP, ANY), grant(SHOP, f"{ANY}, {DB}"), ""),
        (SAME, of_listener("from: Same"), ""),
    ],
)  # fmt: skip
def test_what_opens_a_handshake_is_a_note(tmp_path: Path, before: str, after: str, expected: str) -> None:
    world = (CLASS, *(() if "kind: Gateway\n" in before else (SAME,)), OWN, service("app", "infra"))
    found = weakened(tmp_path, (*world, before), (*world, after))
    assert [finding.severity for finding in found] == ["note"] * bool(expected)
    assert all(expected in finding.message for finding in found), found[0].message
    assert {str(finding.resources[0]) for finding in found} <= {EDGE, "ListenerSet infra/team", "Namespace data"}
    assert weakened(tmp_path, (*world, after), (*world, before)) == []


def cors(fields: str) -> str:
    filters = f"filters: [{{type: CORS, cors: {{{fields}}}}}], "
    rules = f"{{{filters}backendRefs: [{{name: app, port: 80}}]}}, {{backendRefs: [{{name: app, port: 80}}]}}"
    return worlds.route(more=f"rules: [{rules}]")


ONE, ALL = "allowOrigins: ['https://a.example']", "allowOrigins: ['*']"
CREDENTIALS = "allowCredentials: true, "


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [
        (CREDENTIALS + ONE, CREDENTIALS + ALL, "warning"),
        (ALL, CREDENTIALS + ALL, "warning"),
        (ONE, ALL, ""),
        (CREDENTIALS + ONE, CREDENTIALS + "allowOrigins: ['https://*.example']", "note"),
        (ONE, CREDENTIALS + ONE, "note"),
    ],
)
def test_cors_filters(tmp_path: Path, before: str, after: str, severity: str) -> None:
    world = (CLASS, gateway(), service("app", "shop"))
    found = weakened(tmp_path, (*world, cors(before)), (*world, cors(after)))
    assert [finding.severity for finding in found] == [severity] * bool(severity)
    assert all(
        finding.message.startswith(
            "HTTPRoute shop/checkout is less protected in 1 of its 2 rules: spec.rules[0].filters[0]"
        )
        for finding in found
    )
    assert weakened(tmp_path, (*world, cors(after)), (*world, cors(before))) == []
