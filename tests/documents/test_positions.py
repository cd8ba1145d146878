"""`Document.position`: 1-based lines and columns in code points, for values and for keys."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.documents import Document, Pointer, Position, read

REGULAR = """\
# a comment
apiVersion: v1
metadata:
  name: web
  labels: {app: web, "tiér": 'front'}
spec:
  ports:
  - name: http
    port: 80
  -   - nested
  empty:
  text: |
    block
  "quoted key": 1
"""

IRREGULAR = """\
base: &base
  a: 1
  b: &b [x, y]
use:
  <<: *base
  c: 3
again: *b
name: &n web
copy: *n
twice: 1
twice: 2
tagged: !foo bar
"""


def only(text: str) -> Document:
    (document,) = read(text.encode(), "f.yaml").documents
    return document


def at(text: str, pointer: Pointer, *, key: bool = False) -> tuple[int, int]:
    position = only(text).position(pointer, key=key)
    return position.line, position.column


@pytest.mark.parametrize(
    ("pointer", "value", "key"),
    [
        ((), (2, 1), (2, 1)),
        (("apiVersion",), (2, 13), (2, 1)),
        (("metadata",), (4, 3), (3, 1)),
        (("metadata", "labels"), (5, 11), (5, 3)),
        (("metadata", "labels", "tiér"), (5, 30), (5, 22)),
        (("spec", "ports"), (8, 3), (7, 3)),
        (("spec", "ports", 0), (8, 5), (8, 5)),
        (("spec", "ports", 0, "port"), (9, 11), (9, 5)),
        (("spec", "ports", 1, 0), (10, 9), (10, 9)),
        (("spec", "empty"), (11, 9), (11, 3)),
        (("spec", "text"), (12, 9), (12, 3)),
        (("spec", "quoted key"), (14, 17), (14, 3)),
    ],
)
def test_regular(pointer: Pointer, value: tuple[int, int], key: tuple[int, int]) -> None:
    assert at(REGULAR, pointer) == value
    assert at(REGULAR, pointer, key=True) == key


@pytest.mark.parametrize(
    "pointer", [("spec", "nothing"), ("spec", 0), ("spec", "nothing", "below", 3), ("spec", "nothing", 1)]
)
def test_missing_pointer_gives_the_nearest_ancestor(pointer: Pointer) -> None:
    assert at(REGULAR, pointer) == at(REGULAR, ("spec",))
    assert at(REGULAR, ("spec", "ports", 7)) == at(REGULAR, ("spec", "ports"))
    assert at(REGULAR, ("spec", "ports", 0, "port", "x")) == at(REGULAR, ("spec", "ports", 0, "port"))


@pytest.mark.parametrize(
    ("pointer", "value", "key"),
    [
        (("use", "c"), (6, 6), (6, 3)),
        (("use", "a"), (2, 6), (2, 3)),
        (("use", "b", 1), (3, 13), (3, 13)),
        (("base",), (2, 3), (1, 1)),
        (("base", "b"), (3, 9), (3, 3)),
        (("again",), (3, 9), (7, 1)),
        (("again", 0), (3, 10), (3, 10)),
        (("name",), (8, 10), (8, 1)),
        (("copy",), (8, 10), (9, 1)),
        (("twice",), (11, 8), (11, 1)),
        (("tagged",), (12, 14), (12, 1)),
    ],
)
def test_what_aliases_and_merges_bring_is_where_it_is_written(
    pointer: Pointer, value: tuple[int, int], key: tuple[int, int]
) -> None:
    assert at(IRREGULAR, pointer) == value
    assert at(IRREGULAR, pointer, key=True) == key


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_later_documents_byte_order_marks_and_crlf(line_break: str, mark: str) -> None:
    text = f"{mark}# c\n---\na: 1\n---\n\n# c\nb:\n- x: &x 1\n- 2\n---\nc: [1]\n".replace("\n", line_break)
    documents = read(text.encode(), "f.yaml").documents
    assert [(document.number, document.line) for document in documents] == [(1, 3), (2, 7), (3, 11)]
    assert [document.position(()) for document in documents] == [Position(3, 1), Position(7, 1), Position(11, 1)]
    assert documents[1].position(("b", 1)) == Position(9, 3)
    assert documents[2].position(("c", 0)) == Position(11, 5)


def test_line_breaks_that_only_yaml_knows_do_not_shift_lines() -> None:
    document = only('a: "x\u2028y"\nb: 1\n')
    assert document.position(("b",), key=True) == Position(2, 1)


def test_position_of_wide_documents_is_found_again_and_again() -> None:
    value: dict[str, Any] = {f"k{number}": [number, {"x": number}] for number in range(300)}
    text = "".join(f"{key}:\n- {items[0]}\n- x: {items[1]['x']}\n" for key, items in value.items())
    document = only(text)
    assert document.value == value
    for number in (0, 150, 299):
        assert document.position((f"k{number}", 1, "x")) == Position(number * 3 + 3, 6)


def test_lines_beyond_the_16_bits_of_nearly_every_document() -> None:
    document = only("".join(f"k{number}: {number}\n" for number in range(70_000)) + f"last: {'x' * 70_000}  # end\n")
    assert document.position(("k69999",)) == Position(70_000, 9)
    wide = only("{a: 1, " + " " * 70_000 + "b: 2}\n")
    assert wide.position(("b",), key=True) == Position(1, 70_008)


@pytest.mark.parametrize("text", [REGULAR, IRREGULAR], ids=["regular", "irregular"])
def test_what_is_forgotten_takes_no_other_position_with_it(text: str) -> None:
    def places(value: Any, pointer: Pointer = ()) -> list[Pointer]:
        steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [pointer, *(place for step, inner in steps for place in places(inner, (*pointer, step)))]

    known = {place: only(text).position(place) for place in places(only(text).value)}
    for gone in (("metadata", "labels"), ("spec", "ports"), ("base",), ("use",)):
        document = only(text)
        if gone[0] not in document.value:
            continue
        document.forget(gone)
        assert not document.value[gone[0]] or not document.value[gone[0]][gone[1]]
        for place, position in known.items():
            inside = place[: len(gone)] == gone
            if not inside:
                assert document.position(place) == position
            elif text == REGULAR:
                assert document.position(place) == known[gone]


@pytest.mark.parametrize("line_break", ["\r", "\r\n", "\n"])
def test_lines_end_alike_in_all_documents_of_a_file(line_break: str) -> None:
    text = f"a: 1 # one{line_break}b: 2\n---\nc: [\u007f3]\n---\nd: 4\n"
    reading = read(text.encode(), "f.yaml")
    assert [(document.line, document.position(("d",)).line) for document in reading.documents][-1] == (6, 6)
    later = read(f"apiVersion: v1{line_break}kind: A\n---\napiVersion: v1\nkind: B\n".encode(), "f", wanted=_no_kind)
    assert [unread.line for unread in later.unread][-1] == 4
    broken = read(f"a: 1{line_break}---\nb: \xff".encode("latin-1"), "f.yaml")
    assert [(problem.line, problem.column) for problem in broken.problems] == [(3, 4)]


def _no_kind(*_: str) -> bool:
    return False
