"""Patterns as in .gitignore, held to what Python's own engine says of a plain translation."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policylint.config.globs import matcher

STEPS = st.text("ab.-é[]!^*?\\{}()|+ #", min_size=1, max_size=4) | st.sampled_from(
    ["**", "*", "?", "a*", "[a-c]", "[!a]"]
)
PATTERNS = st.builds(
    lambda steps, before, after: before + "/".join(steps) + after,
    st.lists(STEPS, min_size=1, max_size=5),
    st.sampled_from(["", "/", "./", "**/"]),
    st.sampled_from(["", "/", "/**"]),
)
PATHS = st.lists(st.text("abc.-é[]!\n {}+", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join)


def plain(pattern: str) -> re.Pattern[str] | None:
    """Return a pattern as an expression for Python; None where a set of characters is not sane."""
    body = pattern.rstrip("/")
    anchored = "/" in body
    body = body.removeprefix("/").removeprefix("./")
    steps = body.split("/")
    if any(
        "[" in step and not re.fullmatch(r"[^\[\]\\]*\[[!^]?[a-zé.]+(?:-[c-z])?\][^\[\]\\]*", step) for step in steps
    ):
        return None
    text = "" if anchored else "(?:.*/)?"
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        if step == "**":
            text += ".*" if last else "(?:.*/)?"
            continue
        for escaped, choice, char in re.findall(r"(?s)\\(.)|(\[.*?\])|(.)", step):
            special = {"*": "[^/]*", "?": "[^/]"}
            if choice:
                text += choice.replace("[!", "[^", 1)
            else:
                text += re.escape(escaped) if escaped else special.get(char, re.escape(char))
        text += "" if last else "/"
    try:
        return re.compile(text + ("/.*" if pattern.endswith("/") else "(?:/.*)?"), re.DOTALL)
    except re.error:
        return None


@given(PATTERNS, PATHS)
@example("t?st.y[am]l", "x/test.yal")
@example("a/**", "a/b/c")
@example("**/**/?", "a")
def test_a_pattern_says_what_its_plain_translation_says(pattern: str, path: str) -> None:
    if not pattern.strip("/") or pattern.startswith("!"):
        return
    expected = plain(pattern)
    if expected is not None:
        assert matcher([pattern])(path) is (expected.fullmatch(path) is not None)


@given(st.characters(codec="ascii", exclude_characters="/\0"))
def test_a_character_after_a_backslash_is_itself(char: str) -> None:
    assert matcher([f"a\\{char}b"])(f"a{char}b")
    if char not in "*?[\\!":
        assert matcher([f"a{char}b"])(f"a{char}b")


@pytest.mark.parametrize(
    "pattern", ["[z-a]", "[!]", "[]", "[!z-a]", "[--0]", "[a--z]", "[\ud800]", "[[:alpha:]]", "[&&a||b]"]
)
def test_odd_sets_of_characters_end_nothing(pattern: str) -> None:
    matches = matcher([pattern, f"!{pattern}*"])
    assert matches("some-other-file.yaml") is False
