"""JSON patches with provenance: values as `jsonpatch` makes them, places that move with the values."""

from __future__ import annotations

from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.budget import Budget
from policylint.model import Spot
from policylint.render.kustomize.json_patch import PatchError, apply
from policylint.render.kustomize.strategic_merge import merge
from policylint.render.provenance import Provenance

BASE, PATCH = Provenance(Spot("base")), Provenance(Spot("patch"))
LISTS = st.lists(st.integers(0, 9).map(lambda number: {"n": number}), min_size=1, max_size=6)


def patched(body: Any, *operations: dict[str, Any]) -> tuple[Any, Provenance]:
    return apply(body, BASE, list(operations), PATCH, Budget())


@given(LISTS, st.data())
def test_every_item_is_still_located_where_it_was_written(items: list[dict[str, int]], data: st.DataObject) -> None:
    body = {"spec": {"rules": items}}
    operations: list[dict[str, Any]] = []
    size = len(items)
    for _ in range(data.draw(st.integers(0, 4))):
        kind = data.draw(st.sampled_from(["add", "remove"] if size else ["add"]))
        index = data.draw(st.integers(0, size - (kind == "remove")))
        operation: dict[str, Any] = {"op": kind, "path": f"/spec/rules/{index}"}
        size += 1 if kind == "add" else -1
        operations.append(operation | ({"value": {"n": -1}} if kind == "add" else {}))
    made, origin = patched(body, *operations)
    assert made == jsonpatch.apply_patch({"spec": {"rules": list(items)}}, operations)
    for index, item in enumerate(made["spec"]["rules"]):
        document, pointer = origin.locate(("spec", "rules", index))
        if item["n"] == -1:
            assert document.file == "patch"
        else:
            assert document.file == "base"
            assert items[pointer[-1]] == item  # type: ignore[index]


def test_the_base_is_left_alone() -> None:
    body = {"a": {"b": [1, 2]}, "c": {"d": 1}}
    made, _ = patched(body, {"op": "add", "path": "/a/b/-", "value": 3}, {"op": "move", "from": "/c/d", "path": "/e"})
    assert made == {"a": {"b": [1, 2, 3]}, "c": {}, "e": 1}
    assert body == {"a": {"b": [1, 2]}, "c": {"d": 1}}


def test_a_moved_value_takes_its_place_along() -> None:
    made, origin = patched({"a": [{"x": 1}], "b": {}}, {"op": "move", "from": "/a/0", "path": "/b/c"})
    assert made == {"a": [], "b": {"c": {"x": 1}}}
    assert origin.locate(("b", "c", "x"))[1] == ("a", 0, "x")


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/gone"},
        {"op": "replace", "path": "/a/7", "value": 1},
        {"op": "add", "path": "/gone/deeper", "value": 1},
        {"op": "test", "path": "/a/0", "value": 9},
        {"op": "move", "from": "/gone", "path": "/b"},
        {"op": "none", "path": "/a"},
        {"path": "/a"},
        {"op": "add", "value": 1},
        {"op": "add", "path": 5, "value": 1},
        {"op": "add", "path": "/a"},
        {"op": "add", "path": "no slash", "value": 1},
    ],
)
def test_what_does_not_apply_says_so(operation: dict[str, Any]) -> None:
    with pytest.raises(PatchError):
        patched({"a": [1]}, operation)


MERGES = [
    ({"a": 1, "b": {"c": 2}}, {"b": {"d": 3}}, {"a": 1, "b": {"c": 2, "d": 3}}),
    ({"a": 1, "b": 2}, {"b": None}, {"a": 1}),
    ({"a": 1}, {"b": {"c": None, "d": {"e": None}}}, {"a": 1, "b": {"d": {}}}),
    ({"a": [1]}, {"a": [2]}, {"a": [2]}),
    ({"a": {"b": 1}}, {"a": {"$patch": "replace", "c": 2}}, {"a": {"c": 2}}),
    ({"a": {"b": 1}, "c": 1}, {"a": {"$patch": "delete"}}, {"c": 1}),
    ({"env": [{"name": "x", "value": 1}]}, {"env": [{"name": "x", "$patch": "delete"}]}, {"env": []}),
    (
        {"env": [{"name": "x", "value": 1}, {"name": "y"}]},
        {"env": [{"name": "z"}, {"name": "x", "value": 2}]},
        {"env": [{"name": "z"}, {"name": "x", "value": 2}, {"name": "y"}]},
    ),
]


@pytest.mark.parametrize(("base", "patch", "expected"), MERGES)
def test_strategic_merge(base: Any, patch: Any, expected: Any) -> None:
    assert merge(base, BASE, patch, PATCH, core=True)[0] == expected


def test_merged_items_keep_their_places() -> None:
    base = {"env": [{"name": "x", "value": 1}, {"name": "y"}]}
    patch = {"env": [{"name": "z"}, {"name": "y", "value": 2}]}
    _, origin = merge(base, BASE, patch, PATCH, core=True)
    found = {pointer: origin.locate(("env", *pointer)) for pointer in [(0,), (1, "name"), (1, "value"), (2,)]}
    assert {pointer: (document.file, at) for pointer, (document, at) in found.items()} == {
        (0,): ("patch", ("env", 0)),
        (1, "name"): ("patch", ("env", 1, "name")),
        (1, "value"): ("patch", ("env", 1, "value")),
        (2,): ("base", ("env", 0)),
    }
