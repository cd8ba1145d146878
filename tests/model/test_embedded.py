"""JSON inside of texts is read in one place, which bad input does not get past."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.model.embedded import json_in


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ('{"keys": []}', {"keys": []}),
        (' \n["a"]', ["a"]),
        ("12", None),
        ('"a"', None),
        ("{", None),
        ("{'a': 1}", None),
        ("[" * 200_000, None),
        ({"keys": []}, None),
        (None, None),
        ("", None),
    ],
)
def test_mappings_and_lists_are_read_and_nothing_else(value: object, content: Any) -> None:
    assert json_in(value) == content
