"""Edits are exact: one thing changes, every other byte stays, and what cannot be done exactly is not done."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.documents import Document, Pointer, read
from policylint.edit import plan
from policylint.edit.plan import Plan
from policylint.edit.unified import unified
from policylint.model import Finding, Location
from policylint.model.fix import Action, Change, Fix
from tests.nightly import examples

TREES = Path(__file__).parents[3] / "shared" / "trees"


def made(data: bytes, action: Action, pointer: Pointer, old: str, new: str, *, number: int = 0) -> bytes | None:
    """A file after one change; None where it is refused."""
    planned = planning(data, [change(data, action, pointer, old, new, number=number)])
    return planned.files.get("a.yaml") if planned.fixed else None


def change(data: bytes, action: Action, pointer: Pointer, old: str, new: str, *, number: int = 0) -> Change:
    document = read(data, "a.yaml").documents[number]
    return Change(action, Location(document, pointer, key=action in ("rename", "list")), old, new)


def planning(data: bytes, changes: list[Change], *, unsafe: bool = False, safe: bool = True) -> Plan:
    findings = [Finding("GWP000", "error", "x", each.location, fixes=(Fix("t", (each,), safe),)) for each in changes]
    return plan(findings, lambda _: data, unsafe=unsafe)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"name: chekout # why\n", b"name: checkout # why\n"),
        (b"name:   'chekout'\n", b"name:   'checkout'\n"),
        (b'name: "chekout"', b'name: "checkout"'),
        (b"{name: chekout, b: 1}\n", b"{name: checkout, b: 1}\n"),
        (b"# caf\xc3\xa9\r\nname: chekout\r\nb: 1\r\n", b"# caf\xc3\xa9\r\nname: checkout\r\nb: 1\r\n"),
        (b"\xef\xbb\xbfname: chekout\n", b"\xef\xbb\xbfname: checkout\n"),
        (b"a: &x {c: 1}\nname: chekout #\ttab\nb: *x\n", b"a: &x {c: 1}\nname: checkout #\ttab\nb: *x\n"),
    ],
)
def test_a_scalar_is_written_anew_in_its_own_style(before: bytes, after: bytes) -> None:
    assert made(before, "set", ("name",), "chekout", "checkout") == after


@pytest.mark.parametrize(
    "data",
    [
        b"name: |\n  chekout\n",
        b"name: &n chekout\nb: *n\n",
        b"a: &n chekout\nname: *n\n",
        b"name: !!str chekout\n",
        b"name: other\n",
        "name: chekout # \u2028\n".encode(),
    ],
)
def test_what_cannot_be_done_exactly_is_refused(data: bytes) -> None:
    assert made(data, "set", ("name",), "chekout", "checkout") is None


@pytest.mark.parametrize("value", ["on", "1.10", "a: b", "", "#x", "- a", "x,y", "ü"])
def test_a_value_that_would_be_read_otherwise_gets_quotes(value: str) -> None:
    after = made(b"name: chekout\n", "set", ("name",), "chekout", value)
    assert after is not None
    assert read(after, "a.yaml").documents[0].value == {"name": value}


def test_a_plain_scalar_gets_quotes() -> None:
    assert made(b"a: [1e3, on]\n", "quote", ("a", 1), "on", "on") == b'a: [1e3, "on"]\n'


def test_a_key_is_renamed_unless_the_new_one_is_there() -> None:
    assert made(b"{a: {hostname : [x]}}", "rename", ("a", "hostname"), "hostname", "hostnames") == (
        b"{a: {hostnames : [x]}}"
    )
    assert made(b"{hostname: 1, hostnames: 2}", "rename", ("hostname",), "hostname", "hostnames") is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            b"spec:\n  targetRef: # a\n    # b\n    kind: X\n\n    # c\n    name: y # d\n  z: 1\n",
            b"spec:\n  targetRefs: # a\n    # b\n    - kind: X\n\n      # c\n      name: y # d\n  z: 1\n",
        ),
        (b"spec: {targetRef: {kind: X}, b: 1}", b"spec: {targetRefs: [{kind: X}], b: 1}"),
        (b"spec:\r\n  targetRef: {kind: X}\r\n", b"spec:\r\n  targetRefs: [{kind: X}]\r\n"),
        (b"spec:\n  targetRef:\n    kind: X\n    name: y\n", b"spec:\n  targetRefs:\n    - kind: X\n      name: y\n"),
        (b"spec:\n  targetRef:\n    kind: X\n    name: y", b"spec:\n  targetRefs:\n    - kind: X\n      name: y"),
    ],
)
def test_a_mapping_becomes_a_list_of_one(before: bytes, after: bytes) -> None:
    assert made(before, "list", ("spec", "targetRef"), "targetRef", "targetRefs") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"spec: # x\n  a: 1\n", b"spec: # x\n  mergeType: Deep\n  a: 1\n"),
        (b"spec: {a: 1}\n", b"spec: {mergeType: Deep, a: 1}\n"),
        (b"spec: { }\n", b"spec: {mergeType: Deep }\n"),
        (b"spec:\r\n    a: 1\r\n", b"spec:\r\n    mergeType: Deep\r\n    a: 1\r\n"),
    ],
)
def test_a_mapping_gets_an_entry(before: bytes, after: bytes) -> None:
    assert made(before, "insert", ("spec",), "mergeType", "Deep") == after


@pytest.mark.parametrize("value", ['""', "1", "false", '{"type": "Exact"}', '[{"a": 1}]'])
def test_an_entry_may_be_any_value(value: str) -> None:
    assert made(b"spec: {a: 1}\n", "entry", ("spec",), "b", value) == f"spec: {{b: {value}, a: 1}}\n".encode()
    assert made(b"spec:\n  a: 1\n", "entry", ("spec",), "b", value) == f"spec:\n  b: {value}\n  a: 1\n".encode()


@pytest.mark.parametrize(
    ("before", "number", "after"),
    [
        (b"a: 1\n", 0, b"a: 1\n---\nz: 1\n"),
        (b"a: 1", 0, b"a: 1\n---\nz: 1\n"),
        (b"---\na: 1\n---\nb: 2\n", 0, b"---\na: 1\n---\nz: 1\n---\nb: 2\n"),
        (b"---\na: 1\n---\nb: 2\n", 1, b"---\na: 1\n---\nb: 2\n---\nz: 1\n"),
        (b"a: 1\r\n---\r\nb: 2\r\n", 0, b"a: 1\r\n---\r\nz: 1\r\n---\r\nb: 2\r\n"),
        (b'{"a": 1}\n', 0, None),
    ],
)
def test_a_document_is_put_behind_another(before: bytes, number: int, after: bytes | None) -> None:
    assert made(before, "document", (), "", "z: 1\n", number=number) == after


def test_fixes_that_meet_in_one_place_are_not_made_both() -> None:
    data = b"name: chekout\n"
    both = [change(data, "set", ("name",), "chekout", new) for new in ("checkout", "check-out")]
    planned = planning(data, both)
    assert planned.files == {"a.yaml": b"name: checkout\n"}
    assert len(planned.fixed) == 1


def test_unsafe_fixes_are_counted_and_made_when_asked_for() -> None:
    data = b"spec:\n  a: 1\n"
    wanted = [change(data, "insert", ("spec",), "mergeType", "Deep")]
    assert planning(data, wanted, safe=False)[2:] == ((), 1)
    assert planning(data, wanted, safe=False, unsafe=True).files == {"a.yaml": b"spec:\n  mergeType: Deep\n  a: 1\n"}


def test_a_file_that_has_changed_meanwhile_is_left_alone() -> None:
    wanted = change(b"name: chekout\n", "set", ("name",), "chekout", "checkout")
    assert planning(b"b: 1\nname: chekout\n", [wanted]).files == {}


def test_the_preview_is_a_diff_that_git_takes() -> None:
    assert unified("a.yaml", b"a: 1\nb: 2", b"a: 1\nb: 3") == (
        "--- a/a.yaml\n+++ b/a.yaml\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n\\ No newline at end of file\n"
        "+b: 3\n\\ No newline at end of file\n"
    )
    assert "\033[31m-b: 2\033[0m" in unified("a.yaml", b"b: 2\n", b"b: 3\n", color=True)


@lru_cache(maxsize=1)
def tree_files() -> list[Path]:
    found = sorted(TREES.rglob("*.yaml")) if TREES.is_dir() else []
    return [each for each in found if each.stat().st_size < 20_000][::7]


def common(one: bytes, other: bytes) -> int:
    """How many bytes two texts have in common at their start."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def scalars(document: Document) -> list[tuple[Pointer, str]]:
    """Every text of a document, with its place."""
    found: list[tuple[Pointer, str]] = []
    pending: list[tuple[Pointer, object]] = [((), document.value)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, str) and pointer:
            found.append((pointer, value))
        elif isinstance(value, dict):
            pending += [((*pointer, name), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            pending += [((*pointer, number), inner) for number, inner in enumerate(value)]
    return found


@pytest.mark.skipif(not TREES.is_dir(), reason="no ../shared/trees")
@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_one_value_of_a_real_file(data: st.DataObject) -> None:
    raw = data.draw(st.sampled_from(tree_files())).read_bytes()
    if data.draw(st.booleans()):
        raw = raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    documents = read(raw, "a.yaml").documents
    places = [(number, *each) for number, one in enumerate(documents) for each in scalars(one)]
    if not places:
        return
    number, pointer, old = data.draw(st.sampled_from(places))
    new = data.draw(st.sampled_from(["checkout", "on", "a: b", "it's", 'say "x"', "10"]))
    after = made(raw, "set", pointer, old, new, number=number)
    if after is None or new == old:
        return
    start, end = common(raw, after), common(raw[::-1], after[::-1])
    assert len(raw) - start - end <= len(old.encode()) + 8  # only the token has changed
    assert made(after, "set", pointer, old, new, number=number) is None  # and it changes once
    again = read(after, "a.yaml").documents
    assert [each.value for at, each in enumerate(again) if at != number] == [
        each.value for at, each in enumerate(documents) if at != number
    ]


@pytest.mark.skipif(not TREES.is_dir(), reason="no ../shared/trees")
def test_most_values_of_real_files_can_be_edited() -> None:
    done = refused = 0
    for path in tree_files()[::12]:
        raw = path.read_bytes()
        for number, document in enumerate(read(raw, "a.yaml").documents):
            for pointer, old in scalars(document)[:5]:
                if "\n" not in old and old:
                    after = made(raw, "set", pointer, old, "other-value", number=number)
                    done, refused = done + (after is not None), refused + (after is None)
    assert refused <= done / 20
