"""Facts as lines of JSON: what is read back is what was found, of many files at once; whatever else lines hold is
refused or is facts of the right shape."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.documents import MAX_BYTES, MAX_DEPTH, Document, Problem, Unread
from policylint.load.fact_lines import content_of, decoded, encoder, facts_from
from policylint.load.facts import Facts, facts_of
from tests.documents.test_properties import MANIFEST, OBJECTS, PIECES, leaves

MANIFESTS = st.builds(
    lambda kind, spec: json.dumps({"apiVersion": "v1", "kind": kind, "spec": spec}, ensure_ascii=False).encode(),
    st.sampled_from(["ConfigMap", "Namespace", "Gateway"]),
    OBJECTS,
)
FILES = st.lists(
    MANIFESTS
    | st.lists(PIECES, max_size=30).map(lambda pieces: "".join(pieces).encode())
    | st.lists(MANIFESTS | st.just(MANIFEST), min_size=1, max_size=3).map(b"\n---\n".join)
    | st.just(b"kind: CustomResourceDefinition\napiVersion: x/v1\nspec: {x: ${y}}\n"),
    max_size=5,
)


def found_in(data: Sequence[bytes]) -> tuple[list[Facts], list[str]]:
    """The facts of files with these contents that can be kept, and the files."""
    wanted = [facts_of(each, f"{number}.yaml", lambda _, kind: kind != "ConfigMap") for number, each in enumerate(data)]
    kept = [(each, f"{number}.yaml") for number, each in enumerate(wanted) if content_of(each) is not None]
    return [facts for facts, _ in kept], [name for _, name in kept]


def line_of(facts: Facts) -> bytes:
    return encoder()(content_of(facts)).encode()


def said(document: Document) -> Any:
    places = [document.position(pointer, key=key) for pointer, _ in leaves(document.value) for key in (False, True)]
    return document.file, document.number, document.line, repr(document.value), document.position(()), places


def all_of(facts: Facts) -> Any:
    return [said(each) for each in facts.documents], facts._replace(documents=(), problems=(), unread=()), [
        *facts.problems, *facts.unread
    ]  # fmt: skip


@settings(deadline=None)
@given(FILES)
def test_what_comes_back_is_what_was_found(data: list[bytes]) -> None:
    found, names = found_in(data)
    back = facts_from(decoded([line_of(each) for each in found]), names)
    assert [all_of(each) for each in back] == [all_of(each) for each in found]
    assert [line_of(each) for each in back] == [line_of(each) for each in found]


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**70)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["yaml", "json", "empty", "yaml-syntax", "!AAA"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, way: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """The ways to everything in lists; what documents say may be anything."""
    if not isinstance(value, list):
        return [way]
    return [way, *(each for number, inner in enumerate(value) for each in places(inner, (*way, number)))]


def replaced(value: Any, way: Sequence[int], other: Any) -> Any:
    if not way:
        return other
    return [replaced(each, way[1:], other) if at == way[0] else each for at, each in enumerate(value)]


SAMPLES = [
    MANIFEST,
    b"kind: ConfigMap\napiVersion: v1\nname: x\n---\nkind: A\n",
    b"a: [\n",
    b"a: 1\na: 2\nk: &x y\nl: *x\n",
]


@pytest.mark.slow
@settings(deadline=None, max_examples=500)
@given(st.data())
def test_another_value_anywhere_is_refused_or_has_the_shape_of_facts(data: st.DataObject) -> None:
    found, names = found_in(SAMPLES)
    contents = [json.loads(line_of(each)) for each in found]
    at = data.draw(st.integers(0, len(contents) - 1))
    contents[at] = replaced(contents[at], data.draw(st.sampled_from(places(contents[at]))), data.draw(ANYTHING))
    try:
        back = facts_from(decoded([json.dumps(each).encode() for each in contents]), names)
    except (TypeError, ValueError):
        return
    for facts, name in zip(back, names, strict=True):
        shaped(facts, name)
    assert [all_of(back[each]) for each in range(len(back)) if each != at] == [
        all_of(found[each]) for each in range(len(found)) if each != at
    ]


def shaped(facts: Facts, name: str) -> None:
    """Everything is of the type that its class states, and positions can be asked for."""
    assert type(facts) is Facts
    for document in facts.documents:
        assert (type(document), document.file, type(document.number)) == (Document, name, int)
        assert document.value is not None
        assert 0 <= document.base <= 2 * MAX_BYTES
        said(document)
    for unread in facts.unread:
        assert [type(each) for each in unread] == [str, int, str, str, int, int, int]
        assert 0 <= unread.start <= unread.end <= 2 * MAX_BYTES
        assert isinstance(unread, Unread)
    for problem in facts.problems:
        assert [type(each) for each in problem[:5]] == [str, str, str, int, int]
        assert isinstance(problem, Problem)
    assert [type(each) for each in (facts.form, facts.idle, facts.with_variables)] == [str, int, bool]
    assert all(type(each) is str for pair in facts.referred | facts.cluster_scoped for each in pair)
    assert all(type(number) is int for number in facts.names)
    assert all(type(each) is str for names in facts.names.values() for each in names)


def test_lines_cannot_reach_into_each_other() -> None:
    found, _ = found_in([b"kind: Gateway\napiVersion: v1\n"])
    line = line_of(found[0])
    half = len(line) // 2
    for lines in ([line[:half], line[half:]], [line + b"," + line], [line, b""], [line + b"],[" + line]):
        with pytest.raises((TypeError, ValueError)):
            facts_from(decoded(lines), [f"{number}.yaml" for number, _ in enumerate(lines)])


@pytest.mark.parametrize(("depth", "is_read"), [(MAX_DEPTH - 1, True), (MAX_DEPTH + 10, False)])
def test_what_the_reader_allows_may_be_kept_and_nothing_deeper(depth: int, is_read: bool) -> None:
    found, names = found_in([b"kind: Gateway\nspec: " + b"[" * depth + b"]" * depth])
    assert (not found[0].problems) == is_read
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    content = json.loads(line_of(found_in([b"kind: Gateway\nspec: []\n"])[0][0]))
    line = json.dumps(replaced(content, (0, 1, 0, 3), {"kind": "Gateway", "spec": value})).encode()
    if is_read:
        assert all_of(facts_from(decoded([line_of(found[0])]), names)[0]) == all_of(found[0])
        assert decoded([line])
    else:
        with pytest.raises(ValueError, match="deep"):
            decoded([line])
