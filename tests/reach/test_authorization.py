"""Who is let in, as sets: one world per controller, each request predicted from the documentation of its kinds.

Sources: api/v1alpha1/authorization_types.go of Envoy Gateway, traffic_policy_types.go of kgateway,
agentgateway_policy_types.go of agentgateway, Kuadrant's AuthPolicy reference, istio.io/docs/reference/config/security
/authorization-policy, linkerd.io/2.19/reference/authorization-policy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from policylint.reach import WayIn, all_ways, end_in_words
from policylint.simulation import Simulation
from policylint.trace import Tracer, request
from tests import worlds
from tests.reach.test_agreement import disagreements
from tests.trace.test_authorization import KINDS

IN, OUT, OPEN = "in", "out", "depends"
Asked = tuple[str, dict[str, Any]]


class World(NamedTuple):
    """A world, and requests with what is predicted of them."""

    name: str
    controller: str
    settings: str
    requests: tuple[Asked, ...]


def at(address: str) -> dict[str, Any]:
    return {"address": address}


def token(**claims: Any) -> dict[str, Any]:
    return {"claims": claims}


def envoy(rules: str, default: str = "Deny") -> str:
    providers = "providers: [{name: id, issuer: 'https://id', remoteJWKS: {uri: 'https://id/keys'}}]"
    return f"jwt: {{optional: true, {providers}}}, authorization: {{defaultAction: {default}, rules: [{rules}]}}"


GUESTS_OUT = "{action: Deny, principal: {clientCIDRs: [10.1.0.0/16]}}"
OFFICE = "{action: Allow, principal: {clientCIDRs: [10.0.0.0/8, 'fd00::/8']}}"
ADMINS = "{action: Allow, principal: {jwt: {provider: id, claims: [{name: groups, values: [admin, ops]}]}}}"
WRITERS = "{action: Allow, principal: {jwt: {provider: id, scopes: [write, read]}}}"
BOTH = (
    "{action: Allow, operation: {methods: [GET]}, "
    "principal: {clientCIDRs: [10.0.0.0/8], headers: [{name: x-team, values: [red]}]}}"
)
ISSUER = {"iss": "https://id"}


def rbac(*expressions: str, action: str = "Allow") -> str:
    listed = ", ".join(f'"{expression}"' for expression in expressions)
    return f"rbac: {{action: {action}, policy: {{matchExpressions: [{listed}]}}}}"


def acl(rules: str, default: str = "deny") -> str:
    return f"acl: {{defaultAction: {default}, rules: [{rules}]}}"


def agent(expression: str, action: str = "Allow") -> str:
    return f'traffic: {{authorization: {{action: {action}, policy: {{matchExpressions: ["{expression}"]}}}}}}'


def pattern(selector: str, operator: str, value: str) -> str:
    listed = f"[{{selector: {selector}, operator: {operator}, value: '{value}'}}]"
    return f"rules: {{authorization: {{one: {{patternMatching: {{patterns: {listed}}}}}}}}}"


POST, RED = {"method": "POST"}, {"headers": {"X-Team": "red"}}
WORLDS = (
    World(
        "addresses with an exception before",
        "envoy",
        envoy(f"{GUESTS_OUT}, {OFFICE}"),
        (
            (IN, at("10.0.0.1")),
            (IN, at("10.255.255.255")),
            (IN, at("fd12::1")),
            (OUT, at("10.1.0.1")),
            (OUT, at("10.1.255.255")),
            (OUT, at("11.0.0.0")),
            (OUT, at("9.255.255.255")),
            (OUT, at("2001:db8::1")),
            (OPEN, {}),
        ),
    ),
    World(
        "an exception that comes too late",
        "envoy",
        envoy(f"{OFFICE}, {GUESTS_OUT}"),
        ((IN, at("10.1.0.1")), (IN, at("10.2.0.1")), (OUT, at("192.0.2.1"))),
    ),
    World(
        "addresses kept out",
        "envoy",
        envoy(GUESTS_OUT, "Allow"),
        ((OUT, at("10.1.0.1")), (IN, at("10.2.0.1")), (IN, at("::1")), (OPEN, {})),
    ),
    World(
        "one of two values of a claim",
        "envoy",
        envoy(ADMINS),
        (
            (IN, token(**ISSUER, groups="admin")),
            (IN, token(**ISSUER, groups=["dev", "ops"])),
            (OUT, token(**ISSUER, groups="dev")),
            (OUT, token(iss="https://other", groups="admin")),
            (OUT, token(groups="admin")),
            (OUT, token(**ISSUER)),
            (OUT, token()),
            (OPEN, {}),
        ),
    ),
    World(
        "all scopes",
        "envoy",
        envoy(WRITERS),
        (
            (IN, token(**ISSUER, scope=["write", "read"])),
            (OUT, token(**ISSUER, scope="write")),
            (OUT, token(scope=["write", "read"])),
        ),
    ),
    World(
        "a token or an address",
        "envoy",
        envoy(f"{OFFICE}, {ADMINS}"),
        (
            (IN, {**at("10.0.0.1"), **token()}),
            (IN, {**at("192.0.2.1"), **token(**ISSUER, groups="admin")}),
            (OUT, {**at("192.0.2.1"), **token(**ISSUER, groups="dev")}),
            (OPEN, at("192.0.2.1")),
            (IN, at("10.0.0.1")),
        ),
    ),
    World(
        "all that a principal and an operation say",
        "envoy",
        envoy(BOTH),
        (
            (IN, {**at("10.0.0.1"), **RED}),
            (OUT, at("10.0.0.1")),
            (OUT, {**at("10.0.0.1"), **RED, **POST}),
            (OUT, {**at("192.0.2.1"), **RED}),
            (OUT, POST),
            (OPEN, RED),
        ),
    ),
    World(
        "rules of addresses",
        "kgateway",
        acl("{cidrs: [10.1.0.0/16], action: deny}, {cidrs: [10.0.0.0/8], action: allow}"),
        (
            (IN, at("10.2.0.1")),
            (OUT, at("10.1.0.1")),
            (OUT, at("192.0.2.1")),
            (OPEN, {}),
        ),
    ),
    World(
        "addresses kept out by a rule",
        "kgateway",
        acl("{cidrs: [192.0.2.0/24, '2001:db8::/32'], action: deny}", "allow"),
        ((OUT, at("192.0.2.200")), (OUT, at("2001:db8:1::1")), (IN, at("192.0.3.1")), (IN, at("10.0.0.1"))),
    ),
    World(
        "one expression of several",
        "kgateway",
        rbac("request.method == 'POST'", "request.headers['x-team'] == 'red'"),
        ((IN, POST), (IN, RED), (OUT, {"headers": {"x-team": "blue"}}), (OUT, {})),  # as its proxy says (witness)
    ),
    World(
        "paths by their beginning",
        "kgateway",
        rbac("request.path.startsWith('/open')"),
        ((IN, {"path": "/open"}), (IN, {"path": "/opener/1"}), (OUT, {"path": "/ope"}), (OUT, {"path": "/"})),
    ),
    World(
        "an expression that the server decides",
        "kgateway",
        rbac("request.method == 'POST'", "request.auth.claims.groups == 'admin'"),
        ((IN, POST), (OPEN, {})),
    ),
    World(
        "kept out by a path",
        "agentgateway",
        agent("request.path == '/admin'", "Deny"),
        ((OUT, {"path": "/admin"}), (IN, {"path": "/admin/1"}), (IN, {"path": "/"})),
    ),
    World(
        "a method that is required",
        "agentgateway",
        agent("request.method == 'GET'", "Require"),
        ((IN, {}), (OUT, POST), (OUT, {"method": "DELETE"})),
    ),
    World(
        "a token that the server checks",
        "agentgateway",
        agent("jwt.sub == 'alice'"),
        ((OPEN, {}), (OPEN, POST)),
    ),
    World(
        "a pattern on the path",
        "kuadrant",
        pattern("context.request.http.path", "matches", "^/open"),
        ((IN, {"path": "/open/1"}), (IN, {"path": "/opened"}), (OUT, {"path": "/x/open"}), (OUT, {"path": "/"})),
    ),
    World(
        "a pattern anywhere in the path",
        "kuadrant",
        pattern("request.path", "matches", "open$"),
        ((IN, {"path": "/x/open"}), (OUT, {"path": "/open/1"})),
    ),
    World(
        "another method",
        "kuadrant",
        pattern("request.method", "neq", "DELETE"),
        ((IN, {}), (IN, POST), (OUT, {"method": "DELETE"})),
    ),
    World(
        "under a condition",
        "kuadrant",
        f"{pattern('request.method', 'neq', 'DELETE')}, when: [{{predicate: 'request.path.startsWith(\"/admin\")'}}]",
        (
            (IN, {"method": "DELETE"}),
            (IN, {"path": "/admin"}),
            (OUT, {"path": "/admin/users", "method": "DELETE"}),
        ),
    ),
)


def istio(rules: str, action: str = "ALLOW", kind: str = "AuthorizationPolicy", name: str = "own") -> str:
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
    spec = f"spec: {{{target}, action: {action}, rules: [{rules}]}}"
    return worlds.manifest("security.istio.io/v1", kind, name, "infra", spec)


IDS = worlds.manifest(
    "security.istio.io/v1",
    "RequestAuthentication",
    "ids",
    "infra",
    "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}], "
    "jwtRules: [{issuer: 'https://id'}]}",
)
REMOTE = "from: [{source: {remoteIpBlocks: [10.0.0.0/8, 192.0.2.7], notRemoteIpBlocks: [10.1.0.0/16]}}]"
ANYBODY = "from: [{source: {requestPrincipals: ['*']}}]"
ALICE = "from: [{source: {requestPrincipals: ['https://id/alice']}}]"
OF_GROUP = "when: [{key: 'request.auth.claims[groups]', values: [admin, 'ops-*']}]"
NOT_GROUP = "when: [{key: 'request.auth.claims[groups]', notValues: [guest]}]"
ISTIO = (
    World(
        "addresses with an exception",
        istio(f"{{{REMOTE}}}"),
        "",
        (
            (IN, at("10.0.0.1")),
            (IN, at("192.0.2.7")),
            (OUT, at("192.0.2.8")),
            (OUT, at("10.1.2.3")),
            (OUT, at("203.0.113.1")),
            (OPEN, {}),
        ),
    ),
    World(
        "addresses kept out",
        istio("{from: [{source: {ipBlocks: [10.0.0.0/8]}}]}", "DENY"),
        "",
        ((OUT, at("10.0.0.1")), (IN, at("11.0.0.1")), (OPEN, {})),
    ),
    World(
        "all but some addresses",
        istio("{from: [{source: {notRemoteIpBlocks: [10.0.0.0/8]}}]}", "DENY"),
        "",
        ((IN, at("10.0.0.1")), (OUT, at("11.0.0.1")), (OUT, at("::1"))),
    ),
    World(
        "an address as a condition",
        istio("{when: [{key: remote.ip, values: [10.0.0.0/8], notValues: [10.1.0.0/16]}]}"),
        "",
        ((IN, at("10.0.0.1")), (OUT, at("10.1.0.1")), (OUT, at("8.8.8.8"))),
    ),
    World(
        "any token",
        istio(f"{{{ANYBODY}}}"),
        IDS,
        (
            (IN, token(iss="https://id", sub="bob")),
            (OUT, token()),
            (OUT, {}),
            (OPEN, {"headers": {"authorization": "Bearer x"}}),
        ),
    ),
    World(
        "no token is checked",
        istio(f"{{{ANYBODY}}}"),
        "",
        ((OUT, token(iss="https://id", sub="bob")), (OUT, {}), (OUT, token())),
    ),
    World(
        "one principal",
        istio(f"{{{ALICE}}}"),
        IDS,
        (
            (IN, token(iss="https://id", sub="alice")),
            (OUT, token(iss="https://id", sub="bob")),
            (OUT, token(iss="https://other", sub="alice")),
            (OUT, token()),
        ),
    ),
    World(
        "one principal of all is kept out",  # who is alice has a token: there is no alice without one
        istio(f"{{{ANYBODY}}}") + "\n---\n" + istio(f"{{{ALICE}}}", "DENY", name="deny"),
        IDS,
        (
            (OUT, token(iss="https://id", sub="alice")),
            (IN, token(iss="https://id", sub="bob")),
            (OUT, token()),
        ),
    ),
    World(
        "all but one principal are kept out of a path",
        istio("{to: [{operation: {paths: [/public]}}]}, {from: [{source: {requestPrincipals: ['https://id/*']}}]}")
        + "\n---\n"
        + istio(
            "{from: [{source: {notRequestPrincipals: ['https://id/alice']}}], to: [{operation: {paths: [/admin]}}]}",
            "DENY",
            name="deny",
        ),
        IDS,
        (
            (IN, {**token(iss="https://id", sub="alice"), "path": "/admin"}),
            (OUT, {**token(iss="https://id", sub="bob"), "path": "/admin"}),
            (IN, {**token(iss="https://id", sub="bob"), "path": "/cart"}),
            (IN, {**token(), "path": "/public"}),
            (OUT, {**token(), "path": "/cart"}),
            (OUT, {**token(), "path": "/admin"}),
        ),
    ),
    World(
        "a value of a claim among those with its beginning",
        istio("{when: [{key: 'request.auth.claims[groups]', values: ['ops-*'], notValues: [ops-eu]}]}"),
        IDS,
        ((IN, token(groups="ops-us")), (OUT, token(groups="ops-eu")), (OUT, token(groups="dev"))),
    ),
    World(
        "no token is turned away",
        istio("{from: [{source: {notRequestPrincipals: ['*']}}]}", "DENY"),
        IDS,
        ((OUT, token()), (OUT, {}), (IN, token(iss="https://id", sub="bob"))),
    ),
    World(
        "a claim with a beginning",
        istio(f"{{{OF_GROUP}}}"),
        IDS,
        (
            (IN, token(groups="admin")),
            (IN, token(groups=["dev", "ops-eu"])),
            (OUT, token(groups="ops")),
            (OUT, token(groups="admins")),
            (OUT, token()),
        ),
    ),
    World(
        "a claim that must not be",
        istio(f"{{{ANYBODY}, {NOT_GROUP}}}"),
        IDS,
        (
            (IN, token(iss="https://id", sub="bob", groups="admin")),
            (IN, token(iss="https://id", sub="bob")),
            (OUT, token(iss="https://id", sub="bob", groups=["admin", "guest"])),
        ),
    ),
    World(
        "paths and methods",
        istio("{to: [{operation: {paths: ['/open/*', '*.css', '/a/{*}/b'], methods: [GET, 'P*']}}]}"),
        "",
        (
            (IN, {"path": "/open/1"}),
            (IN, {"path": "/x/y.css"}),
            (IN, {"path": "/a/1/b", "method": "PUT"}),
            (OUT, {"path": "/a/1/2/b"}),
            (OUT, {"path": "/open"}),
            (OUT, {"path": "/open/1", "method": "DELETE"}),
        ),
    ),
    World(
        "a header that is there",
        istio("{when: [{key: 'request.headers[x-team]', values: ['*']}]}"),
        "",
        ((IN, RED), (OUT, {})),
    ),
    World(
        "denied before it is allowed",
        istio("{to: [{operation: {paths: ['/admin*']}}]}") + f"\n---\n{istio(f'{{{REMOTE}}}', 'DENY', name='out')}",
        "",
        (
            (IN, {**at("203.0.113.1"), "path": "/admin"}),
            (OUT, {**at("10.0.0.1"), "path": "/admin"}),
            (OUT, {**at("203.0.113.1"), "path": "/"}),
            (OPEN, {"path": "/admin"}),
        ),
    ),
    World(
        "a provider decides",
        istio("{to: [{operation: {paths: ['/admin*']}}]}").replace(
            "action: ALLOW", "action: CUSTOM, provider: {name: ext}"
        ),
        "",
        ((OPEN, {"path": "/admin"}), (IN, {"path": "/"})),
    ),
)


def simulated(world: World) -> Simulation:
    backend = (worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"), worlds.service())
    if world.controller not in KINDS:
        around = worlds.gateway_class("edge", "istio.io/gateway-controller"), worlds.gateway(of_class="edge")
        return worlds.simulated(*around, *backend, world.controller, world.settings)
    controller, api, kind = KINDS[world.controller]
    field = "targetRef" if world.controller == "kuadrant" else "targetRefs"
    own = worlds.policy(api, kind, "own", "HTTPRoute/checkout", world.settings, "shop", field=field)
    return worlds.simulated(worlds.gateway_class("edge", controller), worlds.gateway(of_class="edge"), *backend, own)


REQUESTS = [(world, expected, asked) for world in (*WORLDS, *ISTIO) for expected, asked in world.requests]


@pytest.mark.parametrize(
    ("world", "expected", "asked"), REQUESTS, ids=[f"{world.name}: {asked}" for world, _, asked in REQUESTS]
)
def test_one_request(world: World, expected: str, asked: dict[str, Any]) -> None:
    trace = Tracer(simulated(world)).trace(request({"host": "shop.example", **asked}))
    answers = {judged.decision.answer for judged in trace.judged}
    answers |= {placed.decision.answer for placed in trace.admissions}
    said = OUT if "denied" in answers else OPEN if "depends" in answers else IN
    assert said == expected, end_in_words(trace)
    assert bool(trace.outcome.backends) == (expected != OUT)


@pytest.mark.parametrize("world", [*WORLDS, *ISTIO], ids=lambda world: world.name)
def test_regions_and_requests_agree(world: World) -> None:
    tried, wrong = disagreements(simulated(world), 300)
    assert tried > 3
    assert wrong == []


@pytest.mark.parametrize("world", [*WORLDS, *ISTIO], ids=lambda world: world.name)
def test_what_only_the_server_knows_is_no_guess(world: World) -> None:
    """A region depends on something only where each of its requests does: all that can be told apart is."""
    ways: list[WayIn] = [way for way in all_ways(simulated(world)) if way.trace.rule is not None]
    assert not [way for way in ways if way.bounded]
    depends = {judged.decision.why for way in ways for judged in way.trace.depends}
    assert depends <= {"rbac", "expressions", "the answer of ext"}
