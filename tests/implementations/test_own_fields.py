"""Fields of a route's rules that win over policies, and the others, which do not.

Predicted from Envoy Gateway's clustersettings.go, route.go and securitypolicy.go and kgateway's built-in plugin.
"""

from __future__ import annotations

from typing import Any

import pytest

from policylint.checks import policy_overridden
from policylint.model import value_at
from policylint.trace import Tracer, request
from tests import worlds

ENVOY = ("gateway.envoyproxy.io/gatewayclass-controller", "gateway.envoyproxy.io/v1alpha1")
AGENTGATEWAY = ("agentgateway.dev/agentgateway", "agentgateway.dev/v1alpha1")
KGATEWAY = ("kgateway.dev/kgateway", "gateway.kgateway.dev/v1alpha1")
TIMEOUT = "timeout: {http: {requestTimeout: 9s}, tcp: {connectTimeout: 1s}}"
RETRY = "retry: {numRetries: 5}"
CORS = "filters: [{type: CORS, cors: {allowOrigins: ['https://own.example']}}]"
POLICY_CORS = "cors: {allowOrigins: ['https://policy.example']}"
REQUEST = ("timeout", "http", "requestTimeout")
Case = tuple[tuple[str, str], str, str, str, tuple[str, ...], Any, bool]
CASES: dict[str, Case] = {
    "timeout": (ENVOY, "BackendTrafficPolicy", TIMEOUT, "timeouts: {request: 2s}", REQUEST, "2s", True),
    "time of a backend": (
        ENVOY,
        "BackendTrafficPolicy",
        TIMEOUT,
        "timeouts: {backendRequest: 2s}",
        REQUEST,
        "2s",
        True,
    ),
    "time of a try": (
        ENVOY,
        "BackendTrafficPolicy",
        TIMEOUT,
        "timeouts: {backendRequest: 2s}, retry: {attempts: 1}",
        REQUEST,
        "9s",
        False,
    ),
    "both times": (
        ENVOY,
        "BackendTrafficPolicy",
        TIMEOUT,
        "timeouts: {backendRequest: 2s, request: 4s}",
        REQUEST,
        "2s",
        True,
    ),
    "no timeout": (ENVOY, "BackendTrafficPolicy", TIMEOUT, "name: all", REQUEST, "9s", False),
    "retry": (ENVOY, "BackendTrafficPolicy", RETRY, "retry: {attempts: 1}", ("retry",), {"attempts": 1}, True),
    "retry of the policy": (ENVOY, "BackendTrafficPolicy", RETRY, "name: all", ("retry", "numRetries"), 5, False),
    "cors": (ENVOY, "SecurityPolicy", POLICY_CORS, CORS, ("cors", "allowOrigins"), ["https://own.example"], True),
    "kgateway timeout": (
        KGATEWAY,
        "TrafficPolicy",
        "timeouts: {request: 9s}",
        "timeouts: {request: 2s}",
        ("timeouts", "request"),
        "2s",
        True,
    ),
    "kgateway retry": (
        KGATEWAY,
        "TrafficPolicy",
        "retry: {attempts: 5, statusCodes: [500]}",
        "retry: {attempts: 1}",
        ("retry", "attempts"),
        1,
        True,
    ),
    "agentgateway timeouts": (
        AGENTGATEWAY,
        "AgentgatewayPolicy",
        "traffic: {timeouts: {request: 9s}}",
        "timeouts: {backendRequest: 2s}",
        ("traffic", "timeouts"),
        {"backendRequest": "2s"},
        True,
    ),
    "agentgateway headers": (
        AGENTGATEWAY,
        "AgentgatewayPolicy",
        "traffic: {headerModifiers: {request: {remove: [a]}}}",
        "filters: [{type: RequestHeaderModifier, requestHeaderModifier: {remove: [b]}}]",
        ("traffic", "headerModifiers", "request", "remove"),
        ["b"],
        True,
    ),
    "kgateway cors": (
        KGATEWAY,
        "TrafficPolicy",
        POLICY_CORS,
        CORS,
        ("cors", "allowOrigins"),
        ["https://own.example"],
        True,
    ),
}


def test_a_lock_holds_against_the_rule() -> None:
    """agentgateway: what `inheritance: Override` has locked, inline policies of routes do not replace (policy.rs)."""
    simulation = worlds.simulated(
        worlds.gateway_class("edge", AGENTGATEWAY[0]),
        worlds.gateway(of_class="edge"),
        worlds.route(more="rules: [{timeouts: {request: 2s}, backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        worlds.policy(
            AGENTGATEWAY[1],
            "AgentgatewayPolicy",
            "own",
            "Gateway/edge",
            "strategy: {inheritance: Override}, traffic: {timeouts: {request: 9s}}",
            "infra",
        ),
    )
    (met,) = Tracer(simulation).trace(request({"host": "shop.example", "path": "/"})).policies
    assert met.group.effective.spec == {"traffic": {"timeouts": {"request": "9s"}}}


