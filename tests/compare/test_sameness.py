"""What is written otherwise and says the same is no change, neither of a setting nor of an answer nor of a text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from policylint.compare import compare, pair_sides, removed_protections
from policylint.compare.sameness import same_value
from tests.compare.repositories import diff
from tests.worlds import gateway, gateway_class, labelled, manifest, route, service, simulated

SAME: list[tuple[Any, Any]] = [
    ("60s", "1m"),
    ("1h30m", "90m"),
    ("1Mi", "1024Ki"),
    ("2G", "2000M"),
    (32768, "32Ki"),
    ({"rates": [{"limit": 5, "window": "60s"}]}, {"rates": [{"window": "1m", "limit": 5}]}),
    (["10.0.0.0/8"], ["10.0.0.0/9", "10.128.0.0/9"]),
    (["10.0.0.0/8", "10.1.0.0/16"], ["10.0.0.0/8"]),
    (["2001:db8::/32"], ["2001:db8:8000::/33", "2001:db8::/33"]),
    ("10.0.0.0/8", "10.0.0.0/9, 10.128.0.0/9"),
    ("allow { x }", "allow { x }\n"),
    ("a\n  b\n", "a  \n  b"),
]
OTHER: list[tuple[Any, Any]] = [
    (1, True),
    ("60s", "60"),
    ("1M", "1Mi"),
    ("1k", "1000"),
    ("60s", "60m"),
    (["10.0.0.0/8"], ["10.0.0.0/9"]),
    (["a/b", "c/d"], ["c/d", "a/b"]),
    ("10.0.0.0/8", "10.0.0.0/8,0.0.0.0/0"),
    ("/a,/b", "/b,/a"),
    ([], ["10.0.0.0/8"]),
    ("a\n  b", "a\nb"),
    ("", None),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_it_says_the_same(left: Any, right: Any) -> None:
    assert same_value(left, right)
    assert same_value({"a": [left]}, {"a": [right]})


@pytest.mark.parametrize(("left", "right"), OTHER)
def test_it_says_something_else(left: Any, right: Any) -> None:
    assert not same_value(left, right)


EXPRESSIONS: list[tuple[str, str, str]] = [
    ("predicate", "request.path == '/a'", 'request.path=="/a"'),
    ("cel", "a && b && c", "c && (a && b)"),
    ("expression", "(request.headers['x'])", 'request.headers["x"]'),
    ("matchExpressions", "a || b // either", "b || a"),
    ("booleanExpr", "(jwt && opa) || keys", "keys || (opa && jwt)"),
    ("rego", "# who\nallow {\n    x == 1 # one\n}\n", "allow {\n  x == 1\n\n}"),
]
OTHER_EXPRESSIONS: list[tuple[str, str, str]] = [
    ("header", "'a'", '"a"'),
    ("predicate", "a && b || c", "a && (b || c)"),
    ("predicate", "a < b", "b < a"),
    ("predicate", "a == 'x '", "a == 'x'"),
    ("predicate", "a == null", "a == b'null'"),
    ("predicate", "a ? b : c", "a ? c : b"),
    ("expression", "not, an expression", "not an expression"),
    ("rego", 'x == "a # b"', 'x == "a # c"'),
    ("rego", "x == `a\n# b`", "x == `a\n# c`"),
    ("rego", "allow { x }", "allow {\nx }"),
    ("rego", 'x == "a  b"', 'x == "a b"'),
]


@pytest.mark.parametrize(("field", "left", "right"), EXPRESSIONS)
def test_an_expression_says_the_same(field: str, left: str, right: str) -> None:
    assert same_value(left, right, field)
    assert same_value([{field: [left]}], [{field: [right]}])
    assert not same_value({"other": left}, {"other": right})


@pytest.mark.parametrize(("field", "left", "right"), OTHER_EXPRESSIONS)
def test_an_expression_says_something_else(field: str, left: str, right: str) -> None:
    assert not same_value(left, right, field)
    assert not same_value({field: left}, {field: right})


HEADERS: list[tuple[str, Any, Any]] = [
    ("headers", [{"name": "X-Team", "value": "A"}], [{"name": "x-team", "value": "A"}]),
    ("allowHeaders", ["X-A", "Authorization"], ["x-a", "authorization"]),
    ("headersToBackend", ["X-User"], ["x-user"]),
    ("responseHeaderModifier", {"set": [{"name": "X-A", "value": "B"}]}, {"set": [{"name": "x-a", "value": "B"}]}),
    ("requestHeaderModifier", {"remove": ["X-A"]}, {"remove": ["x-a"]}),
    ("claimToHeaders", [{"header": "X-Sub", "claim": "Sub"}], [{"header": "x-sub", "claim": "Sub"}]),
    ("customRequestHeaders", {"X-A": "B"}, {"x-a": "B"}),
    ("headers", {"request": {"set": {"X-A": "B"}}}, {"request": {"set": {"x-a": "B"}}}),
    ("exposeHeaders", "X-A, X-B", "x-a, x-b"),
    ("headerName", "X-A", "x-a"),
]
OTHER_HEADERS: list[tuple[str, Any, Any]] = [
    ("headers", [{"name": "x-team", "value": "A"}], [{"name": "x-team", "value": "a"}]),
    ("headers", [{"name": "x-team", "value": "a"}], [{"name": "x-teams", "value": "a"}]),
    ("queryParams", [{"name": "Page", "value": "1"}], [{"name": "page", "value": "1"}]),
    ("cookies", [{"name": "Session"}], [{"name": "session"}]),
    ("claimToHeaders", [{"header": "x-sub", "claim": "Sub"}], [{"header": "x-sub", "claim": "sub"}]),
    ("customRequestHeaders", {"X-A-Header": "B"}, {"x-a-header": "b"}),
    ("customRequestHeaders", {"X-A": "1", "x-a": "2"}, {"X-A": "2", "x-a": "1"}),
    ("allowHeadersRegex", ["\\D+"], ["\\d+"]),
    ("header", "Authorization: Basic QQ", "Authorization: Basic qq"),
]


@pytest.mark.parametrize(("field", "left", "right"), HEADERS)
def test_a_header_has_one_name_in_whatever_letters(field: str, left: Any, right: Any) -> None:
    assert same_value(left, right, field)
    assert same_value([{"spec": {field: left}}], [{"spec": {field: right}}])


@pytest.mark.parametrize(("field", "left", "right"), OTHER_HEADERS)
def test_letters_of_all_else_count(field: str, left: Any, right: Any) -> None:
    assert not same_value(left, right, field)
    assert not same_value({field: left}, {field: right})


WORLD = [
    labelled("infra"),
    labelled("shop"),
    gateway_class("any", "istio.io/gateway-controller"),
    gateway(),
    route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
    service(),
]
TARGET = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}"
LIMIT = "limits: {a: {rates: [{limit: 5, window: %s}]}}"
REGO = 'rules: {authorization: {a: {opa: {rego: "allow { input.x }%s"}}}}'


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [("RateLimitPolicy", LIMIT % "60s", LIMIT % "1m"), ("AuthPolicy", REGO % "", REGO % "\\n")],
)
def test_nothing_is_told_of_it(kind: str, before: str, after: str) -> None:
    def world(said: str) -> Any:
        return simulated(*WORLD, manifest("kuadrant.io/v1", kind, "p", "shop", f"spec: {{{TARGET}, {said}}}"))

    pairs = pair_sides([world(before)], [world(after)])
    (environment,) = compare(pairs)
    assert not environment.contexts
    assert not environment.unknown
    assert not removed_protections(pairs, [environment])
    assert environment.requests is None or not environment.requests.changes


def modifier(kind: str, said: str) -> str:
    """A filter that changes headers."""
    return f"filters: [{{type: {kind[0].upper()}{kind[1:]}, {kind}: {{{said}}}}}]"


def cors(more: str = "") -> str:
    return f"filters: [{{type: CORS, cors: {{allowOrigins: ['https://a.example.com']{more}}}}}]"


def mirror(more: str = "") -> str:
    return f"filters: [{{type: RequestMirror, requestMirror: {{backendRef: {{name: checkout, port: 80}}{more}}}}}]"


RULES = [
    ("timeouts: {request: 60s}", "timeouts: {request: 1m}", True),
    ("timeouts: {request: 60s}", "timeouts: {request: 61s}", False),
    ("timeouts: {request: 0s}", "timeouts: {request: 0h}", True),
    ("retry: {attempts: 2, backoff: 1000ms}", "retry: {attempts: 2, backoff: 1s}", True),
    (cors(), cors(", maxAge: 5"), True),
    (cors(), cors(", maxAge: 6"), False),
    (cors(), cors(", allowCredentials: false, allowMethods: [HEAD, GET, POST]"), True),
    (mirror(), mirror(", percent: 100"), True),
    (mirror(), mirror(", percent: 99"), False),
    *(
        (modifier(kind, said.format(before)), modifier(kind, said.format(after)), same)
        for kind in ("requestHeaderModifier", "responseHeaderModifier")
        for said in ("set: [{{name: {0}}}]", "add: [{{name: {0}}}]")
        for before, after, same in (
            ("X-Tenant, value: A", "x-tenant, value: A", True),
            ("X-Tenant, value: A", "x-tenant, value: a", False),
            ("X-Tenant, value: A", "x-tenants, value: A", False),
        )
    ),
    (modifier("requestHeaderModifier", "remove: [X-A]"), modifier("requestHeaderModifier", "remove: [x-a]"), True),
    (cors(", exposeHeaders: [X-A], allowHeaders: [X-B]"), cors(", exposeHeaders: [x-a], allowHeaders: [x-b]"), True),
    ("matches: [{headers: [{name: X-A, value: b}]}]", "matches: [{headers: [{name: x-a, value: b}]}]", True),
    ("matches: [{headers: [{name: X-A, value: b}]}]", "matches: [{headers: [{name: x-a, value: B}]}]", False),
]


@pytest.mark.parametrize(("before", "after", "same"), RULES)
def test_defaults_and_other_words_of_a_rule(before: str, after: str, same: bool) -> None:
    def world(said: str) -> Any:
        of_envoy = gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller")
        rule = f"rules: [{{{said}, backendRefs: [{{name: checkout, port: 80}}]}}]"
        return simulated(of_envoy, gateway(), service(), route(more=rule))

    (environment,) = compare(pair_sides([world(before)], [world(after)]))
    assert (environment.requests is None or not environment.requests.changes) == same


ISTIO_GATEWAY = manifest(
    "networking.istio.io/v1",
    "Gateway",
    "g",
    "shop",
    "spec: {selector: {istio: ingressgateway}, servers: [{port: {number: 80, name: http, protocol: HTTP}, "
    "hosts: ['*']}]}",
)
TO_WEB = "route: [{destination: {host: web, port: {number: 80}}}]"
ROUTER = manifest(
    "traefik.io/v1alpha1",
    "IngressRoute",
    "r",
    "shop",
    "spec: {entryPoints: [web], routes: [{match: Host(`a.example.com`), kind: Rule, middlewares: [{name: m}], "
    "services: [{name: web, port: 80}]}]}",
)


def of_istio(rule: str) -> str:
    """A VirtualService with one rule."""
    spec = f"spec: {{hosts: [a.example.com], gateways: [g], http: [{{{rule}, {TO_WEB}}}]}}"
    return ISTIO_GATEWAY + "---" + manifest("networking.istio.io/v1", "VirtualService", "v", "shop", spec)


OF_VENDORS = (
    of_istio("headers: {request: {set: {X-A: B}}}"),
    of_istio("headers: {response: {remove: [X-A]}}"),
    of_istio("match: [{headers: {X-A: {exact: B}}}]"),
    ROUTER
    + "---"
    + manifest("traefik.io/v1alpha1", "Middleware", "m", "shop", "spec: {headers: {customRequestHeaders: {X-A: B}}}"),
)


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (before, after, name == "x-a")
        for before in OF_VENDORS
        for name, value in (("x-a", "B"), ("X-A", "b"), ("x-b", "B"))
        if (after := re.sub(r"\bX-A\b", name, re.sub(r"\bB\b", value, before))) != before
    ],
)
def test_names_of_headers_in_objects_of_vendors(tmp_path: Path, before: str, after: str, same: bool) -> None:
    sides = ({"all.yaml": f"{side}---{service('web')}"} for side in (before, after))
    said = diff(tmp_path, *sides)
    assert ("answers all requests as before" in said and "!" not in said) == same, said


@pytest.mark.parametrize("field", ["methods", "notPaths", "policyTypes", "values", "audiences"])
def test_the_order_of_alternatives_says_nothing(field: str) -> None:
    assert same_value({field: ["b", "a", "b"]}, {field: ["a", "b"]})
    assert not same_value({field: ["b", "a"]}, {field: ["a"]})
    assert not same_value({field: ["b", "a"]}, {field: ["a", "B"]})


@pytest.mark.parametrize("field", ["cipherSuites", "command", "filterOrder", "rules"])
def test_the_order_of_other_lists_says_something(field: str) -> None:
    assert not same_value({field: ["b", "a"]}, {field: ["a", "b"]})
