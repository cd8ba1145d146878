"""Policies of a namespace that is a variable may act wherever they select something: nobody knows where they are."""

from __future__ import annotations

import pytest

from policylint.trace import Requirements, Tracer
from policylint.trace.request import from_url
from tests.contract.own import INJECTED, ISTIO, ROUTE, SERVICE, authorization
from tests.worlds import gateway, gateway_class, manifest, simulated


@pytest.mark.parametrize("namespace", ["'${TEAM}'", "shop", "infra", "other"])
@pytest.mark.parametrize(
    ("spec", "selects"),
    [("", True), ("selector: {matchLabels: {app: checkout}}", True), ("selector: {matchLabels: {app: other}}", False)],
)
def test_what_they_ask_is_not_known(namespace: str, spec: str, selects: bool) -> None:
    rules = ", ".join(filter(None, (spec, "action: ALLOW, rules: [{from: [{source: {requestPrincipals: ['*']}}]}]")))
    tracer = Tracer(simulated(*ISTIO, INJECTED, authorization("login", rules, namespace)))
    given = Requirements(tracer).of(tracer.trace(from_url("GET", "http://shop.example.com/")), "authentication")
    may_ask = selects and "$" in namespace
    assert (given.state == "unknown") == may_ask
    assert ("AuthorizationPolicy ${TEAM}/login may ask" in given.why) == may_ask


@pytest.mark.parametrize("kind", ["AuthorizationPolicy", "RequestAuthentication"])
def test_a_variable_for_all_that_a_policy_says_is_not_all_of_its_namespace(kind: str) -> None:
    whole = manifest("security.istio.io/v1", kind, "login", "shop", "spec: '${SPEC}'")
    simulation = simulated(*ISTIO, INJECTED, whole)
    trace = Tracer(simulation).trace(from_url("GET", "http://shop.example.com/"))
    assert trace.outcome.backends
    assert [state.verdict for state in simulation.policies.values()] == ["Unknown"]
    given = Requirements(Tracer(simulation)).of(trace, "authentication")
    assert given.state == "unknown"
    assert f"{kind} shop/login may ask" in given.why


@pytest.mark.parametrize(
    "spec", ["'${SPEC}'", "{targetRefs: '${REFS}'}", "{targetRef: '${REF}'}", "{targetSelectors: '${ALL}'}"]
)
def test_targets_in_a_variable_may_be_any(spec: str) -> None:
    edge = [gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller"), gateway(), SERVICE, ROUTE]
    simulation = simulated(
        *edge, manifest("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "login", "shop", f"spec: {spec}")
    )
    trace = Tracer(simulation).trace(from_url("GET", "http://shop.example.com/"))
    assert Requirements(Tracer(simulation)).of(trace, "authentication").state == "unknown"
    assert [state.verdict for state in simulation.policies.values()] == ["Unknown"]


def test_its_verdict_is_not_known() -> None:
    policies = simulated(*ISTIO, authorization("login", "", "'${TEAM}'"), manifest("v1", "Namespace", "team")).policies
    assert [state.verdict for state in policies.values()] == ["Unknown"]
