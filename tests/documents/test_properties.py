"""Properties of the reader over generated input: round trips, positions, and that it never raises."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.documents import Document, Pointer, Problem, exact, fast, read
from policylint.documents.events import binding
from tests.nightly import examples

TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff"), max_size=12
)
# libyaml takes no line or paragraph separator in a key of JSON; such a file is reported (GWP910).
KEYS = TEXT.filter(lambda text: not set(text) & {"\u2028", "\u2029"})
# What json and yaml.safe_dump write unquoted and the API server reads as the same: no floats that are integral.
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
    | TEXT
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)
OBJECTS = st.dictionaries(KEYS, DATA, min_size=1, max_size=5)
WORDS = st.text("abcdefgh", min_size=2, max_size=6).map(lambda word: "w" + word)
PLAIN_OBJECTS = st.recursive(
    WORDS,
    lambda inner: st.lists(inner, min_size=1, max_size=4) | st.dictionaries(WORDS, inner, min_size=1, max_size=4),
    max_leaves=25,
)


def only(text: str) -> Document:
    (document,) = read(text.encode(), "f.yaml").documents
    return document


def leaves(value: Any, pointer: Pointer = ()) -> list[tuple[Pointer, Any]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*pointer, key))]
    if isinstance(value, list):
        return [leaf for index, inner in enumerate(value) for leaf in leaves(inner, (*pointer, index))]
    return [(pointer, value)]


@given(OBJECTS)
def test_json_round_trip(value: Any) -> None:
    assert only(json.dumps(value, ensure_ascii=False)).value == value
    assert only(json.dumps(value)).value == value
    assert only(json.dumps(value, indent=1)).value == value


class _Quoting(yaml.SafeDumper):
    """PyYAML leaves `y`, `0o7`, `1e3` and the like bare, which Kubernetes reads as no strings: quote all strings."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return False


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


@given(OBJECTS, st.booleans())
def test_yaml_round_trip(value: Any, flow: bool) -> None:
    text = yaml.dump(value, Dumper=_Quoting, default_flow_style=flow, allow_unicode=True, sort_keys=False)
    assert only(text).value == value


@given(PLAIN_OBJECTS.filter(lambda value: not isinstance(value, str)), st.sampled_from([True, False, None]))
def test_text_at_a_position_starts_with_the_scalar(value: Any, flow: bool | None) -> None:
    text = yaml.safe_dump(value, default_flow_style=flow, sort_keys=False)
    lines = text.split("\n")
    document = only(text)
    for pointer, leaf in leaves(value):
        place = document.position(pointer)
        assert lines[place.line - 1][place.column - 1 :].startswith(leaf)
        if isinstance(pointer[-1], str):
            place = document.position(pointer, key=True)
            assert lines[place.line - 1][place.column - 1 :].startswith(pointer[-1])


@given(OBJECTS)
def test_the_fast_and_the_careful_loader_agree(value: Any) -> None:
    text = yaml.dump(value, Dumper=_Quoting, allow_unicode=True)
    events = binding()
    try:
        loaded = fast.load(text.encode(), events)
    except fast.IrregularError:
        return
    result = exact.load(text.encode(), text, events)
    assert [spot[0] for spot in result.documents] == [item[0] for item in loaded]
    quick = Document("f", 1, loaded[0][0], 0, loaded[0][1], loaded[0][2])
    root = result.documents[0][1]
    slow = Document("f", 1, loaded[0][0], 0, loaded[0][1], loaded[0][2], lambda: root)
    if not fast.has_exotic_breaks(text.encode()):
        for pointer, _ in leaves(value):
            assert quick.position(pointer) == slow.position(pointer)
            assert quick.position(pointer, key=True) == slow.position(pointer, key=True)


PIECES = st.sampled_from(
    [
        *(
            "---",
            "...",
            "\n",
            "\n  ",
            "\n    ",
            "\t",
            ": ",
            "- ",
            "? ",
            "[",
            "]",
            "{",
            "}",
            ",",
            "#",
            "'",
            '"',
            "|",
            ">-",
        ),
        *(
            "&a ",
            "*a",
            "<<: ",
            "!!int ",
            "!x ",
            "!!binary ",
            "%YAML 1.1\n",
            "{{ x }}",
            "{% if %}",
            "\\u",
            "\\ud83d",
            "\x00",
        ),
        *(
            "a",
            "kind: Foo\n",
            "apiVersion: v1\n",
            "on",
            "0x1",
            "1e3",
            "~",
            "é",
            "\u2028",
            "\ufeff",
            "\r",
            "@",
            "`",
            "\x85",
        ),
    ]
)


@pytest.mark.parametrize("wanted", [None, lambda *_: False])
@settings(max_examples=examples(300), deadline=None)
@given(data=st.binary(max_size=200) | st.lists(PIECES, max_size=40).map(lambda pieces: "".join(pieces).encode()))
def test_fuzz_never_raises_and_answers_soon(data: bytes, wanted: Any) -> None:
    start = time.process_time()
    reading = read(data, "f.yaml", wanted=wanted)
    assert time.process_time() - start < 2
    lines = data.count(b"\n") + data.count(b"\r") + data.count(b"\x85") + data.count(b"\xa8") + 2
    for problem in reading.problems:
        assert isinstance(problem, Problem)
        assert 1 <= problem.line <= lines
        assert problem.column >= 1
    for document in reading.documents:
        for pointer, _ in leaves(document.value):
            place = document.position(pointer)
            assert 1 <= place.line <= lines
        json.dumps(document.value)


MANIFEST = b"""\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: &n web, labels: {app: *n}}
spec:
  parentRefs:
  - name: edge
    sectionName: "https"
  rules:
  - matches: [{path: {type: PathPrefix, value: /}}]
    backendRefs:
    - <<: {port: 80}
      name: web
---
kind: Secret
data:
  x: |
    text
"""


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_fuzz_mutated_manifests(data: st.DataObject) -> None:
    mutated = bytearray(MANIFEST)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(mutated)))
        cut = data.draw(st.integers(0, 5))
        mutated[at : at + cut] = data.draw(PIECES | st.just("")).encode() + data.draw(st.binary(max_size=2))
    reading = read(bytes(mutated), "f.yaml")
    for document in reading.documents:
        for pointer, _ in leaves(document.value):
            document.position(pointer, key=True)
