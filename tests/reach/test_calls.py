"""A gRPC call that no GRPCRoute takes is a request like any other: `reach` tells it apart by what HTTPRoutes ask."""

from __future__ import annotations

import pytest

from policylint.implementations.generic.calls import met_by_calls
from policylint.matches import Match, Term
from policylint.reach import entries, is_grpc, ways_in
from policylint.spaces.predicates import Predicate
from policylint.trace import Tracer
from tests.reach.test_agreement import disagreements
from tests.worlds import gateway, gateway_class, policy, route, service, simulated

CLAIMS = (
    "jwt: {providers: [{name: id, issuer: https://id.example, remoteJWKS: {uri: https://id.example/keys}}]}, "
    "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {jwt: {provider: id, "
    "claims: [{name: role, values: [admin]}]}}}]}"
)
CONTROLLERS = (
    "istio.io/gateway-controller",
    "gateway.envoyproxy.io/gatewayclass-controller",
    "kgateway.dev/kgateway",
    "konghq.com/kic-gateway-controller",
)


def rules(*matches: str) -> str:
    listed = ", ".join(f"{{matches: [{each}], backendRefs: [{{name: checkout, port: 80}}]}}" for each in matches)
    return route(more=f"hostnames: [shop.example.com], rules: [{listed}]")


CALLS = route(
    "calls",
    kind="GRPCRoute",
    more="hostnames: [shop.example.com], "
    "rules: [{matches: [{method: {service: pkg.Pay}}], backendRefs: [{name: other, port: 80}]}]",
)


@pytest.mark.parametrize("controller", CONTROLLERS)
@pytest.mark.parametrize(
    "paths",
    [
        ("{path: {value: /}}",),
        ("{path: {value: /pkg.Cart}}",),
        ("{path: {type: Exact, value: /pkg.Cart/Add}}", "{path: {value: /}, method: GET}"),
        ("{path: {value: /pkg.Cart/Add}}", "{path: {value: /}, method: POST}"),
        ("{path: {value: /a/b/c}}", "{path: {type: Exact, value: /pkg.Cart}}"),
        ("{path: {type: RegularExpression, value: '/pkg.*'}}", "{path: {value: /}}"),
        ("{path: {value: /pkg.Cart}, headers: [{name: x-canary, value: '1'}]}", "{path: {value: /}}"),
    ],
)
def test_calls_that_routes_for_paths_take(controller: str, paths: tuple[str, ...]) -> None:
    world = simulated(
        gateway_class("any", controller),
        gateway(),
        service(),
        service("other"),
        rules(*paths),
        CALLS,
        policy("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "own", "HTTPRoute/checkout", CLAIMS, "shop"),
    )
    for mixed in (False, True):
        tried, wrong = disagreements(world, 200, mixed=mixed)
        assert (tried > 0, wrong) == (True, [])


def test_a_call_that_no_route_for_calls_takes_goes_on_to_those_for_paths() -> None:
    world = simulated(
        gateway_class("any", "konghq.com/kic-gateway-controller"),
        gateway(),
        service(),
        service("other"),
        rules("{path: {value: /}}"),
        CALLS,
    )
    (entry,) = (each for each in entries(Tracer(world)) if each.hostname)
    ends = {
        (str(way.trace.rule), key.name)
        for way in ways_in(Tracer(world), entry)
        if is_grpc(way.dimensions)
        for key in way.trace.outcome.backends
    }
    assert ends == {("HTTPRouteRule shop/checkout#rule-1", "checkout"), ("GRPCRouteRule shop/calls#rule-1", "other")}


def of(condition: Term) -> object:
    """What a condition on paths asks of calls: their service and method, nothing, no call, or it is not told."""
    met = met_by_calls(Match(None, (condition,), (), {}))
    if not met:
        return "not told" if met is None else "no call"
    return {each.name: each.predicate.value for each in met.conditions}


@pytest.mark.parametrize(
    ("kind", "value", "negated", "expected"),
    [
        ("PathPrefix", "/", False, {}),
        ("PathPrefix", "/", True, "no call"),
        ("PathPrefix", "/pkg.Cart", False, {"service": "pkg.Cart"}),
        ("PathPrefix", "/pkg.Cart/", False, {"service": "pkg.Cart"}),
        ("PathPrefix", "/pkg.Cart/Add", False, {"service": "pkg.Cart", "call": "Add"}),
        ("PathPrefix", "/pkg.Cart/Add/x", False, "no call"),
        ("Exact", "/pkg.Cart/Add", False, {"service": "pkg.Cart", "call": "Add"}),
        ("Exact", "/pkg.Cart/Add", True, "not told"),
        ("Exact", "/pkg.Cart", False, "no call"),
        ("Exact", "/pkg.Cart", True, {}),
        ("RegularExpression", "/pkg.*", False, "not told"),
    ],
)
def test_paths_as_calls_meet_them(kind: str, value: str, negated: bool, expected: object) -> None:
    assert of(Term("path", Predicate(kind, value), "", negated=negated)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "negated", "expected"),
    [("POST", False, {}), ("GET", False, "no call"), ("GET", True, {}), ("POST", True, "no call")],
)
def test_methods_as_calls_meet_them(value: str, negated: bool, expected: object) -> None:
    assert of(Term("method", Predicate("Exact", value), "", negated=negated)) == expected
