"""Variables as Flux fills them in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.budget import Budget
from policylint.model import is_symbolic
from policylint.render.flux.substitution import filled_in, substitute

VALUES = {"A": "x", "EMPTY": "", "PORT": "8080", "YES": "true"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${A}", "x"),
        ("a-${A}.b", "a-x.b"),
        ("${B}", "${B}"),
        ("${B:=d}", "d"),
        ("${B:-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${EMPTY-d}", ""),
        ("${A:=d}", "x"),
        ("${B:=${A}}", "x"),
        ("${B:=${C:-${A}-y}}", "x-y"),
        ("${B:=${C}}", "${C}"),
        ("$${A}", "${A}"),
        ("$A and $$A", "$A and $$A"),
        ("${A", "${A"),
        ("${}", "${}"),
        ("${A^^}", "${A^^}"),
        ("${B:=}", ""),
    ],
)
def test_forms(text: str, expected: str) -> None:
    assert substitute(text, VALUES, Budget()) == expected


def test_what_nothing_defines_is_symbolic() -> None:
    assert is_symbolic(substitute("${SECRET_DOMAIN}", VALUES, Budget()))


@pytest.mark.parametrize(
    ("value", "expected"),
    [("${PORT}", 8080), ("${YES}", True), ("v${PORT}", "v8080"), ("*${PORT}", "*8080"), ("${EMPTY}", None)],
)
def test_a_text_that_becomes_a_number_is_one(value: str, expected: object) -> None:
    assert filled_in(value, VALUES, Budget()) == expected


def test_what_does_not_change_is_the_same_object() -> None:
    value = {"a": [{"b": "${B}"}, 1], "c": {"d": None}}
    assert filled_in(value, VALUES, Budget()) is value
    changed = filled_in({"a": value, "${A}": "${A}"}, VALUES, Budget())
    assert changed == {"a": value, "x": "x"}
    assert changed["a"] is value


@given(st.text(alphabet="${}:=-AB^ab", max_size=60))
def test_any_text_is_survived(text: str) -> None:
    assert isinstance(substitute(text, VALUES, Budget()), str)


def test_deep_nesting_ends() -> None:
    substitute("${B:=" * 5000 + "}" * 5000, VALUES, Budget())
