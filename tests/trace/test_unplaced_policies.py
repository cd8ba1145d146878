"""Policies of a namespace that is a variable may act wherever they select something: nobody knows where they are."""

from __future__ import annotations

import pytest

from policylint.trace import Requirements, Tracer
from policylint.trace.request import from_url
from tests.contract.own import INJECTED, ISTIO, authorization
from tests.worlds import manifest, simulated


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


def test_its_verdict_is_not_known() -> None:
    policies = simulated(*ISTIO, authorization("login", "", "'${TEAM}'"), manifest("v1", "Namespace", "team")).policies
    assert [state.verdict for state in policies.values()] == ["Unknown"]
