"""Istio takes calls by their paths, among the matches of HTTPRoutes, whatever kind of request comes; routes with one
hostname of their own are a set, and sets stand one behind the other.

Predicted from istio/istio, pilot/pkg/config/kube/gateway/conversion.go: createURIMatch, createGRPCURIMatch,
sortHTTPRoutes; sets seen by tests/witness (istio-routes), route_collections.go: mergeHTTPRoutes, core/route/route.go:
SortVHostRoutes.
"""

from __future__ import annotations

import pytest

from policylint.trace import Tracer, from_url
from tests.worlds import gateway, gateway_class, route, service, simulated

ISTIO = gateway_class("any", "istio.io/gateway-controller")
CALLED, OTHER = "http://a.test/p.A/Get", "http://a.test/p.A/Put"


def routes(kind: str, name: str, *matches: str, hosts: str = "", created: str = "") -> str:
    stated = f"matches: [{', '.join(matches)}], " if matches else ""
    named = f"hostnames: [{hosts}], " if hosts else ""
    rules = f"rules: [{{{stated}backendRefs: [{{name: {name}, port: 80}}]}}]"
    return route(name, kind=kind, more=named + rules, created=created)


def calls(name: str, *matches: str) -> str:
    return routes("GRPCRoute", name, *matches)


def plain(name: str, *matches: str) -> str:
    return routes("HTTPRoute", name, *matches)


def end(method: str, url: str, *objects: str, headers: list[str] | None = None, of_class: str = ISTIO) -> str:
    everywhere = (of_class, gateway(), service("calls"), service("plain"))
    trace = Tracer(simulated(*everywhere, *objects)).trace(from_url(method, url, headers or []))
    return " ".join(each.name for each in trace.outcome.backends) or str(trace.outcome.status)


def method(**fields: str) -> str:
    return "{method: {" + ", ".join(f"{name}: '{value}'" for name, value in fields.items()) + "}}"


def path(kind: str, value: str) -> str:
    return f"{{path: {{type: {kind}, value: '{value}'}}}}"


BOTH, OF_SERVICE, OF_METHOD = method(service="p.A", method="Get"), method(service="p.A"), method(method="Get")
EXPRESSION = method(type="RegularExpression", service="p.*")


@pytest.mark.parametrize(
    ("called", "asked", "expected"),
    [
        # the longer prefix, the exact path: as among HTTPRoutes
        (OF_SERVICE, path("PathPrefix", "/"), "calls"),
        (OF_SERVICE, path("PathPrefix", "/p.A/Get"), "plain"),
        (OF_SERVICE, path("Exact", "/p.A/Get"), "plain"),
        (BOTH, path("PathPrefix", "/p.A/Get"), "calls"),
        # expressions come after prefixes
        (OF_METHOD, path("PathPrefix", "/"), "plain"),
        (EXPRESSION, path("PathPrefix", "/"), "plain"),
        (EXPRESSION, path("RegularExpression", "/p.A/G.*"), "plain"),
        (EXPRESSION, path("RegularExpression", "/p.*"), "calls"),
        # without a path of its own it comes last
        ("{headers: [{name: x, value: y}]}", path("RegularExpression", "/.*"), "plain"),
        ("", path("PathPrefix", "/"), "plain"),
    ],
)
def test_calls_rank_among_requests(called: str, asked: str, expected: str) -> None:
    objects = (calls("calls", *([called] if called else [])), plain("plain", asked))
    assert end("GET", CALLED, *objects, headers=["x: y"]) == expected
    assert end("GRPC", CALLED, *objects, headers=["x: y"]) == expected


@pytest.mark.parametrize(
    ("called", "url", "expected"),
    [
        (BOTH, CALLED, "calls"),
        (BOTH, OTHER, "404"),
        (OF_SERVICE, OTHER, "calls"),
        (OF_SERVICE, "http://a.test/p.A", "calls"),  # the prefix itself
        (OF_SERVICE, "http://a.test/p.AB/Get", "404"),
        (OF_METHOD, "http://a.test/x/Get", "calls"),
        (OF_METHOD, "http://a.test/x/y/Get", "404"),
        (EXPRESSION, "http://a.test/p.B/x/y", "calls"),
        (EXPRESSION, "http://a.test/p.B/", "404"),
        ("", "http://a.test/", "calls"),
    ],
)
def test_requests_at_the_path_of_a_call(called: str, url: str, expected: str) -> None:
    assert end("GET", url, calls("calls", *([called] if called else []))) == expected


OLD, NEW = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("hosts", "ages", "matches", "expected"),
    [
        # one set: the longer path
        (("'*.test'", "'*.test'"), (OLD, NEW), (path("PathPrefix", "/p.A"), path("PathPrefix", "/p.A/Get")), "plain"),
        # two sets at a listener for *.test: the older one, whatever it matches
        (("'*.test'", ""), (OLD, NEW), (path("PathPrefix", "/p.A"), path("PathPrefix", "/p.A/Get")), "calls"),
        (("'*.test'", ""), (NEW, OLD), (path("Exact", "/p.A/Get"), path("PathPrefix", "/p.A")), "plain"),
        # what takes every request comes behind both
        (("'*.test'", ""), (OLD, NEW), (path("PathPrefix", "/"), path("PathPrefix", "/p.A")), "plain"),
        (("'*.test'", ""), (OLD, NEW), (path("PathPrefix", "/"), path("PathPrefix", "/")), "calls"),
        # of one age: every host first
        (("'*.test'", ""), (OLD, OLD), (path("PathPrefix", "/p.A"), path("PathPrefix", "/p.A")), "plain"),
    ],
)
def test_sets_of_routes(hosts: tuple[str, str], ages: tuple[str, str], matches: tuple[str, str], expected: str) -> None:
    named = "[{name: http, hostname: '*.test', port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
    objects = [
        routes("HTTPRoute", name, match, hosts=own, created=age)
        for name, match, own, age in zip(("calls", "plain"), matches, hosts, ages, strict=True)
    ]
    everywhere = (ISTIO, gateway(listeners=named), service("calls"), service("plain"))
    trace = Tracer(simulated(*everywhere, *objects)).trace(from_url("GET", CALLED))
    assert [each.name for each in trace.outcome.backends] == [expected]


def test_the_slash_at_the_end_of_a_prefix_does_not_count() -> None:
    both = (
        routes("HTTPRoute", "calls", path("PathPrefix", "/p.A"), created=OLD),
        routes("HTTPRoute", "plain", path("PathPrefix", "/p.A/"), created=NEW),
    )
    assert end("GET", CALLED, *both) == "calls"


@pytest.mark.parametrize(
    ("verb", "media_type", "is_call"),
    [
        ("POST", "application/grpc", True),
        ("POST", "application/grpc+proto", True),
        ("POST", "application/grpc; charset=utf-8", True),
        ("POST", "application/grpc-web", False),
        ("POST", "application/json", False),
        ("GET", "application/grpc", False),
    ],
)
def test_the_media_type_tells_calls(verb: str, media_type: str, is_call: bool) -> None:
    asked = from_url(verb, CALLED, [f"content-type: {media_type}"])
    assert asked.grpc is is_call
    unknown = gateway_class("any", "example.net/controller")  # which takes calls alone, as the specification has it
    found = end(verb, CALLED, calls("calls", BOTH), headers=[f"content-type: {media_type}"], of_class=unknown)
    assert found == ("calls" if is_call else "404")