@pytest.mark.parametrize("target", ["HTTPRoute/checkout", "Gateway/edge"])
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_whose_value_acts(case: Case, target: str) -> None:
    (controller, api), kind, spec, rule, pointer, value, wins = case
    namespace = "infra" if target.startswith("Gateway") else "shop"
    other = "{matches: [{path: {value: /other}}], backendRefs: [{name: checkout, port: 80}]}"
    simulation = worlds.simulated(
        worlds.gateway_class("edge", controller),
        worlds.gateway(of_class="edge"),
        worlds.route(more=f"rules: [{{{rule}, backendRefs: [{{name: checkout, port: 80}}]}}, {other}]"),
        worlds.service(),
        worlds.policy(api, kind, "own", target, spec, namespace),
    )
    tracer = Tracer(simulation)
    (met,) = tracer.trace(request({"host": "shop.example", "path": "/"})).policies
    assert value_at(met.group.effective.spec, pointer) == value
    assert ("HTTPRoute shop/checkout" in map(str, met.group.effective.sources)) is wins
    assert [str(lost.by[0]) for lost in met.group.effective.lost][:1] == (["HTTPRoute shop/checkout"] if wins else [])
    (elsewhere,) = tracer.trace(request({"host": "shop.example", "path": "/other"})).policies
    assert not elsewhere.group.effective.lost
    assert worlds.state(simulation, "own").verdict == ("PartiallyEnforced" if wins else "Enforced")


def test_a_policy_of_which_nothing_acts_is_overridden_by_the_route() -> None:
    simulation = worlds.simulated(
        worlds.gateway_class("edge", ENVOY[0]),
        worlds.gateway(of_class="edge"),
        worlds.route(more="rules: [{timeouts: {request: 2s}, backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        worlds.policy(
            ENVOY[1],
            "BackendTrafficPolicy",
            "own",
            "HTTPRoute/checkout",
            "timeout: {http: {requestTimeout: 9s}}",
            "shop",
        ),
    )
    state = worlds.state(simulation, "own")
    assert (state.verdict, [str(key) for key in state.by]) == ("Overridden", ["HTTPRoute shop/checkout"])


@pytest.mark.parametrize(
    ("target", "verdict", "by"),
    [
        ("kind: HTTPRoute, name: checkout", "Overridden", ["HTTPRoute shop/checkout"]),
        ("kind: Gateway, name: edge", "PartiallyEnforced", ["HTTPRoute shop/checkout"]),
    ],
)
def test_who_beats_a_policy_of_kgateway_is_the_rule_alone(target: str, verdict: str, by: list[str]) -> None:
    """Who sets something else has beaten nobody; for a Gateway, other routes may have no such field."""

    def policy(name: str, namespace: str, target: str, setting: str) -> str:
        body = f"spec: {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}], {setting}}}"
        return worlds.manifest(KGATEWAY[1], "TrafficPolicy", name, namespace, body)

    namespace = "shop" if "HTTPRoute" in target else "infra"
    simulation = worlds.simulated(
        worlds.gateway_class("any", KGATEWAY[0]),
        worlds.gateway(),
        worlds.service(),
        worlds.route(more=f"rules: [{{{CORS}, backendRefs: [{{name: checkout, port: 80}}]}}]"),
        policy("own", namespace, target, POLICY_CORS),
        policy("beside", "infra", "kind: Gateway, name: edge", "retry: {attempts: 2}"),
    )
    state = next(state for key, state in simulation.policies.items() if key.name == "own")
    assert (state.verdict, [str(key) for key in state.by]) == (verdict, by)


def test_no_finding_says_that_who_sets_something_else_overrides_a_policy() -> None:
    def policy(name: str, target: str, setting: str) -> str:
        body = f"spec: {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}], traffic: {{{setting}}}}}"
        return worlds.manifest(AGENTGATEWAY[1], "AgentgatewayPolicy", name, "shop", body)

    simulation = worlds.simulated(
        worlds.gateway_class("any", AGENTGATEWAY[0]),
        worlds.gateway("edge", "shop"),
        worlds.service(),
        worlds.route(
            parents="[{name: edge}]", more=f"rules: [{{{CORS}, backendRefs: [{{name: checkout, port: 80}}]}}]"
        ),
        policy("own", "kind: HTTPRoute, name: checkout", POLICY_CORS),
        policy("beside", "kind: Gateway, name: edge", "timeouts: {request: 9s}"),
    )
    (finding,) = policy_overridden.check(simulation)
    assert finding.message == "AgentgatewayPolicy shop/own has no effect: HTTPRoute shop/checkout overrides all of it"
