"""Label selectors of patch targets."""

from __future__ import annotations

import pytest

from policylint.render.kustomize.selectors import selector_matches

LABELS = {"a": "b", "on": True, "x/y": "z"}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("", True),
        ("a=b", True),
        ("a==b,x/y=z", True),
        ("a=c", False),
        ("a!=c", True),
        ("gone!=c", True),
        ("a in (b, c)", True),
        ("a notin (b,c)", False),
        ("gone notin (b)", True),
        ("a", True),
        ("!a", False),
        ("!gone", True),
        ("on=true", True),
        ("on!=true", False),
        ("a=b,", False),
        ("a ~ b", False),
    ],
)
def test_selectors(selector: str, expected: bool) -> None:
    assert selector_matches(selector, LABELS) is expected
