"""What kind a document is of is never read off a line inside of a text."""

from __future__ import annotations

from policylint.documents import read


def test_a_text_over_several_lines_says_no_kind() -> None:
    """Found by `bench/fuzz.py reader --seed 713`: the object has no kind, and is read as a whole."""
    data = b'apiVersion: v1\nspec:\n  hosts: ["./*", "a\nkind: Foo\nb"]\n'
    assert read(data, "f.yaml", wanted=lambda *_: False).unread == []


def test_a_kind_behind_whole_texts_is_read_off() -> None:
    data = b"apiVersion: v1\nmetadata: {name: \"a\", namespace: 'b'}\nkind: Foo\n"
    (unread,) = read(data, "f.yaml", wanted=lambda *_: False).unread
    assert unread.kind == "Foo"
