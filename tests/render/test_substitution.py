"""Variables as Flux fills them in."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.budget import Budget
from policylint.model import is_symbolic
from policylint.render.flux.substitution import SubstitutionError, check_names, filled_in, substitute

VALUES = {"A": "x", "HOST": "www.example.com", "EMPTY": "", "PORT": "8080", "YES": "true"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${A}", "x"),
        ("a-${A}.b", "a-x.b"),
        ("${B}", "${B}"),
        ("${B:=d}", "d"),
        ("${B:-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${EMPTY=d}", "d"),
        ("${EMPTY:+d}", "d"),
        ("${A:=d}", "x"),
        ("${B:=${A}}", "x"),
        ("${B:=${C:-${A}-y}}", "x-y"),
        ("${B:=${C}}", "${C}"),
        ("$${A}", "${A}"),
        ("$A and $$A", "$A and $A"),
        ("${B:=}", ""),
        ("${B:=a${A}b${C:-c}}", "axbc"),
        ("${A^^}", "X"),
        ("${HOST^}", "Www.example.com"),
        ("${HOST,,}", "www.example.com"),
        ("${HOST/example/test}", "www.test.com"),
        ("${HOST//w/v}", "vvv.example.com"),
        ("${HOST/#www./}", "www.example.com"),
        ("${HOST/#www./x.}", "x.example.com"),
        ("${HOST/%com/org}", "www.example.org"),
        ("${HOST#*.}", "example.com"),
        ("${HOST##*.}", "com"),
        ("${HOST%.*}", "www.example"),
        ("${HOST%%.*}", "www"),
        ("${HOST:4}", "example.com"),
        ("${HOST:4:7}", "example"),
        ("${HOST:4:-4}", "example"),
        ("${#HOST}", "15"),
        ("${HOST/${A}/y}", "www.eyample.com"),
        ("${B^^}", "${B^^}"),
        ("${HOST#w?w.}", "${HOST#w?w.}"),
    ],
)
def test_forms(text: str, expected: str) -> None:
    assert substitute(text, VALUES, Budget()) == expected


@pytest.mark.parametrize("text", ["${A", "${}", "${-A}", "${A-d}", "${A d}", "${#}"])
def test_what_flux_refuses(text: str) -> None:
    with pytest.raises(SubstitutionError):
        substitute(text, VALUES, Budget())


def test_a_name_that_no_variable_can_have_is_refused() -> None:
    check_names(VALUES)
    with pytest.raises(SubstitutionError):
        check_names({"a.b": ""})


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
    with suppress(SubstitutionError):
        assert isinstance(substitute(text, VALUES, Budget()), str)


def test_deep_nesting_ends() -> None:
    substitute("${B:=" * 5000 + "}" * 5000, VALUES, Budget())
