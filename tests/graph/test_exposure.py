"""Who may reach the routes that are drawn: five answers, the worst one where a route has several, one sentence."""

from __future__ import annotations

from policylint.report.graph.exposure import exposures, headline, of_routes
from tests.graph.worlds import ENVOY
from tests.worlds import gateway, gateway_class, policy, route, service, simulated

CLASS = gateway_class("envoy", f"{ENVOY}/gatewayclass-controller")
EDGE = gateway("edge", of_class="envoy")
BACKEND = service("app", "infra", "[{port: 80}]")
JWT = "jwt: {providers: [{name: id, remoteJWKS: {uri: 'https://id.example.com/jwks'}}]}"
OFFICE = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [192.0.2.0/24]}}]}"
NOBODY = "authorization: {defaultAction: Deny}"
IN_AND_OUT = "rules: [{name: in, matches: [{path: {value: /in}}], backendRefs: [{name: app, port: 80}]}, {matches: [{path: {value: /out}}], backendRefs: [{name: app, port: 80}]}]"  # noqa: E501


def app(parents: str = "[{name: edge}]", rules: str = "rules: [{backendRefs: [{name: app, port: 80}]}]") -> str:
    return route("app", "infra", parents, more=f"hostnames: [app.example.com], {rules}")


def security(name: str, target: str, spec: str) -> str:
    return policy(f"{ENVOY}/v1alpha1", "SecurityPolicy", name, target, spec, "infra")


def told(*manifests: str) -> list[tuple[str, str, str]]:
    """Gateway, state and words of every route."""
    found = exposures([simulated(CLASS, EDGE, BACKEND, *manifests)])
    assert found is not None
    return [("" if each.gateway is None else each.gateway.name, each.state, each.words) for each in found]


def test_without_a_policy_everybody_may() -> None:
    assert told(app()) == [("edge", "open", "no login")]


def test_a_token_of_the_gateway_is_a_login() -> None:
    assert told(app(), security("ids", "Gateway/edge", JWT)) == [("edge", "login", "login: jwt by infra/ids")]


def test_an_allow_list_is_no_login() -> None:
    ((gateway_name, state, words),) = told(app(), security("office", "HTTPRoute/app", OFFICE))
    assert (gateway_name, state) == ("edge", "addresses")
    assert words.startswith("no login, ")
    assert "192.0.2.0/24" in words


def test_nobody_is_let_in() -> None:
    ((_, state, words),) = told(app(), security("none", "HTTPRoute/app", NOBODY))
    assert (state, words.partition(":")[0]) == ("closed", "403")


def test_the_worst_of_several_ways_is_told_and_how_many_they_are() -> None:
    ((_, state, words),) = told(app(rules=IN_AND_OUT), security("ids", "HTTPRoute/app#in", JWT))
    assert state == "open"
    assert words.startswith("no login on 1 of 2 ways: ")
    assert "/out" in words


def test_each_gateway_is_told_by_itself_and_the_worst_counts() -> None:
    inner = gateway("inner", of_class="envoy")
    world = (inner, app("[{name: edge}, {name: inner}]"), security("ids", "Gateway/inner", JWT))
    assert sorted(told(*world)) == [("edge", "open", "no login"), ("inner", "login", "login: jwt by infra/ids")]
    found = exposures([simulated(CLASS, EDGE, BACKEND, *world)])
    assert [each.state for each in of_routes(found or ()).values()] == ["open"]


def test_a_gateway_that_was_not_seen_leaves_it_open_what_is_asked() -> None:
    ((gateway_name, state, words),) = told(app("[{name: elsewhere, namespace: other}]"))
    assert (gateway_name, state) in (("", "unknown"), ("elsewhere", "unknown"))
    assert "elsewhere" in words


def test_a_route_that_no_listener_takes() -> None:
    ((gateway_name, state, words),) = told(app("[{name: edge, sectionName: gone}]"))
    assert (gateway_name, state, words) == ("", "closed", "no listener takes it")


def test_too_many_routes_are_not_told() -> None:
    matches = ", ".join(f"{{path: {{value: /{number}}}}}" for number in range(4_001))
    assert exposures([simulated(CLASS, EDGE, app(rules=f"rules: [{{matches: [{matches}]}}]"))]) is None


def test_the_headline() -> None:
    assert headline(["open"], ["error"]) == "1 route is open without a login; 1 error"
    assert headline(["login", "login"], []) == "both routes ask for a login"
    mixed = headline(["unknown", "login", "open", "open"], ["warning", "note", "warning"])
    assert mixed == "2 of 4 routes are open without a login, 1 asks for a login and 1 is not known; 2 warnings"
    assert headline([], []) == ""
