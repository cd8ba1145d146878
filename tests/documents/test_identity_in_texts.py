"""What kind a document is of is never read off a line inside of a text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.documents import chunks, read
from tests.nightly import examples

HEADS = ("apiVersion: v1\nkind: Foo\n", "kind: Foo\napiVersion: a.io/v1\n", "kind: FooList\napiVersion: v1\n")
PIECES = (
    *HEADS,
    *("kind: Bar\n", "apiVersion: v1\n", "kind: 'Foo'\n", "kind: a-b\n", "kind : Foo\n", '"kind": Foo\n'),
    *(
        "---\n",
        "--- # x\n",
        "--- a\n",
        "# it's\n",
        "# kind: x\n",
        "%YAML 1.2\n",
        "...\n",
        "\r",
        "\r\n",
        "\x85",
        "é: 1\n",
    ),
    *(
        "items:\n",
        "- kind: A\n",
        "a: 'b\n",
        "b'\n",
        'a: "\n',
        '"\n',
        "a: |\n  kind: X\n",
        "{kind: A}\n",
        "&a b: 1\n",
        "\n",
        " ",
    ),
)


def test_a_text_over_several_lines_says_no_kind() -> None:
    """Found by `bench/fuzz.py reader --seed 713`: the object has no kind, and is read as a whole."""
    data = b'apiVersion: v1\nspec:\n  hosts: ["./*", "a\nkind: Foo\nb"]\n'
    assert read(data, "f.yaml", wanted=lambda *_: False).unread == []


def test_a_kind_behind_whole_texts_is_read_off() -> None:
    data = b"apiVersion: v1\nmetadata: {name: \"a\", namespace: 'b'}\nkind: Foo\n"
    (unread,) = read(data, "f.yaml", wanted=lambda *_: False).unread
    assert unread.kind == "Foo"


@settings(max_examples=examples(600), deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6))
def test_what_begins_as_most_do_is_read_off_as_what_does_not(pieces: list[str]) -> None:
    """The quick look at how a document begins says what the careful one says of all its lines."""
    data = "".join(pieces).encode()
    for chunk in chunks.split(data):
        quick = chunks.identity(data, chunk)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(chunks, "_HEAD", re.compile(rb"(?!)"))
            assert quick == chunks.identity(data, chunk)
