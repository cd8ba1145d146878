"""What stands at paths of a value: asked one by one, or of a value that is gone through once for all of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.catalog import content
from policylint.catalog.content import Within, places

NAMES = st.sampled_from(["a", "b", "c"])
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=2),
    lambda inner: st.dictionaries(NAMES, inner, max_size=3) | st.lists(inner, max_size=3),
    max_leaves=12,
)
PATHS = st.lists(NAMES | st.sampled_from(["*", "**"]), max_size=4).map(".".join)


@given(value=VALUES, paths=st.lists(PATHS, max_size=4))
def test_what_stands_within_a_value_is_what_stands_at_each_path(value: Any, paths: list[str]) -> None:
    within = Within(value, ("spec",))
    for path in paths:
        assert list(within.places(path)) == list(places(value, path, ("spec",)))


def test_a_value_is_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    mappings = content._mappings
    monkeypatch.setattr(content, "_mappings", lambda value, pointer: asked.append(value) or mappings(value, pointer))
    within = Within({"a": [{"secretRef": {"name": "x"}}], "backendRef": 1}, ())
    paths = ("a.*", "**.secretRef", "**.backendRef", "**.certificateRefs.*")
    assert [len(list(within.places(path))) for path in paths] == [1, 1, 1, 0]
    assert len(asked) == 1
