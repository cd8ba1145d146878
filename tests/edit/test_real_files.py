"""Every action of an edit on real files, whatever stands around it: comments, anchors, quotes, CRLF, tabs in comments.

Said twice: what the file reads afterwards is worked out here from what it read before, and no byte but those of the
edit may differ.
"""

from __future__ import annotations

import re
from copy import deepcopy
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policylint.documents import Pointer, read
from policylint.model.fix import Action
from tests.edit.test_edits import TREES, common, made
from tests.nightly import examples

NEW = {
    "rename": "renamedTo",
    "list": "listed",
    "insert": "StrategicMerge",
    "document": "kind: Added\nmetadata:\n  name: one\n",
}
SCALARS = ["checkout", "on", "a: b", "it's", 'say "x"', "10", "v1", "#", "*x", "é"]


@cache
def files() -> list[Path]:
    """Files of all trees; those with anchors and with CRLF, of which there are few, come first."""
    found = [each for each in sorted(TREES.rglob("*.y*ml")) if each.is_file() and each.stat().st_size < 12_000]
    rare = [each for each in found if re.search(rb"\r\n|[:-] &\w|<<: \*|\t", each.read_bytes())]
    return [*rare, *[each for each in found if each not in set(rare)][:: max(1, len(found) // 400)]]


def nodes(value: Any, pointer: Pointer = ()) -> list[tuple[Pointer, Any]]:
    """Every value of a document with its place, the document itself first."""
    found = [(pointer, value)]
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in inner:
        found += nodes(each, (*pointer, step))
    return found


def put(value: Any, pointer: Pointer, action: Action, new: str) -> Any:
    """What a document reads after an edit."""
    if action == "insert":
        holder = found_at(value, pointer)
        holder["mergeType"] = new
        return value
    if not pointer:
        return new
    holder, step = found_at(value, pointer[:-1]), pointer[-1]
    if action in ("rename", "list"):
        moved = holder.pop(step)
        holder[new] = [moved] if action == "list" else moved
    else:
        holder[step] = new
    return value


def found_at(value: Any, pointer: Pointer) -> Any:
    for step in pointer:
        value = value[step]
    return value


def unshared(value: Any) -> Any:
    """A copy in which no two places are one: aliases share what they stand for."""
    if isinstance(value, dict):
        return {name: unshared(each) for name, each in value.items()}
    return [unshared(each) for each in value] if isinstance(value, list) else deepcopy(value)


def candidates(documents: list[Any], action: Action) -> list[tuple[int, Pointer, str]]:
    """Where an action can be tried: the number of the document, the place, and what stands there."""
    found = []
    for number, document in enumerate(documents):
        for pointer, value in nodes(document.value):
            key = pointer[-1] if pointer else None
            if action == "set" and isinstance(value, str) and value and "\n" not in value and pointer:
                found.append((number, pointer, value))
            elif action == "quote" and type(value) in (bool, int) and pointer:
                found.append((number, pointer, str(value).lower()))
            elif isinstance(key, str) and (
                action == "rename" or (action == "list" and isinstance(value, dict) and value)
            ):
                found.append((number, pointer, key))
            elif action == "insert" and isinstance(value, dict) and value and "mergeType" not in value:
                found.append((number, pointer, "mergeType"))
            elif action == "document" and not pointer:
                found.append((number, pointer, ""))
    return found


def dressed(data: st.DataObject, raw: bytes) -> bytes:
    """A file as it is, or with other line ends, or with a tab in a comment behind every line that can take one."""
    how = data.draw(st.sampled_from(["as it is", "crlf", "tabs", "crlf and tabs"]))
    text = raw.replace(b"\r\n", b"\n")
    if "tabs" in how:
        with_tabs = b"".join(
            re.sub(rb"\n?\Z", b" #\ttab\n", line) if re.search(rb"[\w'\"\]}]\n?\Z", line) else line
            for line in text.splitlines(keepends=True)
        )
        if [each.value for each in read(with_tabs, "x").documents] == [
            each.value for each in read(text, "x").documents
        ]:
            text = with_tabs
    if how == "as it is":
        return raw
    return text.replace(b"\n", b"\r\n") if "crlf" in how else text


def check_bytes(before: bytes, after: bytes, action: Action, old: str, new: str) -> None:
    """No byte differs but those of the edit."""
    if before.count(b"\r\n") == before.count(b"\n"):
        assert after.count(b"\r\n") == after.count(b"\n") or b"\n" not in before, "its own line ends"
    start, end = common(before, after), common(before[::-1], after[::-1])
    if action in ("insert", "document"):
        assert start + end >= len(before), "something is there besides; all that was there stays"
        assert len(after) - len(before) <= len(f"{old}: {new}".encode()) + 60
        return
    one, other = before.split(b"\n"), after.split(b"\n")
    assert len(one) == len(other)
    differing = [number for number, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if action != "list":
        assert len(differing) == 1
        assert len(before) - start - end <= len(old.encode()) * 2 + 4
        return
    key, *below = differing
    indent = None
    for number in below:
        a, b = one[number], other[number]
        if indent is None:  # the first line of what is in the list now
            indent = len(list(takewhile(lambda char: char == 32, a)))
        begin = b"- " if a[indent:] and b[indent : indent + 2] == b"- " else b"  "
        if a != b and a == b[:indent] + b[indent + 2 :]:
            assert b[indent : indent + 2] == begin
        elif b.startswith(b"  "):
            assert b[2:] == a, "a line of it moves to the right"
        else:
            assert b.replace(b"]", b"", 1) == a, "the end of a flow list"
    assert old.encode() in one[key] and new.encode() in other[key]


@pytest.mark.skipif(not TREES.is_dir(), reason="no ../shared/trees")
@pytest.mark.parametrize("action", ["set", "quote", "rename", "list", "insert", "document"])
@settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(data=st.data())
def test_one_thing_changes_and_every_other_byte_stays(action: Action, data: st.DataObject) -> None:
    raw = dressed(data, data.draw(st.sampled_from(files())).read_bytes())
    documents = read(raw, "a.yaml").documents
    places = candidates(documents, action)
    if not places:
        return
    number, pointer, old = data.draw(st.sampled_from(places))
    new = data.draw(st.sampled_from(SCALARS)) if action == "set" else old if action == "quote" else NEW[action]
    after = made(raw, action, pointer, old, new, number=number)
    if after is None or after == raw:
        return
    wanted = [unshared(each.value) for each in documents]
    if action == "document":
        wanted.insert(number + 1, {"kind": "Added", "metadata": {"name": "one"}})
    else:
        wanted[number] = put(wanted[number], pointer, action, new)
    assert [each.value for each in read(after, "a.yaml").documents] == wanted
    check_bytes(raw, after, action, old, new)
    if action in ("quote", "insert") or (action == "set" and old != new):  # of the others the place is gone
        assert made(after, action, pointer, old, new, number=number) is None, "what is done is done once"


@pytest.mark.skipif(not TREES.is_dir(), reason="no ../shared/trees")
@pytest.mark.parametrize("action", ["rename", "list", "insert", "document"])
def test_most_places_of_real_files_can_be_edited(action: Action) -> None:
    """Else the property above would hold for nothing."""
    done = refused = 0
    for path in files()[::15]:
        raw = path.read_bytes()
        for number, pointer, old in candidates(read(raw, "a.yaml").documents, action)[:6]:
            after = made(raw, action, pointer, old, NEW[action], number=number)
            done, refused = done + (after is not None), refused + (after is None)
    assert done > 5 * refused, (done, refused)
