"""The rules of `traffic.authorization` for one request (crates/agentgateway/src/http/authorization.rs).

A rule of Deny that matches keeps the request out, a rule of Require must match, and where there are rules of Allow one
of them must match.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import mapping, sequence
from policylint.model.ternary import every, some
from policylint.policy.authorizing import Decision, RequestFacts, holds

_PLACE = ("traffic", "authorization")


def decide(spec: Mapping[str, Any], message: RequestFacts) -> Decision | None:
    """Return what the rules of an effective policy answer a request; None without any."""
    value = mapping(spec.get("traffic")).get("authorization")
    rules = [mapping(rule) for rule in (value if isinstance(value, list) else [value] if value else [])]
    if not rules:
        return None
    matches: dict[str, list[bool | None]] = {"Allow": [], "Deny": [], "Require": []}
    for rule in rules:
        expressions = sequence(mapping(rule.get("policy")).get("matchExpressions"))
        action = str(rule.get("action", "Allow"))
        combine = every if action == "Require" else some
        matches.setdefault(action, []).append(combine(holds(expression, message) for expression in expressions))
    denied = some(matches["Deny"])
    lets_in = [None if denied is None else not denied, every(matches["Require"])]
    if matches["Allow"]:
        lets_in.append(some(matches["Allow"]))
    answer = every(lets_in)
    if answer is None:
        return Decision("depends", _PLACE, "expressions")
    return Decision("allowed" if answer else "denied", _PLACE)
