"""Credentials in any text are masked as their plain expressions say, and found without trying each letter."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from policylint.report.kit import secrets
from policylint.report.kit.secrets import masked

PLAIN = {
    r"""(?<=://)([^\s/:@"'`]*):[^\s/@"'`]+(?=@|…)""": r"\1:…",
    r"\beyJ[\w-]{8,}\.[\w-]*(?:\.[\w-]*)?": "…",
    r"\b(?:gh[oprsu]|github_pat)_\w{20,}": "…",
    r"(?:(?<=[Bb]earer )|(?<=[Bb]asic ))[\w.~+/=-]{12,}": "…",
}
"""What is a credential, said without regard to what it costs to look for."""
PARTS = (
    *("://", "a:b@", "user:", "@", "…", "/", " ", "\n", '"', "x", "eyJ", "eyJhbGciOiJI.", ".abc.", "_", "-", "é"),
    *("gho_", "github_pat_", "ghx_", "a" * 12, "b" * 20, "Bearer ", "bearer ", "Basic ", "asic ", "earer", "Bearer"),
)


def plain(text: str) -> str:
    for expression, instead in PLAIN.items():
        text = re.sub(expression, instead, text)
    return one_mask(text)


def one_mask(text: str) -> str:
    """Return a text with one mask for tokens behind each other."""
    return re.sub(r"…(?: …)+", "…", text)


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
def test_it_is_what_the_plain_expressions_say(text: str) -> None:
    assert one_mask(masked(text)) == plain(text)


def test_what_is_looked_for_begins_with_a_letter() -> None:
    """An expression that may begin anywhere is tried at every letter of reports of half a megabyte."""
    tried = [value for name, value in vars(secrets).items() if name in {"_USER_INFO", "_JWT", "_GITHUB", "_SHA"}]
    assert len(tried) == 4 and all(re.match(r"\\?[a-z:{]", expression) for expression in tried)
    assert secrets._AUTHORIZATION.startswith("([Bb]")
