"""Anchors and aliases of scalars have a loop of their own; it says what the careful loader says, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.documents import exact, fast, read
from policylint.documents.events import binding

TAKEN = {
    "a name, used again": "metadata: {name: &app shop}\nspec: {app: *app, more: [*app, b]}\n",
    "a number and what is nothing": "a: &n 010\nb: &e\nc: [*n, *e]\n",
    "quoted, and a block": "a: &q 'y'\nb: &t |\n  text\nc: [*q, *t]\n",
    "named twice: the last one counts": "a: &x 1\nb: *x\nc: &x 2\nd: *x\n",
    "two documents": "a: &x 1\nb: *x\n...\n---\n- &x 2\n- *x\n",
    "a list at the top": "- &x text\n- *x\n",
}
HANDED_ON = {
    "a mapping with a name": "a: &m {b: c}\nd: *m\n",
    "a merge key": "a: &m {b: c}\nd: {<<: *m}\n",
    "a key with a name": "&k a: b\nc: *k\n",
    "an alias as a key": "a: &k b\n*k : c\n",
    "an alias of nothing": "a: &x 1\nb: *y\n",
    "a name of the document before": "a: &x 1\n...\n---\nb: *x\n",
    "a key given twice": "a: &x 1\na: *x\n",
    "a scalar at the top": "&x text\n",
    "a container at the top with a name": "&x\na: b\n",
}


def named(text: str) -> tuple[list[tuple[object, int, int]], int] | None:
    assert fast.is_candidate(text.encode()) and fast.has_anchors(text.encode())
    try:
        return fast.load_named(text.encode(), binding())
    except (fast.IrregularError, binding().error):
        return None


def careful(text: str) -> tuple[list[tuple[object, int, int]], int]:
    result = exact.load(text.encode(), text, binding())
    assert result.refused is None and not result.duplicates
    return [(value, place.line, size) for value, place, size in result.documents], result.aliased


@pytest.mark.parametrize("text", TAKEN.values(), ids=TAKEN)
def test_scalars_with_names(text: str) -> None:
    assert named(text) == careful(text)


@pytest.mark.parametrize("text", HANDED_ON.values(), ids=HANDED_ON)
def test_all_else_is_handed_on(text: str) -> None:
    assert named(text) is None


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
        | st.dictionaries(st.sampled_from("klmno"), inner, max_size=3).map(
            lambda items: f"{{{', '.join(f'{key}: {item} ' for key, item in items.items())}}}"
        )
    ),
    max_leaves=12,
)


@given(st.lists(VALUES, min_size=1, max_size=3))
def test_it_agrees_with_the_careful_loader(values: list[str]) -> None:
    text = "".join(f"- {value}\n" for value in ["&x start", *values])
    found = named(text)
    if found is not None:
        assert found == careful(text)
