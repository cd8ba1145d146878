"""What is said of a login that stays and has another value: which value, if it is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare
from policylint.compare.requests.words import difference_in_words
from tests.checks.linting import SERVICE
from tests.compare.test_compare import sides
from tests.compare.test_openings import EDGE, jwt, route

PASSED = (
    "extAuth: {failOpen: false, headersToExtAuth: [a], http: {path: %s, backendRefs: [{name: checkout, port: 8080}]}}"
)


def ext_auth(path: str, headers: str = "a") -> str:
    return jwt("kind: HTTPRoute, name: checkout", "shop", fields=PASSED.replace("[a]", f"[{headers}]") % path)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            ext_auth("/old"),
            ext_auth("/new"),
            "login: extAuth by shop/login (path /old) -> extAuth by shop/login (path /new)",
        ),
        (ext_auth("/old"), ext_auth("/new", "a, b"), "login: extAuth by shop/login, with other values"),
        (ext_auth("/old"), ext_auth("/old", "a, b"), "login: extAuth by shop/login, with other values"),
    ],
)
def test_the_one_value_that_differs_is_said(tmp_path: Path, before: str, after: str, words: str) -> None:
    pair = sides(tmp_path, (EDGE, route(), before, SERVICE), (EDGE, route(), after, SERVICE))
    (environment,) = compare([pair])
    assert environment.requests is not None
    assert words in [difference_in_words(change) for change in environment.requests.changes]
