"""Carets cover the YAML token that stands at a position."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.report.kit.token import token_end


@pytest.mark.parametrize(
    ("line", "token"),
    [
        ("  name: ^checkout", "checkout"),
        ("  ^name: checkout", "name"),
        ("  ^name:", "name"),
        ("  name: ^checkout # why", "checkout"),
        ("  name: ^a#b", "a#b"),
        ("  url: ^http://x:80/y", "http://x:80/y"),
        ("  name: ^two words   ", "two words"),
        ('  name: ^"two # words"  # why', '"two # words"'),
        ('  name: ^"a \\" b" ', '"a \\" b"'),
        ("  name: ^'it''s' ", "'it''s'"),
        ("  ^'quoted key': x", "'quoted key'"),
        ("  - {group: ^g, kind: k}", "g"),
        ("  - {^group: g, kind: k}", "group"),
        ("  - ^{group: g, kind: [a, b]} # x", "{group: g, kind: [a, b]}"),
        ("  - [a, ^b]", "b"),
        ("  a: ^b, c", "b, c"),
        ("  ^- name: x", "-"),
        ("  text: ^|", "|"),
        ("  a: ^&anchor value", "&anchor value"),
        ("  a: ^!!str 12", "!!str 12"),
        ("  a: ^*anchor", "*anchor"),
        ('  a: ^"open', '"open'),
        ("  a: ^[open, ", "[open,"),
        ("  名: ^価格 # x", "価格"),
    ],
)
def test_token(line: str, token: str) -> None:
    start = line.index("^")
    plain = line.replace("^", "", 1)
    assert plain[start : token_end(plain, start + 1) - 1] == token


@given(st.text(st.sampled_from("a:-?#&!*|>'\"[]{}, \\\t名"), max_size=30), st.integers(1, 40))
def test_always_at_least_one_character(line: str, column: int) -> None:
    assert token_end(line, column) > column
