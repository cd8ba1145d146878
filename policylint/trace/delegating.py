"""The matches of routes that a rule delegates to, as far as they lie within what the rule matches.

Source: kgateway pkg/kgateway/translator/httproute/delegation_helpers.go (filterDelegatedChildren,
mergeParentChildRouteMatch), utils/delegation/delegation.go (IsDelegatedRouteMatch), delegation.go (validateChildRoute).
A child's match is left out unless its path begins with the parent's, a prefix, and it asks for all that the parent
asks for; the paths of a child that inherits its parent's matcher are relative to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import join, normpath
from typing import Any

from policylint.model import Resource, mapping, sequence, text
from policylint.regex import quoted
from policylint.topology.delegation import inherits_matcher
from policylint.topology.routes import rules
from policylint.trace.matching import matches, path_of
from policylint.trace.precedence import RuleCandidate
from policylint.trace.request import Request

_ASKING = ("headers", "queryParams")


def child_candidates(above: RuleCandidate, child: Resource, request: Request) -> Iterator[RuleCandidate]:
    """Yield every match of a child that counts below a match of a rule; none of a child with hostnames of its own."""
    if sequence(child.spec.get("hostnames")):
        return
    inherits = inherits_matcher(child)
    for rule in rules(child):
        for match in matches(rule.body):
            value = _within(above.match.value, match.value, inherits=inherits)
            if value is not None:
                (own,) = matches({"matches": [value]})
                below = own._replace(number=match.number)
                yield RuleCandidate(child, rule, below, "", tuple(below.misses(request)), "")


def _within(above: Mapping[str, Any], below: Mapping[str, Any], *, inherits: bool) -> Mapping[str, Any] | None:
    """Return the match of a child as it counts below that of its parent; None where it does not."""
    if inherits:
        return _merged(above, below)
    kind, prefix = path_of(above)
    if kind != "PathPrefix" or not path_of(below)[1].startswith(prefix):
        return None
    if any(wanted not in _asked(below, field) for field in _ASKING for wanted in _asked(above, field)):
        return None
    method = text(above.get("method"))
    return None if method and method != text(below.get("method")) else below


def _asked(match: Mapping[str, Any], field: str) -> list[tuple[str, str, str]]:
    conditions = map(mapping, sequence(match.get(field)))
    return [(text(each.get("name")), text(each.get("type"), "Exact"), text(each.get("value"))) for each in conditions]


def _merged(above: Mapping[str, Any], below: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a child's match joined to its parent's, whose conditions of one name and whose method prevail."""
    (kind_above, first), (kind, second) = path_of(above), path_of(below)
    if kind_above == "RegularExpression":
        kind, value = kind_above, _pattern(first, kind, second)
    else:
        value = normpath(join(first, second.lstrip("/")))
    merged = {**below, "path": {"type": kind, "value": value}}
    for field in _ASKING:
        listed = [*sequence(above.get(field)), *sequence(below.get(field))]
        merged[field] = list({text(mapping(entry).get("name")): entry for entry in reversed(listed)}.values())
    return {**merged, "method": above["method"]} if above.get("method") else merged


def _pattern(above: str, kind: str, below: str) -> str:
    """Return the expression for a child's path below an expression (mergeRegexParentPath)."""
    if kind == "RegularExpression":
        rest = below.removeprefix("^").removesuffix("$")
    else:
        rest = quoted(below) if kind == "Exact" else quoted(below) + "(?:/.*)?"
    return above.removesuffix("$") + rest + ("$" if above.endswith("$") else "")
