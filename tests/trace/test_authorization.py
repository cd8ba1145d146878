"""Whether policies let one request in: allowed, denied, or depending on what no manifest says.

Predicted from api/v1alpha1/authorization_types.go of Envoy Gateway, traffic_policy_types.go of kgateway,
agentgateway_policy_types.go of agentgateway and Kuadrant's and Authorino's documentation.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from policylint.report.kit.display import Paint
from policylint.report.kit.identity import Names
from policylint.report.trace.text import page, result
from policylint.report.trace.trace_v1 import entry
from policylint.simulation import Simulation
from policylint.trace import Requirements, Trace, Tracer, request
from tests import worlds

KINDS = {
    "envoy": ("gateway.envoyproxy.io/gatewayclass-controller", "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy"),
    "kgateway": ("kgateway.dev/kgateway", "gateway.kgateway.dev/v1alpha1", "TrafficPolicy"),
    "agentgateway": ("agentgateway.dev/agentgateway", "agentgateway.dev/v1alpha1", "AgentgatewayPolicy"),
    "kuadrant": ("istio.io/gateway-controller", "kuadrant.io/v1", "AuthPolicy"),
}
TEAM = "{name: x-team, values: [red, blue]}"
ADMIN = "{action: Allow, principal: {headers: [" + TEAM + "]}}"
HERE = "{action: Allow, principal: {clientCIDRs: [10.0.0.0/8]}}"
ALL = "principal: {clientCIDRs: ['0.0.0.0/0', '::/0']}"
GET = f"{{action: Allow, operation: {{methods: [GET]}}, {ALL}}}"
NO_POST = f"{{action: Deny, operation: {{methods: [POST]}}, {ALL}}}"
ISSUED = "jwt: {providers: [{name: id, remoteJWKS: {uri: 'https://id.example/jwks'}}]}"
OF_ID = "{action: Deny, principal: {jwt: {provider: id, scopes: [admin]}}}"
PATHS = "patternMatching: {patterns: [{selector: context.request.http.path, operator: matches, value: '^/open'}]}"
POST, RED = {"method": "POST"}, {"headers": {"X-Team": "red"}}
Asked = dict[str, Any]


def envoy(rules: str = "", default: str = "Deny") -> tuple[str, str]:
    return "envoy", f"authorization: {{defaultAction: {default}, rules: [{rules}]}}"


def rbac(*expressions: str, action: str = "Allow") -> tuple[str, str]:
    listed = ", ".join(f'"{expression}"' for expression in expressions)
    return "kgateway", f"rbac: {{action: {action}, policy: {{matchExpressions: [{listed}]}}}}"


def agent(expression: str, action: str = "Allow") -> tuple[str, str]:
    return (
        "agentgateway",
        f'traffic: {{authorization: {{action: {action}, policy: {{matchExpressions: ["{expression}"]}}}}}}',
    )


def kuadrant(rule: str, more: str = "") -> tuple[str, str]:
    return "kuadrant", f"rules: {{authorization: {{one: {{{rule}}}}}{more}}}"


WORLDS: list[tuple[tuple[str, str], Asked, str]] = [
    (envoy(), {}, "403"),
    (envoy(default="Allow"), {}, "reaches"),
    (envoy(HERE), {}, "if clientCIDRs"),
    (envoy(HERE, "Allow"), {}, "reaches"),
    (envoy(ADMIN), {}, "403"),
    (envoy(ADMIN), RED, "reaches"),
    (envoy(GET), {}, "reaches"),
    (envoy(GET), POST, "403"),
    (envoy(f"{NO_POST}, {HERE}"), POST, "403"),
    (envoy(f"{HERE}, {NO_POST}", "Allow"), POST, "if clientCIDRs"),
    (envoy(f"{HERE}, {GET}"), {}, "reaches"),
    (("envoy", f"{ISSUED}, {envoy(OF_ID, 'Allow')[1]}"), {}, "if jwt"),
    (envoy("{action: Allow, cel: 'true'}"), {}, "if cel"),
    (rbac("true"), {}, "reaches"),
    (rbac("false"), {}, "403"),
    (rbac("request.path.startsWith('/open')"), {"path": "/open/1"}, "reaches"),
    (rbac("request.path.startsWith('/open')"), {"path": "/shut"}, "403"),
    (rbac("request.auth.claims.groups == 'group1'"), {}, "if rbac"),
    (rbac("request.auth.claims.groups == 'group1'", "request.method == 'GET'"), {}, "reaches"),
    (rbac("request.method == 'POST'", action="Deny"), POST, "403"),
    (rbac("request.method == 'POST'", action="Deny"), {}, "reaches"),
    (rbac("request.headers['x-team'] == 'red'"), RED, "reaches"),
    (("kgateway", "acl: {defaultAction: deny}"), {}, "403"),
    (("kgateway", "acl: {defaultAction: deny, rules: [{cidrs: [10.0.0.0/8], action: allow}]}"), {}, "if address"),
    (("kgateway", "acl: {defaultAction: allow, rules: [{cidrs: [10.0.0.0/8], action: allow}]}"), {}, "reaches"),
    (agent("true"), {}, "reaches"),
    (agent("false"), {}, "403"),
    (agent("request.path == '/open'"), {"path": "/open"}, "reaches"),
    (agent("request.path == '/open'"), {"path": "/shut"}, "403"),
    (agent("jwt.sub == 'alice'"), {}, "if expressions"),
    (agent("request.method == 'POST'", "Deny"), POST, "403"),
    (agent("request.method == 'POST'", "Deny"), {}, "reaches"),
    (agent("jwt.sub == 'mallory'", "Deny"), {}, "if expressions"),
    (agent("request.method == 'GET'", "Require"), POST, "403"),
    (agent("request.method == 'GET'", "Require"), {}, "reaches"),
    (kuadrant("opa: {rego: 'allow = false'}"), {}, "403"),
    (kuadrant("opa: {rego: 'allow = true'}"), {}, "reaches"),
    (kuadrant("opa: {rego: 'default allow := false'}"), {}, "403"),
    (kuadrant("opa: {rego: 'allow { input.auth.identity.admin }'}"), {}, "if one"),
    (kuadrant(PATHS), {"path": "/open/1"}, "reaches"),
    (kuadrant(PATHS), {"path": "/shut"}, "403"),
    (kuadrant("patternMatching: {patterns: [{predicate: auth.identity.admin}]}"), {}, "if one"),
    (kuadrant(f"when: [{{predicate: \"request.method == 'POST'\"}}], {PATHS}"), {"path": "/shut"}, "reaches"),
    (
        kuadrant("opa: {rego: 'allow = false'}", ", response: {unauthorized: {code: 404}}"),
        {},
        "404",
    ),
    (
        (
            "kuadrant",
            "{when: [{predicate: auth.identity.a}], rules: {authorization: {one: {opa: {rego: 'allow = false'}}}}}",
        ),
        {},
        "if when",
    ),
]


def simulated(settings: tuple[str, str]) -> Simulation:
    controller, api, kind = KINDS[settings[0]]
    spec = settings[1].removeprefix("{").removesuffix("}") if settings[1].startswith("{") else settings[1]
    field = "targetRef" if settings[0] == "kuadrant" else "targetRefs"
    return worlds.simulated(
        worlds.gateway_class("edge", controller),
        worlds.gateway(of_class="edge"),
        worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        worlds.policy(api, kind, "own", "HTTPRoute/checkout", spec, "shop", field=field),
    )


def traced(simulation: Simulation, asked: Asked) -> Trace:
    return Tracer(simulation).trace(request({"host": "shop.example", **asked}))


@pytest.mark.parametrize(("settings", "asked", "expected"), WORLDS)
def test_one_request(settings: tuple[str, str], asked: Asked, expected: str) -> None:
    simulation = simulated(settings)
    trace = traced(simulation, asked)
    said = result(trace, Names.of([simulation]))
    condition = said.partition(", if ")[2]
    if expected.startswith("if "):
        assert said.startswith("reaches") and expected.removeprefix("if ") in condition
        assert [judged.decision.answer for judged in trace.judged] == ["depends"]
    elif expected == "reaches":
        assert said.startswith("reaches shop/checkout") and not condition
    else:
        assert said.startswith(f"{expected}: denied by {KINDS[settings[0]][2]} shop/own")
        assert not trace.outcome.backends


@pytest.mark.parametrize(("path", "skipped"), [("/", True), ("/admin", False)])
def test_a_policy_whose_conditions_do_not_hold_is_skipped(path: str, skipped: bool) -> None:
    simulation = simulated(
        (
            "kuadrant",
            "when: [{predicate: \"request.path == '/admin'\"}], rules: {authentication: {key: {plain: {selector: a}}}}",
        )
    )
    trace, names = traced(simulation, {"path": path}), Names.of([simulation])
    text = "".join(page(trace, names, Paint(False), 120))
    assert ("SKIPPED: its conditions do not hold" in text) is skipped
    assert entry(trace, names)["policies"][0].get("skipped", False) is skipped
    login = Requirements(Tracer(simulation)).of(trace, "authentication")
    assert (
        result(trace, names, login) == f"reaches shop/checkout, {'no login' if skipped else 'authentication required'}."
    )


def test_the_answer_names_its_place() -> None:
    simulation = simulated(envoy(f"{HERE}, {NO_POST}"))
    content = entry(traced(simulation, {}), Names.of([simulation]))
    (answer,) = content["authorization"]
    assert (answer["answer"], answer["on"], answer["policy"]) == ("depends", "clientCIDRs", "SecurityPolicy shop/own")
    assert json.dumps(answer["location"])
