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

from policylint.matches import Match, match_of, matches, path_of
from policylint.model import Resource, is_symbolic, mapping, sequence, text
from policylint.model.kinds import ROUTE_SELECTORS
from policylint.regex import quoted
from policylint.spaces.predicates import EXPRESSION, PREFIX
from policylint.topology.routes import Rule, rules

INHERITING = tuple(f"{group}/inherit-parent-matcher" for group, _ in ROUTE_SELECTORS)
"""Annotations of a child whose paths are relative to its parent's."""
_ASKING = ("headers", "queryParams")


def below(above: Match, child: Resource) -> Iterator[tuple[Rule, Match]]:
    """Yield every match of a child that counts below a match of a rule; none of a child with hostnames of its own."""
    if sequence(child.spec.get("hostnames")):
        return
    inherits = inherits_matcher(child)
    for rule in rules(child):
        for match in matches(rule.body):
            if inherits:
                yield rule, match_of(_merged(above.value, match.value), match.number)
            elif _counts_below(above, match):
                yield rule, match


def carries_nothing(parent: Resource, rule: int, child: Resource) -> bool:
    """Return whether no match of a route counts below a rule that delegates to it; False where variables decide."""
    if inherits_matcher(parent):
        return False
    above = matches(mapping(sequence(parent.spec.get("rules"))[rule]))
    listed = [*above, *(match for each in rules(child) for match in matches(each.body))]
    if len(listed) == len(above) or any(is_symbolic(each.predicate.value) for m in listed for each in m.conditions):
        return False
    return not any(True for match in above for _ in below(match, child))


def inherits_matcher(route: Resource) -> bool:
    """Return whether the paths of a route are relative to its parent's (annotation inherit-parent-matcher)."""
    marks = {text(route.annotations.get(name)).lower() for name in INHERITING}
    return not marks.isdisjoint(("true", "yes", "enabled"))


def _counts_below(above: Match, child: Match) -> bool:
    """Return whether a child's path begins with that of its parent, letter by letter, and it asks for all the rest."""
    (kind, prefix), (_, path) = path_of(above.value), path_of(child.value)
    own = {(condition.name, condition.predicate) for condition in child.conditions}
    rest = ((condition.name, condition.predicate) for condition in above.conditions if condition.name != "path")
    return kind == PREFIX and path.startswith(prefix) and own.issuperset(rest)


def _merged(above: Mapping[str, Any], below: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a child's match joined to its parent's, whose conditions of one name and whose method prevail."""
    (kind_above, first), (kind, second) = path_of(above), path_of(below)
    if kind_above == EXPRESSION:
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
    if kind == EXPRESSION:
        rest = below.removeprefix("^").removesuffix("$")
    else:
        rest = quoted(below) if kind == "Exact" else quoted(below) + "(?:/.*)?"
    return above.removesuffix("$") + rest + ("$" if above.endswith("$") else "")
