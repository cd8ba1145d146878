"""A variable in what a policy asks leaves open what it asks: nothing is sworn, whichever field it stands in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.reach import entries, ways_in
from policylint.simulation import Simulation
from policylint.trace import Requirements, Trace, Tracer
from policylint.trace.request import from_url
from tests.variables import at_place, places, with_variable
from tests.worlds import gateway, gateway_class, manifest, opened, service

CONTROLLERS = {
    "SecurityPolicy": "gateway.envoyproxy.io/gatewayclass-controller",
    "AuthPolicy": "gateway.envoyproxy.io/gatewayclass-controller",
    "TrafficPolicy": "kgateway.dev/kgateway",
    "AgentgatewayPolicy": "agentgateway.dev/agentgateway",
    "AuthorizationPolicy": "istio.io/gateway-controller",
}
TEAM = "request.headers['x-team'] == 'blue'"
SPECS: dict[str, tuple[str, str, str]] = {
    "Envoy Gateway, headers": (
        *("SecurityPolicy", "gateway.envoyproxy.io/v1alpha1"),
        (
            "authorization: {defaultAction: Deny, rules: "
            "[{action: Allow, principal: {headers: [{name: x-team, values: [blue]}]}}]}"
        ),
    ),
    "Envoy Gateway, networks": (
        *("SecurityPolicy", "gateway.envoyproxy.io/v1alpha1"),
        "authorization: {defaultAction: Allow, rules: [{action: Deny, principal: {clientCIDRs: [203.0.113.0/24]}}]}",
    ),
    "Envoy Gateway, methods": (
        *("SecurityPolicy", "gateway.envoyproxy.io/v1alpha1"),
        (
            "authorization: {defaultAction: Deny, rules: "
            "[{action: Allow, operation: {methods: [GET]}, principal: {clientCIDRs: [0.0.0.0/0]}}]}"
        ),
    ),
    "kgateway": (
        *("TrafficPolicy", "gateway.kgateway.dev/v1alpha1"),
        f'rbac: {{action: Allow, policy: {{matchExpressions: ["{TEAM}"]}}}}',
    ),
    "agentgateway": (
        *("AgentgatewayPolicy", "agentgateway.dev/v1alpha1"),
        f'traffic: {{authorization: {{action: Deny, policy: {{matchExpressions: ["{TEAM}"]}}}}}}',
    ),
    "Kuadrant": (
        *("AuthPolicy", "kuadrant.io/v1"),
        (
            "rules: {authorization: {team: {patternMatching: {patterns: "
            "[{selector: request.headers.x-team, operator: eq, value: blue}]}}}}"
        ),
    ),
    "Istio, headers": (
        *("AuthorizationPolicy", "security.istio.io/v1"),
        "{action: ALLOW, rules: [{when: [{key: 'request.headers[x-team]', values: [blue]}]}]}",
    ),
    "Istio, an authorizer": (
        *("AuthorizationPolicy", "security.istio.io/v1"),
        "{action: CUSTOM, provider: {name: login}, rules: [{to: [{operation: {notPaths: [/b/*]}}]}]}",
    ),
    "Istio, operations": (
        *("AuthorizationPolicy", "security.istio.io/v1"),
        "{action: DENY, rules: [{to: [{operation: {paths: [/a/*], methods: [GET], hosts: [shop.example.com]}}]}]}",
    ),
}


def read(name: str) -> tuple[str, str, dict[str, Any]]:
    kind, version, spec = SPECS[name]
    return kind, version, yaml.safe_load(spec)


def world(folder: Path, name: str, spec: Any) -> Simulation:
    kind, version, _ = read(name)
    target = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "web"}
    if kind == "AuthorizationPolicy":
        target |= {"kind": "Gateway", "name": "edge"}
    stated = {"targetRef": target} if kind == "AuthPolicy" else {"targetRefs": [target]}
    policy = {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": stated | spec,
    }
    rules = "[{backendRefs: [{name: web, port: 80}]}]"
    route = f"spec: {{parentRefs: [{{name: edge}}], hostnames: [shop.example.com], rules: {rules}}}"
    return opened(
        folder,
        gateway_class(controller=CONTROLLERS[kind]),
        gateway("edge", "shop", "[{name: http, port: 80, protocol: HTTP}]"),
        manifest("gateway.networking.k8s.io/v1", "HTTPRoute", "web", "shop", route),
        service("web", "shop", "[{port: 80}]"),
        yaml.safe_dump(policy),
    )


def traces(folder: Path, name: str, spec: Any) -> list[Trace]:
    tracer = Tracer(world(folder, name, spec))
    for entry in entries(tracer):
        list(ways_in(tracer, entry))
    asked = (["x-team: blue"], ["x-team: red"])
    found = [tracer.trace(from_url("GET", "http://shop.example.com/a/b", sent, client="203.0.113.9")) for sent in asked]
    for trace in found:
        Requirements(tracer).of(trace, "authorization")
    return found


def answer(trace: Trace) -> str:
    """Return what is certain of an answer; "" where it is said to depend on something."""
    if trace.outcome.unknown or trace.depends or trace.authorization == "depends":
        return ""
    return str(trace.outcome.status or "in")


VARIABLES = [(name, place) for name in SPECS for place in places(read(name)[2])]


@pytest.mark.parametrize(("name", "place"), VARIABLES)
def test_what_a_variable_may_change_is_not_certain(tmp_path: Path, name: str, place: tuple[Any, ...]) -> None:
    spec = read(name)[2]
    sides = (spec, with_variable(spec, place))
    before, after = (list(map(answer, traces(tmp_path, name, each))) for each in sides)
    assert [(was, said) for was, said in zip(before, after, strict=True) if said not in (was, "")] == []


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Envoy Gateway, headers", ("authorization",)),
        ("kgateway", ("rbac",)),
        ("agentgateway", ("traffic",)),
        ("agentgateway", ("traffic", "authorization")),
        ("Kuadrant", ("rules",)),
    ],
)
def test_whether_it_asks_at_all_is_not_known(tmp_path: Path, name: str, place: tuple[str, ...]) -> None:
    for trace in traces(tmp_path, name, with_variable(read(name)[2], place)):
        assert trace.may_ask == [f"{read(name)[0]} shop/p"]
        assert [judged.decision.why for judged in trace.depends] == [f"spec.{'.'.join(place)} is a variable"]


@pytest.mark.parametrize(
    ("name", "place"),
    [("Istio, operations", ("rules", 0, "to", 0, "operation", "paths")), ("Istio, headers", ("rules", 0, "when", 0))],
)
def test_what_it_certainly_is_not_about_is_certain(tmp_path: Path, name: str, place: tuple[Any, ...]) -> None:
    spec = read(name)[2]
    value = at_place(spec, place)
    if isinstance(value, list):
        value[0] = "/other/${X}"
    else:
        value["values"] = ["team-${X}"]
    told = {"Istio, operations": ["in", "in"], "Istio, headers": ["403", "403"]}[name]
    assert [answer(trace) for trace in traces(tmp_path, name, spec)] == told


def test_a_text_in_the_place_of_a_text_leaves_what_is_asked_certain(tmp_path: Path) -> None:
    spec = {"jwt": {"providers": [{"name": "a", "issuer": "${ISSUER}", "remoteJWKS": {"uri": "https://${HOST}/keys"}}]}}
    for trace in traces(tmp_path, "Envoy Gateway, headers", spec):
        assert not trace.depends and not trace.may_ask
        assert [ask.name for met in trace.policies for ask in met.asks] == ["jwt"]


@pytest.mark.parametrize(
    ("spec", "method", "headers", "status"),
    [
        (
            {"cors": {"allowOrigins": ["https://a.example.com"]}},
            "OPTIONS",
            ["Origin: https://a.example.com", "Access-Control-Request-Method: GET"],
            200,
        ),
        ({"csrf": {"additionalOrigins": ["a.example.com"]}}, "POST", ["Origin: https://evil.example"], 403),
        ({"extAuth": {"http": {"backendRefs": [{"name": "nobody", "port": 80}]}}}, "GET", [], 500),
    ],
    ids=["a preflight", "another site", "an authorizer that is missing"],
)
def test_what_other_settings_answer_is_certain(
    tmp_path: Path, spec: dict[str, Any], method: str, headers: list[str], status: int
) -> None:
    rules = {"authorization": {"defaultAction": "Deny", "rules": "${RULES}"}}
    simulation = world(tmp_path, "Envoy Gateway, headers", spec | rules)
    trace = Tracer(simulation).trace(from_url(method, "http://shop.example.com/a", headers))
    assert trace.outcome.status == status
