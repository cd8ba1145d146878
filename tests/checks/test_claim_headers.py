"""GWP319: headers that one policy sets from tokens, read by another one where clients alone write them."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model import Finding
from tests.worlds import gateway, gateway_class, manifest, route, service, simulated

GROUP = "gateway.envoyproxy.io/v1alpha1"
CLASS = gateway_class("here", "gateway.envoyproxy.io/gatewayclass-controller")
CLAIMS = "claimToHeaders: [{claim: sub, header: x-User}]"
KEYS = "issuer: 'https://id.example.org', remoteJWKS: {uri: 'https://id.example.org/jwks'}"
JWT = f"jwt: {{providers: [{{name: a, {KEYS}, {CLAIMS}}}]}}"
EXTERNAL = "extAuth: {http: {backendRefs: [{name: web, port: 80}]}}"
NAMED = "basicAuth: {users: {name: u}, forwardUsernameHeader: x-user}"
EARLY = "headers: {earlyRequestHeaders: {set: [{name: x-user, value: none}]}}"
EDGE = "kind: Gateway, name: edge"


def to(name: str) -> str:
    return f"kind: HTTPRoute, name: {name}"


def policy(kind: str, name: str, target: str, spec: str) -> str:
    refs = f"targetRefs: [{{group: gateway.networking.k8s.io, {target}}}]"
    return manifest(GROUP, kind, name, "shop", f"spec: {{{refs}, {spec}}}")


def limit(target: str, header: str = "x-user") -> str:
    selectors = f"clientSelectors: [{{headers: [{{name: {header}, type: Distinct}}]}}]"
    rule = f"{{{selectors}, limit: {{requests: 5, unit: Hour}}}}"
    return policy("BackendTrafficPolicy", "limit", target, f"rateLimit: {{type: Global, global: {{rules: [{rule}]}}}}")


def login(target: str, name: str = "login", spec: str = JWT) -> str:
    return policy("SecurityPolicy", name, target, spec)


def findings(*policies: str, filters: str = "") -> list[Finding]:
    def to_web(name: str) -> str:
        match = f"matches: [{{path: {{type: PathPrefix, value: /{name}}}}}]"
        rule = f"rules: [{{{match}, {filters}backendRefs: [{{name: web, port: 80}}]}}]"
        return route(name, parents="[{name: edge}]", more=rule)

    base = CLASS, gateway("edge", "shop", of_class="here"), service("web", "shop"), to_web("a"), to_web("b")
    return list(run(simulated(*base, *policies), select={"GWP319"}))


CORS = "cors: {allowOrigins: ['https://shop.example.com']}"
PRINCIPAL = "principal: {headers: [{name: X-User, values: [me]}]}"
BY_HEADER = f"authorization: {{defaultAction: Deny, rules: [{{action: Allow, {PRINCIPAL}}}]}}"


@pytest.mark.parametrize(
    "policies",
    [
        (login(to("a")), limit(EDGE)),
        (login(to("a")), limit(to("b"))),
        (login(EDGE), login(to("b"), "own", CORS), limit(EDGE)),  # the nearer policy takes the place of the Gateway's
        (login(EDGE), login(to("b"), "own", BY_HEADER)),
        (login(EDGE), login(to("b"), "own", EXTERNAL), limit(EDGE, "X-USER")),
    ],
)
def test_headers_that_only_clients_write(policies: tuple[str, ...]) -> None:
    [found] = findings(*policies)
    assert "which no policy sets for HTTPRoute shop/b" in found.message
    assert "sets it from tokens for others" in found.label
    assert found.confidence == "certain"


SET = "filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: X-User, value: none}]}}], "


@pytest.mark.parametrize(
    ("policies", "filters"),
    [
        ((login(EDGE), limit(EDGE)), ""),
        ((login(to("a")), limit(to("a"))), ""),
        ((login(to("a")), limit(EDGE, "x-tenant")), ""),  # nobody's header from tokens: it may be meant
        ((limit(EDGE),), ""),
        ((login(to("a")), limit(EDGE)), SET),
        ((login(to("a")), login(to("b"), "own", NAMED), limit(EDGE)), ""),
        (
            (login(to("a")), limit(EDGE), policy("ClientTrafficPolicy", "client", EDGE, EARLY)),
            "",
        ),
    ],
)
def test_headers_that_somebody_sets(policies: tuple[str, ...], filters: str) -> None:
    assert not findings(*policies, filters=filters)


def routed(spec: str, header: str = "X-User", target: str = "kind: HTTPRoute, name: a") -> list[Finding]:
    """What is said of a route that chooses by a header, at a login."""
    match = f"matches: [{{headers: [{{name: {header}, value: me}}]}}]"
    chosen = route("a", parents="[{name: edge}]", more=f"rules: [{{{match}, backendRefs: [{{name: web, port: 80}}]}}]")
    base = CLASS, gateway("edge", "shop", of_class="here"), service("web", "shop"), chosen
    return list(run(simulated(*base, login(target, spec=spec)), select={"GWP319"}))


ANEW = JWT.replace("name: a,", "name: a, recomputeRoute: true,")
CALLED = "extAuth: {%shttp: {backendRefs: [{name: web, port: 80}], headersToBackend: [x-user]}}"


@pytest.mark.parametrize(
    ("spec", "fix"),
    [
        (JWT, "jwt.providers[0].recomputeRoute"),
        (ANEW, ""),
        (CALLED % "", "extAuth.recomputeRoute"),
        (CALLED % "recomputeRoute: true, ", ""),
        (CALLED % "recomputeRoute: false, ", "extAuth.recomputeRoute"),
    ],
)
def test_routes_are_chosen_before_tokens_are_read(spec: str, fix: str) -> None:
    found = routed(spec)
    assert [each.help for each in found] == (
        [(f"fix: set `{fix}` of SecurityPolicy shop/login to true",)] if fix else []
    )
    assert all(each.field == "spec.rules[0].matches[0].headers[0].name" for each in found)


def test_a_login_that_cannot_have_the_route_chosen_again() -> None:
    [found] = routed(NAMED)
    assert not found.help


def test_a_match_by_another_header_or_of_a_policy_elsewhere() -> None:
    assert not routed(JWT, "x-tenant")
    assert not routed(JWT, target="kind: HTTPRoute, name: other")
    assert routed(JWT, target=EDGE)
