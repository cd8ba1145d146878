"""The rules of SecurityPolicy.authorization for one request (api/v1alpha1/authorization_types.go).

The first rule that matches counts, else the default action, which is Deny. Of a principal all fields must match, of a
field with several values one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.model import mapping, sequence, text, texts
from policylint.model.ternary import every
from policylint.policy.authorizing import AuthorizationRule, Decision, RequestFacts, first_match, otherwise


def decide(authorization: Mapping[str, Any], message: RequestFacts) -> Decision:
    """Return what the rules answer a request."""
    rules = enumerate(map(mapping, sequence(authorization.get("rules"))))
    place = ("authorization", "defaultAction") if "defaultAction" in authorization else ("authorization",)
    default = otherwise(place, allows=authorization.get("defaultAction") == "Allow")
    return first_match((_rule(rule, number, message) for number, rule in rules), default)


def _rule(rule: Mapping[str, Any], number: int, message: RequestFacts) -> AuthorizationRule:
    conditions = list(_conditions(rule, message))
    on = ", ".join(name for name, answer in conditions if answer is None)
    matches = every(answer for _, answer in conditions)
    return AuthorizationRule(matches, rule.get("action") == "Allow", ("authorization", "rules", number), on)


def _conditions(rule: Mapping[str, Any], message: RequestFacts) -> Iterator[tuple[str, bool | None]]:
    operation = mapping(rule.get("operation"))
    for name in operation:
        yield name, message.method in sequence(operation["methods"]) if name == "methods" else None
    for name, value in mapping(rule.get("principal")).items():
        if name == "headers":
            headers = map(mapping, sequence(value))
            yield name, all(message.has_header(header.get("name"), header.get("values")) for header in headers)
        elif name == "clientCIDRs" and value:
            yield name, message.is_from(texts(value))
        elif value:
            yield name, None
    if text(rule.get("cel")) or isinstance(rule.get("cel"), dict):
        yield "cel", None
