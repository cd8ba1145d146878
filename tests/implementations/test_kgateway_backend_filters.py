"""TrafficPolicies that filters of backendRefs name (docs/design/implementations/kgateway-nginx-gloo.md §2.4)."""

from __future__ import annotations

import pytest

from policylint.simulation import Simulation
from policylint.trace.request import request
from policylint.trace.result import Trace
from policylint.trace.tracing import Tracer
from tests import worlds

BASE = (
    worlds.gateway_class("kgateway", "kgateway.dev/kgateway"),
    worlds.gateway(of_class="kgateway"),
    worlds.service("a", "infra"),
    worlds.service("b", "infra"),
)
ONLY_Y = "rbac: {action: Allow, policy: {matchExpressions: [\"request.headers['x'] == 'y'\"]}}"
ONLY_Z = ONLY_Y.replace("'y'", "'z'")


def policy(name: str, spec: str, target: str = "") -> str:
    return worlds.policy("gateway.kgateway.dev/v1alpha1", "TrafficPolicy", name, target, spec, "infra")


def naming(*names: str) -> str:
    return worlds.extending(*names, group="gateway.kgateway.dev", kind="TrafficPolicy")


def backend(name: str, *policies: str) -> str:
    return f"{{name: {name}, port: 80, {naming(*policies)}}}"


def simulated(backends: str, *policies: str, filters: str = "filters: []") -> Simulation:
    rules = f"rules: [{{name: all, {filters}, backendRefs: [{backends}]}}]"
    return worlds.simulated(*BASE, worlds.route("web", "infra", "[{name: edge}]", more=rules), *policies)


def acting(found: Simulation) -> dict[str, str]:
    """Return by backend which policies have which fields in force there."""
    said: dict[str, set[str]] = {}
    for group in found.groups:
        for path in group.contexts():
            fields = {f"{owner.name}.{leaf[0]}" for leaf, owner in group.effective.owners.items()}
            said.setdefault(path[-1].key.name, set()).update(fields)
    return {name: " ".join(sorted(fields)) for name, fields in sorted(said.items())}


def traced(found: Simulation) -> Trace:
    return Tracer(found).trace(request({"host": "x.test", "path": "/"}))


@pytest.mark.parametrize(
    ("backends", "in_force"),
    [
        (backend("a", "own"), {"a": "own.rbac"}),
        (f"{backend('a', 'own')}, {backend('b')}", {"a": "own.rbac"}),
        (f"{backend('a', 'own')}, {backend('b', 'own')}", {"a": "own.rbac", "b": "own.rbac"}),
    ],
)
def test_it_acts_on_what_goes_to_its_backends(backends: str, in_force: dict[str, str]) -> None:
    """What routes do themselves is not for a backend to say."""
    found = simulated(backends, policy("own", f"{ONLY_Y}, timeouts: {{request: 3s}}, autoHostRewrite: true"))
    assert acting(found) == in_force
    state = worlds.state(found, "own")
    assert state.verdict == "Enforced"
    assert {condition for each in state.ancestors for condition in worlds.conditions(each.conditions)} == {
        "Accepted=True/Valid",
        "Attached=False/Pending",
    }


@pytest.mark.parametrize(
    ("backends", "in_force"),
    [
        (backend("a", "own"), {"a": "rule.rbac"}),
        (f"{backend('a', 'own')}, {backend('b')}", {"a": "own.rbac", "b": "rule.rbac"}),
    ],
)
def test_of_several_backends_it_goes_before_the_route_of_one_behind_it(backends: str, in_force: dict[str, str]) -> None:
    beside = policy("rule", ONLY_Z, "HTTPRoute/web#all")
    assert acting(simulated(backends, policy("own", ONLY_Y), beside)) == in_force


def test_it_goes_before_the_gateway() -> None:
    beside = policy("edge", f"{ONLY_Z}, buffer: {{maxRequestSize: 1Ki}}", "Gateway/edge")
    found = simulated(f"{backend('a', 'own')}, {backend('b')}", policy("own", ONLY_Y), beside)
    assert acting(found) == {"a": "edge.buffer own.rbac", "b": "edge.buffer edge.rbac"}


def test_whether_a_request_is_let_in_hangs_on_the_backend_that_it_goes_to() -> None:
    deny = "rbac: {action: Deny, policy: {matchExpressions: ['true']}}"
    alone = traced(simulated(backend("a", "own"), policy("own", deny)))
    assert alone.denied is not None
    assert alone.outcome.status == 403
    beside = traced(simulated(f"{backend('a', 'own')}, {backend('b')}", policy("own", deny)))
    assert beside.denied is None
    (judged,) = beside.judged
    assert (judged.decision.answer, judged.decision.why) == ("depends", "whether it goes to Service infra/a")


def test_one_that_the_controller_refuses_fails_nothing() -> None:
    broken = "extAuth: {extensionRef: {name: gone}}"
    as_backend = simulated(backend("a", "own"), policy("own", broken))
    assert traced(as_backend).outcome.status is None
    as_rule = simulated(backend("a"), policy("own", broken), filters=naming("own"))
    assert traced(as_rule).outcome.status == 500
