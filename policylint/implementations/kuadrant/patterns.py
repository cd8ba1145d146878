"""Patterns on requests in Kuadrant's policies: CEL, comparisons, named patterns, `all` and `any` of them.

Source: Authorino, controllers/auth_config_controller.go, buildJSONExpression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from policylint.model import is_symbolic, mapping, sequence, text
from policylint.model.ternary import every, negated, some
from policylint.policy.authorizing import RequestFacts, has_field, holds
from policylint.spaces.predicates import Predicate, matching

_SELECTORS = {
    "context.request.http.method": "method",
    "context.request.http.host": "host",
    "context.request.http.path": "path",
    "request.method": "method",
    "request.host": "host",
    "request.path": "path",
}
_OF_CLAIMS = {"eq": True, "neq": False, "incl": True, "excl": False}
"""The operators that compare values of a claim, and whether it must have the value; one that is not there has none."""


class Patterns:
    """The patterns of one effective policy, asked about one request."""

    __slots__ = ("_message", "_named", "_token")

    def __init__(self, spec: Mapping[str, Any], message: RequestFacts, token: Sequence[str] = ()) -> None:
        """Keep the named patterns, and where patterns find the claims of a token; () where they are not asked about."""
        self._named = mapping(spec.get("patterns"))
        self._message = message
        self._token = token

    def all(self, patterns: object) -> bool | None:
        """Return whether all patterns of a list hold; None where that is not known."""
        return self._combined(patterns, every)

    def first_unmet(self, patterns: object) -> Mapping[str, Any]:
        """Return the first of a list's patterns that does not hold, looked up by name and within `all` of them."""
        for entry in map(mapping, sequence(patterns)):
            if self._is_dangling(entry) or self._holds(entry) is not False:
                continue
            named = mapping(self._named.get(text(entry.get("patternRef")))).get("allOf")
            return self.first_unmet(named if named else entry.get("all")) or entry
        return {}

    def _combined(self, patterns: object, combine: Callable[[Iterable[bool | None]], bool | None]) -> bool | None:
        """Return whether patterns hold together; a name that no pattern has adds nothing to a list."""
        entries = (mapping(entry) for entry in sequence(patterns))
        return combine(self._holds(entry) for entry in entries if not self._is_dangling(entry))

    def _is_dangling(self, pattern: Mapping[str, Any]) -> bool:
        name = text(pattern.get("patternRef"))
        return bool(name) and name not in self._named and not is_symbolic(name) and len(pattern) == 1

    def _holds(self, pattern: Mapping[str, Any]) -> bool | None:
        for field, combine in (("all", every), ("any", some)):
            if field in pattern:
                return self._combined(pattern[field], combine)
        if "predicate" in pattern:
            return holds(pattern["predicate"], self._message, self._token)
        name = text(pattern.get("patternRef"))
        if name in self._named:
            return self._combined(mapping(self._named[name]).get("allOf"), every)
        return self._compared(pattern)

    def _compared(self, pattern: Mapping[str, Any]) -> bool | None:
        selector = text(pattern.get("selector"))
        field, value, operator = _SELECTORS.get(selector), str(pattern.get("value", "")), text(pattern.get("operator"))
        claim = selector.removeprefix(".".join((*self._token, ""))) if self._token else selector
        if claim != selector and operator in _OF_CLAIMS:
            answer = self._message.has_claim(claim, Predicate("Exact", value))
            return answer if _OF_CLAIMS[operator] else negated(answer)
        if field is None:
            return None
        match operator:
            case "eq":
                return has_field(self._message, field, Predicate("Exact", value))
            case "neq":
                return negated(has_field(self._message, field, Predicate("Exact", value)))
            case "matches":
                return has_field(self._message, field, matching(anywhere(value)))
        return None


def anywhere(pattern: str) -> str:
    """Return the expression of whole texts in which another one matches anywhere."""
    if "|" in pattern:
        return f"(?s:.*)(?:{pattern})(?s:.*)"
    start = pattern.removeprefix("^") if pattern.startswith("^") else f".*{pattern}"
    return start if start.endswith("$") and not start.endswith("\\$") else f"{start}.*"
