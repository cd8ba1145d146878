"""Anchors and aliases of values have a loop of their own; it says what the careful loader says, or nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.documents import exact, fast, read
from policylint.documents.events import binding
from policylint.documents.problem import ALIAS_BOMB
from policylint.documents.scalars import MergeKeyError

TAKEN = {
    "a name, used again": "metadata: {name: &app shop}\nspec: {app: *app, more: [*app, b]}\n",
    "a number and what is nothing": "a: &n 010\nb: &e\nc: [*n, *e]\n",
    "quoted, and a block": "a: &q 'y'\nb: &t |\n  text\nc: [*q, *t]\n",
    "named twice: the last one counts": "a: &x 1\nb: *x\nc: &x 2\nd: *x\n",
    "two documents": "a: &x 1\nb: *x\n...\n---\n- &x 2\n- *x\n",
    "a list at the top": "- &x text\n- *x\n",
    "a mapping with a name": "a: &m {b: c}\nd: *m\n",
    "a list with a name": "a: &l [b, {c: d}]\nd: [*l, *l]\n",
    "names within names": "a: &o {b: &i {c: [d]}, e: *i}\nf: [*o, *i]\n",
    "nothing in it": "a: &m {}\nb: &l []\nc: [*m, *l]\n",
    "a container, then a scalar of that name": "a: &x [b]\nc: *x\nd: &x e\nf: *x\n",
    "a scalar, then a container of that name": "a: &x b\nc: *x\nd: &x [e]\nf: *x\n",
    "one that holds another of its name": "a: &m {b: &m {c: d}, e: *m}\nf: *m\n",
    "a name that nothing uses": "a: &m {b: {c: d}}\n",
}
HANDED_ON = {
    "a container that holds itself": "a: &m {b: *m}\n",
    "a merge key": "a: &m {b: c}\nd: {<<: *m}\n",
    "a key with a name": "&k a: b\nc: *k\n",
    "an alias as a key": "a: &k b\n*k : c\n",
    "an alias of nothing": "a: &x 1\nb: *y\n",
    "a name of the document before": "a: &x 1\n...\n---\nb: *x\n",
    "a key given twice": "a: &x 1\na: *x\n",
    "a scalar at the top": "&x text\n",
    "a container at the top with a name": "&x\na: b\n",
}


def named(text: str, loop: str = "Python") -> tuple[list[tuple[Any, int, int]], int] | None:
    assert fast.is_candidate(text.encode()) and fast.has_anchors(text.encode())
    try:
        return fast.load_named(text.encode(), LOOPS[loop])
    except (fast.IrregularError, MergeKeyError, binding().error):
        return None


def careful(text: str) -> tuple[list[tuple[object, int, int]], int]:
    result = exact.load(text.encode(), text, binding())
    assert result.refused is None and not result.duplicates
    return [(value, place.line, size) for value, place, size in result.documents], result.aliased


LOOPS = {"Python": binding(), **({"C": None} if fast._compiled() is not None else {})}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("text", TAKEN.values(), ids=TAKEN)
def test_values_with_names(text: str, loop: str) -> None:
    assert named(text, loop) == careful(text)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("text", HANDED_ON.values(), ids=HANDED_ON)
def test_all_else_is_handed_on(text: str, loop: str) -> None:
    assert named(text, loop) is None


@pytest.mark.parametrize("loop", LOOPS)
def test_what_stands_for_a_container_is_the_container(loop: str) -> None:
    (((value, _, _),), _) = named("a: &m {b: c}\nd: *m\n", loop) or ([], 0)
    assert value["a"] is value["d"]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(("depth", "refused"), [(101, False), (102, True)])
def test_depth_counts_through_aliases(depth: int, refused: bool, loop: str) -> None:
    text = f"- &x {'[' * 99}{']' * 99}\n- {'[' * (depth - 1)}*x{']' * (depth - 1)}\n"
    assert (named(text, loop) is None, bool(read(text.encode(), "f.yaml").problems)) == (refused, refused)


@pytest.mark.parametrize("loop", LOOPS)
def test_nodes_count_as_often_as_they_stand(loop: str) -> None:
    bomb = "- &a [x, x]\n" + "".join(f"- &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in pairwise("abcdefgh"))
    assert named(bomb, loop) is None
    assert [problem.code for problem in read(bomb.encode(), "f.yaml").problems] == [ALIAS_BOMB]
    few = bomb.partition("- &e")[0]
    assert named(few, loop) == careful(few)


def test_places_are_those_of_what_is_written() -> None:
    (document,) = read(b"metadata:\n  name: &app shop\nspec: [*app, b]\n", "f.yaml").documents
    assert document.value == {"metadata": {"name": "shop"}, "spec": ["shop", "b"]}
    assert document.position(("metadata", "name")) == (2, 14)
    assert document.position(("spec", 1)) == (3, 14)


@pytest.mark.parametrize(("depth", "refused"), [(199, False), (200, True)])
def test_what_is_deep_is_handed_on_where_it_is_refused(depth: int, refused: bool) -> None:
    text = f"a: &x 1\nb: {'[' * depth}*x{']' * depth}\n"
    assert (named(text) is None, bool(read(text.encode(), "f.yaml").problems)) == (refused, refused)


LEAVES = st.sampled_from(["a", "1", "010", "yes", "~", "'y'", '"\\u00e9"', "&x b", "&y 2", "&x", "*x", "*y", "&x 'q'"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)} ]")
        | st.lists(inner, max_size=3).map(lambda items: f"&y [{', '.join(items)} ]")
        | st.lists(inner, max_size=2).map(lambda items: f"&x {{k: [{', '.join(items)} ]}}")
        | st.dictionaries(st.sampled_from("klmno"), inner, max_size=3).map(
            lambda items: f"{{{', '.join(f'{key}: {item} ' for key, item in items.items())}}}"
        )
    ),
    max_leaves=12,
)


@given(st.lists(VALUES, min_size=1, max_size=3))
def test_it_agrees_with_the_careful_loader(values: list[str]) -> None:
    text = "".join(f"- {value}\n" for value in ["&x start", *values])
    for loop in LOOPS:
        found = named(text, loop)
        if found is not None:
            assert found == careful(text)
