"""The loops in C say what those in Python say: the same values, places, counts of nodes, and the same is handed on."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.documents import chunks, fast, read
from policylint.documents.events import binding
from policylint.documents.scalars import _NAMED, MergeKeyError
from tests.nightly import examples

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(fast._compiled() is None, reason="the reader in C is not built (cc, libyaml)")
PIECES = st.sampled_from(
    (
        "--- ", "... ", "\n", "\n  ", "\n    ", "\t", ": ", "- ", "? ", "[", "]", "{", "}", ", ", "#", "'", '"', ">\n",
        "&a ", "*a", "<<: *a\n", "a", "b: 1\n", "- c\n", "kind: Foo\n", "on", "y", "~", "0x1", "010", "1e3", "é", "😀",
        "\r\n", "|\n", "%YAML 1.1\n", "\\u0041", '"\\ud83d"', "k: {a: [1, 2]}\n", "a: &a 1\nb: *a\n", "\x07", "\ufeff",
    )
)  # fmt: skip


def answer(data: bytes, *, compiled: bool) -> Any:
    """Return what a loop makes of a text: types and places included, None where it hands on."""
    events = None if compiled else binding()
    try:
        if fast.has_anchors(data):
            return repr(fast.load_named(data, events))
        return [(repr(value), list(lines), list(columns)) for value, lines, columns in fast.load(data, events)]
    except (fast.IrregularError, MergeKeyError, UnicodeError):
        return None


@given(st.lists(PIECES, max_size=30).map("".join))
@pytest.mark.parametrize("_", range(examples(9)))
def test_any_text(_: int, text: str) -> None:
    assert answer(text.encode(), compiled=True) == answer(text.encode(), compiled=False)


def test_all_that_the_fixtures_and_examples_hold() -> None:
    for path in [*sorted(ROOT.glob("fixtures/**/*.yaml")), *sorted(ROOT.glob("tests/hostile/corpus/**/*.y*ml"))]:
        data = path.read_bytes()
        for chunk in chunks.split(data):
            part = data[chunk.start : chunk.end]
            assert answer(part, compiled=True) == answer(part, compiled=False), path


@pytest.mark.parametrize("depth", [198, 199, 200, 201])
@pytest.mark.parametrize("start", ["a: ", "a: &x 1\nb: "])
def test_depth_counts_alike(depth: int, start: str) -> None:
    data = f"{start}{'[' * depth}1{']' * depth}\n".encode()
    assert answer(data, compiled=True) == answer(data, compiled=False)


def test_far_places_take_wider_numbers() -> None:
    data = b"a: 1\n" + b"#\n" * 70_000 + b"b: [" + b" " * 70_000 + b"2]\n"
    assert answer(data, compiled=True) == answer(data, compiled=False)
    ((_, lines, columns),) = fast.load(data)
    assert (lines.typecode, max(lines), max(columns)) == ("I", 70_001, 70_004)


def test_words_with_a_meaning_and_those_like_them() -> None:
    words = [
        *_NAMED,
        *(f"{word}{end}" for word in _NAMED for end in "xe1 ."),
        "Infinity",
        "e1",
        "é",
        "1e3",
        "/a",
        "A",
        "z",
    ]
    for word in filter(str.strip, (*words, "..", "./1", ".1", "/1")):
        for data in (f"a: {word}\n".encode(), f"{word}: a\n".encode()):
            assert answer(data, compiled=True) == answer(data, compiled=False), word


def test_bytes_that_are_no_text() -> None:
    for data in (b"a: \xff\n", b"a: \xed\xa0\x80\n", b"\xff\xfea\0:\0 \x001\0", b"a: \xc3", b"", b"\xef\xbb\xbfa: 1\n"):
        assert answer(data, compiled=True) == answer(data, compiled=False)


TAGGED = (
    "a: !x b\n",
    "a: ! 5\n",
    "a: !!str 5\n",
    "!!map\na: b\n",
    "a: !<x> [b]\n",
    "a: [c, !x {b: c}]\n",
    "!x a: b\n",
    "- &n !x a\n",
    "- !&a b\n",
    "a: !=b c\n",
)
UNTAGGED = (
    "a: if [ ! -f x ]; then\n",
    "rule: '!has(self.a) || !self.b'\n",
    "a: |\n  x && !y\n",
    "- a !b\n",
    "a: &n b !c\nd: *n\n",
)


@pytest.mark.parametrize("text", TAGGED)
def test_tags_are_handed_on(text: str) -> None:
    assert fast.is_candidate(text.encode())
    assert answer(text.encode(), compiled=True) is None


@pytest.mark.parametrize("text", UNTAGGED)
def test_exclamation_marks_that_are_no_tags_are_read_on(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer(text.encode(), compiled=True) == answer(text.encode(), compiled=False) is not None
    whole = [document.value for document in read(text.encode(), "f.yaml").documents]
    monkeypatch.setattr(fast, "_compiled", lambda: None)
    assert [document.value for document in read(text.encode(), "f.yaml").documents] == whole


def test_nothing_leaks() -> None:
    """Texts that are read and those that are handed on half-way, over and over, hold no memory."""
    texts = [b"a: {b: [1, c, 'd']}\n", b"a: [1, {b: 2}\n", b"a: {b: 1, b: 2}\n", b"a: &x 1\nb: [*x, *y]\n"]
    texts += [b"<<: {a: 1}\n", b"a: " + b"[" * 300, b"a: &x {b: 1}\n", b"? [a]\n: b\n", b"a: &x {b: &y [c, *x]}\n"]
    texts += [
        b"a: &x {b: &y [c]}\nd: [*x, *y, *x]\n",
        b"a: &x {b: &y [c, !t d]}\n",
        b"a: &x [*x]\n",
        b"a: &x " + b"[" * 300,
    ]

    def rounds(number: int) -> int:
        for _ in range(number):
            for data in texts:
                answer(data, compiled=True)
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = rounds(200)
        assert rounds(2_000) - before < 20_000
    finally:
        tracemalloc.stop()


def test_memory_of_libyaml_is_given_back() -> None:
    """What libyaml itself allocates is not Python's to count, so the process is asked."""
    script = (
        "import resource\nfrom policylint.documents import fast\n"
        "texts = [b'a: [' + b'b, ' * 2000, b'a: {' + b'b: 1, ' * 500 + b'}', b'a: &x ' + b'1' * 5000 + b'\\nb: *x']\n"
        "def go(n):\n"
        "    for _ in range(n):\n"
        "        for text in texts:\n"
        "            try: (fast.load_named if b'&' in text else fast.load)(text)\n"
        "            except fast.IrregularError: pass\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "first = go(50)\nprint(go(1000) - first)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2_000


def test_without_it_the_loops_in_python_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"kind: A\nmetadata: {name: &n b, labels: {app: *n}}\n---\nkind: B\nspec: [1, yes]\n"
    whole = [(document.value, document.line) for document in read(data, "f.yaml").documents]
    monkeypatch.setattr(fast, "_compiled", lambda: None)
    assert [(document.value, document.line) for document in read(data, "f.yaml").documents] == whole
