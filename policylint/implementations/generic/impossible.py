"""Expressions that hold for no request, by what their attributes are: not there then, or never as what they are
compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from policylint.cel.syntax import tree
from policylint.documents import Pointer
from policylint.model import mapping, sequence
from policylint.model.resource import value_at
from policylint.namedtuple import NamedTuple
from policylint.policy.results import FaultyPart, PolicyState

_OF_TEXTS = frozenset({"contains", "endsWith", "matches", "startsWith"})
_OUTCOMES = {
    "Allow": "holds for no request: it lets no request in",
    "Deny": "holds for no request: it denies no request",
    "Require": "holds for no request: every request is turned away",
}


class Attribute(NamedTuple):
    """What an attribute of expressions is, where that is not what it seems.

    Args:
        why: a clause for users.
        fix: what to write instead.
        equals: whether it may be a text; None where nothing that reads it holds.
        is_text: whether functions of texts may be called on it.
    """

    why: str
    fix: str
    equals: Callable[[str], bool] | None = None
    is_text: bool = False


Attributes = Mapping[tuple[str, ...], Attribute]


def impossible(expression: object, attributes: Attributes) -> Attribute | None:
    """Return the attribute for which an expression holds for no request; None where it may hold."""
    return _impossible(tree(expression), attributes) if isinstance(expression, str) else None


def impossible_rules(state: PolicyState, place: Pointer, attributes: Attributes) -> Iterator[FaultyPart]:
    """Yield the `matchExpressions` of a rule that hold for no request; `place` is below the spec."""
    rule = mapping(value_at(state.policy.spec, place))
    pointer: Pointer = ("spec", *place, "policy", "matchExpressions")
    for number, expression in enumerate(sequence(mapping(rule.get("policy")).get("matchExpressions"))):
        if found := impossible(expression, attributes):
            outcome = _OUTCOMES.get(rule.get("action") or "Allow", "holds for no request")
            yield FaultyPart((*pointer, number), found.why, fix=found.fix, outcome=outcome)


def _impossible(expression: Any, attributes: Attributes) -> Attribute | None:
    match expression:
        case ["&&", one, other]:
            return _impossible(one, attributes) or _impossible(other, attributes)
        case ["||", one, other]:
            return _impossible(one, attributes) and _impossible(other, attributes)
        case ["in", holder, ["list", *values]]:
            return _unequal(holder, values, attributes)
        case ["==", one, other]:
            if found := _unequal(one, [other], attributes) or _unequal(other, [one], attributes):
                return found
        case ["f", name, holder, *_] if name in _OF_TEXTS:
            meant = _attribute(holder, attributes)
            if meant is not None and meant.equals is not None and not meant.is_text:
                return meant
    return _read(expression, attributes)


def _unequal(holder: Any, values: Sequence[Any], attributes: Attributes) -> Attribute | None:
    """Return the attribute if it is none of some texts."""
    meant = _attribute(holder, attributes)
    if meant is None or meant.equals is None:
        return None
    texts = [
        value[1] for value in values if isinstance(value, list) and value[:1] == ["="] and isinstance(value[1], str)
    ]
    return meant if len(texts) == len(values) and not any(map(meant.equals, texts)) else None


def _attribute(expression: Any, attributes: Attributes) -> Attribute | None:
    names: list[str] = []
    while isinstance(expression, list) and len(expression) == 3 and expression[0] == ".":
        names.insert(0, str(expression[2]))
        expression = expression[1]
    return attributes.get((expression, *names)) if isinstance(expression, str) else None


def _read(expression: Any, attributes: Attributes) -> Attribute | None:
    """Return the attribute that is not there, and that an expression cannot do without."""
    if not isinstance(expression, list) or expression[:1] in (["?"], ["||"], ["="]) or expression[:2] == ["f", "has"]:
        return None
    meant = _attribute(expression, attributes)
    if meant is not None and meant.equals is None:
        return meant
    return next(filter(None, (_read(part, attributes) for part in expression)), None)
