"""Whether one expression holds only where another one does, as far as their terms show."""

from __future__ import annotations

import json

from policylint.cel.syntax import Tree, levels, tree

_IN_ANY_ORDER = ("&&", "||")
"""Operators whose terms may stand in any order, also where one of them fails.
https://github.com/google/cel-spec/blob/master/doc/langdef.md «Logical Operators»"""
_DEEPEST = 100
"""How deep a tree is compared; a deeper one is taken as it is written."""


def canonical(text: str) -> Tree | None:
    """Return the tree that all expressions have which differ in blanks, quotes, comments, brackets and the order of
    terms alone; None where the text is no expression, or one that trees do not hold in full."""
    said = tree(text)
    return _sorted(said) if said is not None and _is_whole(said) else None


def implies(one: Tree, other: Tree) -> bool:
    """Tell whether the first one can hold only where the second one does, by their terms alone: False is no proof.

    Args:
        one: a canonical tree.
        other: another one.
    """
    known: dict[tuple[int, int], bool] = {}

    def follows(left: Tree, right: Tree) -> bool:
        pair = (id(left), id(right))
        if pair not in known:
            known[pair] = left == right or found(left, right)
        return known[pair]

    def found(left: Tree, right: Tree) -> bool:
        if _is(right, "&&"):
            return all(follows(left, term) for term in right[1:])
        if _is(left, "||"):
            return all(follows(term, right) for term in left[1:])
        return (_is(left, "&&") and any(follows(term, right) for term in left[1:])) or (
            _is(right, "||") and any(follows(left, term) for term in right[1:])
        )

    return follows(one, other)


def _is_whole(said: Tree) -> bool:
    """Tell whether a tree holds all that its text says, and is no deeper than what is compared."""
    depths = zip(range(_DEEPEST + 1), levels(said), strict=False)
    return all(depth < _DEEPEST and all(node[0] != "unknown" for node in nodes) for depth, nodes in depths)


def _is(said: Tree, operator: str) -> bool:
    return isinstance(said, list) and bool(said[0] == operator)


def _sorted(said: Tree) -> Tree:
    if not isinstance(said, list):
        return said
    if said[0] == "=":
        return [*said, type(said[1]).__name__]  # Python's 1, 1.0 and True are equal
    parts = [_sorted(each) for each in said[1:]]
    if said[0] not in _IN_ANY_ORDER:
        return [said[0], *parts]
    terms = [term for each in parts for term in (each[1:] if _is(each, said[0]) else [each])]
    return [said[0], *sorted(terms, key=json.dumps)]


__all__ = ["canonical", "implies"]
