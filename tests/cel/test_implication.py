"""What one expression says about another one, by their terms."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.cel.implication import canonical, implies
from tests.nightly import examples

IMPLIED = [
    ("a && b", "a"),
    ("a", "a || b"),
    ("a && b && c", "c && a"),
    ("a && b", "b || c"),
    ("a || b", "c || b || a"),
    ("(a || b) && c", "c && (b || a || d)"),
    ("a == 'x' && b", 'a=="x"'),
    ("!(a && b)", "!(b && a)"),
]
NOT_IMPLIED = [("a", "a && b"), ("a || b", "a"), ("!a", "!(a && b)"), ("a < b", "b < a"), ("a == 1", "a == true")]


def trees(one: str, other: str) -> tuple[Any, Any]:
    left, right = canonical(one), canonical(other)
    assert left is not None and right is not None
    return left, right


@pytest.mark.parametrize(("one", "other"), IMPLIED)
def test_it_holds_only_where_the_other_one_does(one: str, other: str) -> None:
    assert implies(*trees(one, other))


@pytest.mark.parametrize(("one", "other"), NOT_IMPLIED)
def test_it_may_hold_elsewhere(one: str, other: str) -> None:
    assert not implies(*trees(one, other))


@pytest.mark.parametrize("text", ["", "a b", "b'a' == c", "a" + ".a" * 200, "(" * 200 + "a" + ")" * 200 + ".a" * 120])
def test_what_trees_do_not_hold_has_none(text: str) -> None:
    assert canonical(text) is None


names = st.sampled_from(["a", "b", "c", "d"])
expressions = st.recursive(
    names, lambda inner: st.lists(inner, min_size=2, max_size=3).flatmap(lambda terms: joined(terms)), max_leaves=8
)


def joined(terms: list[str]) -> st.SearchStrategy[str]:
    return st.sampled_from([f"({operator.join(terms)})" for operator in (" && ", " || ")])


@given(expressions, expressions)
@settings(max_examples=examples(400), deadline=None)
def test_what_it_says_is_so_whatever_the_terms_are(one: str, other: str) -> None:
    """Python's `and` and `or` are CEL's here: no term fails."""
    if implies(*trees(one, other)):
        for number in range(16):
            world = {name: bool(number >> place & 1) for place, name in enumerate("abcd")}
            left, right = (eval(text.replace("&&", "and").replace("||", "or"), {}, world) for text in (one, other))
            assert right or not left


def test_two_long_ladders_take_no_long_time() -> None:
    ladder = "x"
    for number in range(45):
        ladder = f"(a{number} && (b{number} || {ladder}))"
    assert not implies(*trees(ladder, ladder.replace("x", "y")))
