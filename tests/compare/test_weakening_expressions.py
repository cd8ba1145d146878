"""GWP304 where expressions decide: one that plainly got stricter weakens nothing, any other one does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import GATEWAY
from tests.compare.test_weakening import WORLD, said, security, weakened
from tests.compare.test_weakening_kinds import ON_ROUTE, agent, auth, traffic

WHO = "who.a == 'x' && who.b == 'y'"
NARROWER = f"{WHO} && who.c == 'z'"
WIDER = "who.a == 'x'"
SIDEWAYS = "who.a == 'x' && who.d == 'y'"


def agentgateway(expressions: str, action: str) -> str:
    return agent(f"traffic: {{authorization: {{action: {action}, policy: {{matchExpressions: [{expressions}]}}}}}}")


def kgateway(expressions: str, action: str) -> str:
    return traffic(f"rbac: {{action: {action}, policy: {{matchExpressions: [{expressions}]}}}}")


def kuadrant(expressions: str, _action: str) -> str:
    patterns = f"[{{predicate: {expressions}}}]"
    keys = "authentication: {keys: {apiKey: {selector: {matchLabels: {app: shop}}}}}"
    return auth(f"rules: {{{keys}, authorization: {{all: {{patternMatching: {{patterns: {patterns}}}}}}}}}")


def envoy(expressions: str, action: str) -> str:
    rest = "Deny" if action == "Allow" else "Allow"
    rule = f"{{action: {action}, cel: {expressions}}}"
    return security(f"{ON_ROUTE}authorization: {{defaultAction: {rest}, rules: [{rule}]}}")


IMPLEMENTATIONS = [
    (agentgateway, "agentgateway", "Allow"),
    (agentgateway, "agentgateway", "Require"),
    (agentgateway, "agentgateway", "Deny"),
    (kgateway, "kgateway", "Allow"),
    (kgateway, "kgateway", "Deny"),
    (kuadrant, "istio", "Allow"),
    (envoy, "envoy", "Allow"),
    (envoy, "envoy", "Deny"),
]


@pytest.mark.parametrize(("policy", "controller", "action"), IMPLEMENTATIONS)
def test_an_expression_weakens_where_it_does_not_plainly_get_stricter(
    tmp_path: Path, policy: object, controller: str, action: str
) -> None:
    assert callable(policy)
    world = (GATEWAY.replace("envoy", controller), *WORLD[1:])

    def told(before: str, after: str) -> bool:
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        place.mkdir()
        sides = ((*world, policy(f'"{each}"', action)) for each in (before, after))
        return bool(said(weakened(place, *sides)))

    stricter, weaker = (NARROWER, WIDER) if action != "Deny" else (WIDER, NARROWER)
    assert not told(WHO, stricter)
    assert told(WHO, weaker)
    assert told(WHO, SIDEWAYS)
    assert not told(WHO, "who.b=='y' && (who.a == 'x')")
    assert not told(f"{WHO} || {SIDEWAYS}", WHO) if action != "Deny" else not told(WHO, f"{WHO} || {SIDEWAYS}")
