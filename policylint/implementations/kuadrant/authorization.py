"""The authorization rules of Kuadrant's AuthPolicy for one request (Authorino, pkg/evaluators/authorization).

All rules must allow. Decided are patterns on method, host and path, CEL of the same sort, and Rego whose only statement
makes `allow` a constant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policylint.model import mapping, sequence, text
from policylint.model.ternary import every, negated, some
from policylint.policy.authorizing import (
    AuthorizationRule,
    Decision,
    RequestFacts,
    first_match,
    has_field,
    holds,
    otherwise,
)
from policylint.spaces import Predicate

_CONSTANT = re.compile(r"(?:default\s+)?allow\s*:?=\s*(true|false)")
_SELECTORS = {
    "context.request.http.method": "method",
    "context.request.http.host": "host",
    "context.request.http.path": "path",
    "request.method": "method",
    "request.host": "host",
    "request.path": "path",
}


def decide(rules: Mapping[str, Any], message: RequestFacts) -> Decision | None:
    """Return what the rules of an AuthPolicy answer a request; None where they authorize nothing."""
    authorization = mapping(rules.get("authorization"))
    if not authorization:
        return None
    status = mapping(mapping(rules.get("response")).get("unauthorized")).get("code")
    answers = {name: _answer(mapping(rule), message) for name, rule in authorization.items()}
    place = ("rules", "authorization")
    unknown = ", ".join(name for name, answer in answers.items() if answer is None)
    refusing = (
        AuthorizationRule(negated(answer), False, (*place, name), unknown if answer is None else "")
        for name, answer in answers.items()
    )
    decision = first_match(refusing, otherwise(place, allows=True))
    return decision._replace(status=status) if decision.answer == "denied" and isinstance(status, int) else decision


def _answer(rule: Mapping[str, Any], message: RequestFacts) -> bool | None:
    """Return whether one rule allows a request; one whose conditions do not hold is skipped."""
    skipped = every(_pattern(mapping(pattern), message) for pattern in sequence(rule.get("when")))
    if skipped is False:
        return True
    allowed = _evaluated(rule, message)
    return allowed if allowed or skipped else None


def _evaluated(rule: Mapping[str, Any], message: RequestFacts) -> bool | None:
    rego = text(mapping(rule.get("opa")).get("rego"))
    if rego:
        lines = (line.partition("#")[0].strip() for line in rego.splitlines())
        statements = [line for line in lines if line]
        constant = _CONSTANT.fullmatch(statements[0]) if len(statements) == 1 else None
        return None if constant is None else constant[1] == "true"
    if "patternMatching" in rule:
        patterns = sequence(mapping(rule["patternMatching"]).get("patterns"))
        return every(_pattern(mapping(pattern), message) for pattern in patterns)
    return None


def _pattern(pattern: Mapping[str, Any], message: RequestFacts) -> bool | None:
    """Return whether a pattern holds: a CEL predicate, a comparison, or `all` and `any` of others."""
    for name, combine in (("all", every), ("any", some)):
        if name in pattern:
            return combine(_pattern(mapping(inner), message) for inner in sequence(pattern[name]))
    if "predicate" in pattern:
        return holds(pattern["predicate"], message)
    field = _SELECTORS.get(text(pattern.get("selector")))
    if field is None:
        return None
    value = str(pattern.get("value", ""))
    match text(pattern.get("operator")):
        case "eq":
            return has_field(message, field, Predicate("Exact", value))
        case "neq":
            return negated(has_field(message, field, Predicate("Exact", value)))
        case "matches":
            return has_field(message, field, Predicate("RegularExpression", _anywhere(value)))
    return None


def _anywhere(pattern: str) -> str:
    """Return the expression of whole texts in which another one matches anywhere."""
    if "|" in pattern:
        return f"(?s:.*)(?:{pattern})(?s:.*)"
    start = pattern.removeprefix("^") if pattern.startswith("^") else f".*{pattern}"
    return start if start.endswith("$") and not start.endswith("\\$") else f"{start}.*"
