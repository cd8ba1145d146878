"""The rules of `traffic.authorization` for one request (crates/agentgateway/src/http/authorization.rs).

A rule of Deny that matches keeps the request out, a rule of Require must match, and where there are rules of Allow one
of them must match.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import mapping, sequence
from policylint.model.ternary import every, negated, some
from policylint.policy.authorizing import AuthorizationRule, Decision, RequestFacts, first_match, holds, otherwise

_PLACE = ("traffic", "authorization")


def decide(spec: Mapping[str, Any], message: RequestFacts) -> Decision | None:
    """Return what the rules of an effective policy answer a request; None without any."""
    value = mapping(spec.get("traffic")).get("authorization")
    rules = [mapping(rule) for rule in (value if isinstance(value, list) else [value] if value else [])]
    if not rules:
        return None
    allowing: list[AuthorizationRule] = []
    denying: list[AuthorizationRule] = []
    for rule in rules:
        answers = [holds(each, message) for each in sequence(mapping(rule.get("policy")).get("matchExpressions"))]
        match rule.get("action", "Allow"):
            case "Allow":
                allowing.append(_rule(some(answers), allows=True))
            case "Deny":
                denying.append(_rule(some(answers), allows=False))
            case "Require":
                denying.append(_rule(negated(every(answers)), allows=False))
    return first_match([*denying, *allowing], otherwise(_PLACE, allows=not allowing))


def _rule(matches: bool | None, *, allows: bool) -> AuthorizationRule:
    return AuthorizationRule(matches, allows, _PLACE, "expressions" if matches is None else "")
