"""YAML that Kubernetes reads back as it was meant."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from policylint.documents import read
from policylint.report.kit.yaml_text import yaml_text

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\u2028\u2029\ufeff\x85…")
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | TEXTS
    | st.sampled_from(["y", "on", "1e3", "a\nb\n", "0o7"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_what_is_written_is_read_back(value: dict[str, Any]) -> None:
    text = yaml_text(value)
    assume("…" not in text)  # Credentials do not leave: of `://:0@` the writer masks a part.
    (document,) = read(text.encode(), "out.yaml").documents
    assert document.value == value


@pytest.mark.parametrize(
    "text", ["y", "N", "on", "1e3", "010", "0o10", "0b1", "1_000", "~", "", "null", ".inf", "0x1F"]
)
def test_texts_that_the_api_server_would_take_for_something_else_are_quoted(text: str) -> None:
    assert yaml_text([text]) == f"- '{text}'\n"


def test_keys_keep_their_order_and_nothing_is_written_by_alias() -> None:
    shared = {"z": 1, "a": 2}
    assert yaml_text({"two": shared, "one": shared}) == "two:\n  z: 1\n  a: 2\none:\n  z: 1\n  a: 2\n"
