"""What is remembered from run to run changes how long a run takes, and nothing else; whatever the cache holds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policylint.documents import Document, read
from policylint.documents.serialize import StoredError, plain, restored
from policylint.load import cache as cache_module
from policylint.load import facts as facts_module
from policylint.load.cache import Remembered
from policylint.load.reading import Loaded, load
from policylint.sources import open_source
from policylint.sources.pack import Pack, packs
from policylint.workspace import known_groups
from tests.diff.history import MAKE, commit, run, steady
from tests.render.trees import FIXTURES, TREES

FORMATS = ("text", "concise", "json-v1", "sarif", "markdown", "github", "junit", "codeclimate")
WORLDS = sorted(each for each in FIXTURES.iterdir() if any(each.rglob("*.yaml")))
REAL = sorted(each for each in TREES.iterdir() if each.is_dir()) if TREES.is_dir() else []
History = tuple[Path, list[str]]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were parsed, as shown, and documents that were parsed after all. However small the tree, there is
    a pack."""
    found: list[str] = []
    of_file, of_unread = facts_module.facts_of, cache_module.read_unread

    def counted(data: bytes, file: str, wanted: Any) -> Any:
        found.append(file)
        return of_file(data, file, wanted)

    def counted_unread(data: bytes, unread: Any) -> Any:
        found.append(f"{unread.file}#{unread.number}")
        return of_unread(data, unread)

    monkeypatch.setattr(cache_module, "facts_of", counted)
    monkeypatch.setattr(cache_module, "read_unread", counted_unread)
    monkeypatch.setattr(cache_module, "FEWEST", 0)
    return found


def every_format(directory: Path, out: Path, *arguments: str) -> dict[str, str]:
    """What a run writes, in every format, and its exit code."""
    out.mkdir(exist_ok=True)
    outputs = [part for form in FORMATS for part in ("--output", f"{form}={out / form}")]
    code, text, said = run(directory, *arguments, "--show-unknown", *outputs)
    written = {form: timeless((out / form).read_text(encoding="utf-8")) for form in FORMATS}
    return {"stdout": steady(text), "stderr": said, "code": str(code), **written}


def timeless(text: str) -> str:
    return re.sub(r' time="[\d.]+"', "", steady(text))


@pytest.mark.parametrize("directory", [*WORLDS, *REAL], ids=lambda each: each.name)
def test_lint_says_the_same_with_and_without(directory: Path, tmp_path: Path, parsed: list[str]) -> None:
    cache = ("--cache-dir", str(tmp_path / "cache"))
    without = every_format(directory, tmp_path / "out", "lint", ".", "--no-cache")
    assert not (tmp_path / "cache").exists()
    first = every_format(directory, tmp_path / "out", "lint", ".", *cache)
    number = len(parsed)
    again = every_format(directory, tmp_path / "out", "lint", ".", *cache)
    assert number > 0
    assert parsed[number:] == []
    assert first == without
    assert again == without


@pytest.mark.parametrize("options", [("--strict",), ("--render", "off"), ("--render", "off", "--strict")])
@pytest.mark.parametrize("name", ["flux-shop", "argo-platform", "kuadrant-platform"])
def test_so_do_runs_that_read_otherwise(name: str, options: tuple[str, ...], tmp_path: Path, parsed: list[str]) -> None:
    cache = ("--cache-dir", str(tmp_path / "cache"))
    every_format(FIXTURES / name, tmp_path / "out", "lint", ".", *cache)
    without = every_format(FIXTURES / name, tmp_path / "out", "lint", ".", "--no-cache", *options)
    for _ in range(2):
        assert every_format(FIXTURES / name, tmp_path / "out", "lint", ".", *cache, *options) == without
    assert parsed


@pytest.mark.parametrize("step", range(1, 18))
def test_diff_says_the_same_with_and_without(history: History, step: int, tmp_path: Path, parsed: list[str]) -> None:
    directory, ids = history
    span = f"{ids[step - 1]}..{ids[step]}"
    cache = ("--cache-dir", str(tmp_path / "cache"))
    without = every_format(directory, tmp_path / "out", "diff", span, "--no-cache")
    assert every_format(directory, tmp_path / "out", "diff", span, *cache) == without
    number = len(parsed)
    assert every_format(directory, tmp_path / "out", "diff", span, *cache) == without
    assert parsed[number:] == []


def test_of_two_sides_each_content_is_parsed_once(history: History, parsed: list[str]) -> None:
    directory, ids = history
    run(directory, "diff", f"{ids[0]}..{ids[0]}", "--no-cache")
    files = len(parsed)
    run(directory, "diff", f"{ids[0]}..{ids[1]}", "--no-cache")
    assert files <= len(parsed) - files < files + 5


def test_the_work_tree_knows_what_git_knows(history: History, tmp_path: Path, parsed: list[str]) -> None:
    """Keys are git's own ids, so lint of a checkout has seen what a diff of its commit needs."""
    directory, ids = history
    MAKE.git(tmp_path, "clone", "-q", str(directory), "clone")
    cache = ("--cache-dir", str(tmp_path / "cache"))
    run(tmp_path / "clone", "lint", *cache)
    number = len(parsed)
    run(tmp_path / "clone", "diff", f"{ids[-1]}..{ids[-1]}", *cache)
    assert parsed[number:] == []


def test_a_file_that_changes_is_read_whatever_its_time_and_size(tmp_path: Path, parsed: list[str]) -> None:
    import os

    place = tmp_path / "tree" / "gateway.yaml"
    place.parent.mkdir()
    text = (
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, namespace: a}\n"
        "spec: {gatewayClassName: x, listeners: [{name: http, port: 80, protocol: HTTP}]}\n"
    )
    place.write_text(text, encoding="utf-8")
    state = place.stat()
    names = []
    for name in ("edge", "edgy", "edge"):
        place.write_text(text.replace("edge", name), encoding="utf-8")
        os.utime(place, ns=(state.st_atime_ns, state.st_mtime_ns))
        code, out, _ = run(place.parent, "simulate", ".", "-o", "json", "--cache-dir", str(tmp_path / "cache"))
        names.append((code, [each["gateway"] for each in json.loads(out)["gateways"]]))
    assert names == [(0, ["Gateway a/edge"]), (0, ["Gateway a/edgy"]), (0, ["Gateway a/edge"])]
    assert len(parsed) == 2


def test_a_pointer_of_lfs_is_not_taken_for_yaml(tmp_path: Path, parsed: list[str]) -> None:
    """In the work tree it may be read as text; in a revision it says that the content is not here."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    tree = tmp_path / "tree"
    one = commit(tree, {"big.yaml": pointer})
    cache = ("--cache-dir", str(tmp_path / "cache"))
    without = steady(run(tree, "diff", f"{one}..{one}", "--no-cache", "--show", "unchanged")[1])
    run(tree, "lint", *cache)
    assert steady(run(tree, "diff", f"{one}..{one}", *cache, "--show", "unchanged")[1]) == without
    assert parsed


def test_small_trees_and_stdin_have_no_pack(tmp_path: Path) -> None:
    run(FIXTURES / "plain-manifests", "lint", ".", "--cache-dir", str(tmp_path / "cache"))
    assert not (tmp_path / "cache").exists()


# What a cache may hold.


def pointers(document: Document) -> Iterator[tuple[str | int, ...]]:
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), document.value)]
    while pending:
        pointer, value = pending.pop()
        yield pointer
        if isinstance(value, dict):
            pending += [((*pointer, name), each) for name, each in value.items()]
        elif isinstance(value, list):
            pending += [((*pointer, number), each) for number, each in enumerate(value)]


def samples() -> Iterator[tuple[str, bytes]]:
    for place in sorted(FIXTURES.rglob("*.y*ml")):
        yield str(place), place.read_bytes()
    yield "anchors", b"a: &x {k: [1, 2]}\nb: *x\nc: {<<: *x, z: 1}\n---\nd: &y 1\ne: [*y]\n"
    yield "wide", b"a: " + b" " * 70_000 + b"[b, {c: d}]\n"
    yield "twice", b"a: 1\na: {b: 2}\n"
    yield "scalars", b"a: .nan\nb: 1e999\nc: 18446744073709551615\nd: y\ne: '\\u'\nf: \"\xf0\x9f\x98\x80\"\n"
    yield "broken", b"a: [\n---\nb: 1\n"
    yield "template", b"{{ if }}\na: 1\n{{ end }}\n"


@pytest.mark.parametrize(("name", "data"), list(samples()), ids=lambda each: each if isinstance(each, str) else "")
def test_documents_come_back_with_every_position(name: str, data: bytes) -> None:
    reading = read(data, name)
    content = plain(reading)
    (back,) = restored([json.loads(json.dumps(content))], [name])
    assert (back.form, back.problems, back.unread) == (reading.form, reading.problems, reading.unread)
    assert len(back.documents) == len(reading.documents)
    for one, other in zip(reading.documents, back.documents, strict=True):
        assert (one.file, one.number, one.line, repr(one.value)) == (
            other.file,
            other.number,
            other.line,
            repr(other.value),
        )
        for pointer in pointers(one):
            for key in (False, True):
                assert other.position(pointer, key=key) == one.position(pointer, key=key)
        assert other.position(("no", "such", 1)) == one.position(("no", "such", 1))


def test_what_aliases_blow_up_is_not_kept() -> None:
    bomb = b"a0: &a0 " + b"x" * 1000 + b"\n"
    bomb += b"".join(b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 5))
    assert plain(read(bomb, "bomb")) is None


def loaded(directory: Path, cache: Path | None) -> Loaded:
    known = Remembered(None if cache is None else str(cache))
    found = load(open_source([str(directory)]), known_groups(), remembered=known)
    known.close()
    return found


def summary(found: Loaded) -> Any:
    return (
        [(each.file, each.number, each.line, each.value, each.position(("spec",))) for each in found.documents],
        found[1:7],
        found.with_variables,
        found.mentioning,
        found.idle,
        found.idle_documents,
    )


SAMPLE = FIXTURES / "flux-shop"


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What an honest run keeps of a tree."""
    cache = tmp_path_factory.mktemp("honest")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_module, "FEWEST", 0)
        loaded(SAMPLE, cache)
    (place,) = [Path(path) for _, _, path in packs(str(cache))]
    records = [line.split(" ", 1) for line in place.read_text(encoding="utf-8").splitlines()[:-1]]
    return {key: line for key, line in records}  # noqa: C416 - for its types


def forged(cache: Path, records: dict[str, str]) -> None:
    """A pack whose digest is right: somebody has made it well."""
    made: list[tuple[str, str]] = []

    class Recording(Pack):
        def __init__(self, directory: str, tree: str, stamp: str) -> None:
            made.append((tree, stamp))
            super().__init__(directory, tree, stamp)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("policylint.sources.pack.Pack", Recording)
        loaded(SAMPLE, cache)
    for _, _, path in packs(str(cache)):
        Path(path).unlink()
    pack = Pack(str(cache), *made[0])
    for key, line in records.items():
        pack.put(key, line)
    pack.close()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("policylint"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)


def changed(value: Any, steps: list[int], other: Any) -> Any:
    """A value with another one somewhere in it."""
    if not steps or not isinstance(value, (list, dict)) or not value:
        return other
    copy: Any = value.copy()
    names = list(range(len(copy))) if isinstance(copy, list) else list(copy)
    name = names[steps[0] % len(names)]
    copy[name] = changed(copy[name], steps[1:], other)
    return copy


@pytest.mark.slow
@given(st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_whatever_a_forged_pack_holds_the_run_goes_on(
    lines: dict[str, str], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    records = dict(lines)
    for key in data.draw(st.lists(st.sampled_from(sorted(lines)), min_size=1, max_size=3)):
        steps = data.draw(st.lists(st.integers(0, 9), max_size=6))
        records[key] = json.dumps(changed(json.loads(lines[key]), steps, data.draw(JSON)))
    cache = tmp_path_factory.mktemp("forged")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_module, "FEWEST", 0)
        forged(cache, records)
        code, _, said = run(SAMPLE, "lint", ".", "--cache-dir", str(cache), "-o", "json")
    assert code in (0, 1), said
    assert "internal error" not in said


@given(st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_pack_of_which_one_byte_is_another_counts_for_nothing(
    lines: dict[str, str], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    cache = tmp_path_factory.mktemp("damaged")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_module, "FEWEST", 0)
        forged(cache, lines)
        (place,) = [Path(path) for _, _, path in packs(str(cache))]
        whole = bytearray(place.read_bytes())
        whole[data.draw(st.integers(0, len(whole) - 2))] ^= data.draw(st.integers(1, 255))
        place.write_bytes(whole)
        assert repr(summary(loaded(SAMPLE, cache))) == repr(summary(loaded(SAMPLE, None)))


NOT_FACTS: dict[str, Callable[[Any], str]] = {
    "no JSON": lambda _: "[",
    "a number too long": lambda _: "9" * 5000,
    "too deep for JSON": lambda _: "[" * 100_000,
    "too deep for YAML": lambda line: json.dumps(
        changed(line, [0, 1, 0, 3], json.loads('{"spec":' * 300 + "1" + "}" * 300))
    ),
    "half a character": lambda line: json.dumps(line).replace("HTTPRoute", "\\ud800"),
    "another form": lambda line: json.dumps(changed(line, [0, 0], "exe")),
    "no document": lambda line: json.dumps(changed(line, [0, 1, 0], [])),
    "a line below zero": lambda line: json.dumps(changed(line, [0, 1, 0, 2], -1)),
    "a line that is true": lambda line: json.dumps(changed(line, [0, 1, 0, 2], True)),
    "an unknown problem": lambda line: json.dumps(changed(line, [0, 3], [[["evil", "x", 1, 1, None]], []])),
    "facts left out": lambda line: json.dumps(line[:2]),
}


@pytest.mark.parametrize("name", NOT_FACTS)
def test_one_line_that_is_none_of_ours_and_the_pack_counts_for_nothing(
    lines: dict[str, str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "FEWEST", 0)
    key = next(each for each, line in lines.items() if '"HTTPRoute"' in line and "#" not in each)
    forged(tmp_path, {**lines, key: NOT_FACTS[name](json.loads(lines[key]))})
    assert repr(summary(loaded(SAMPLE, tmp_path))) == repr(summary(loaded(SAMPLE, None)))
    (place,) = [Path(path) for _, _, path in packs(str(tmp_path))]
    assert f"{key} {lines[key]}\n" in place.read_text(encoding="utf-8"), "written anew"


def test_positions_that_do_not_belong_give_the_line_of_the_document() -> None:
    content = plain(read(b"# first\na: {b: [1, 2]}\n", "x"))
    assert content is not None
    for packed in ("", "AAAA", ":AAAA", "!AAAA", "?", "AAAA" * 1000):
        content[1][0][4] = packed
        (document,) = restored([content], ["x"])[0].documents
        assert document.position(("a", "b", 1)) == (2, 1)


def test_a_reading_has_one_shape() -> None:
    whole = ["yaml", [], [], []]
    assert restored([whole, whole], ["x", "y"])[1].form == "yaml"
    backwards = [1, "v1", "Service", 9, 8, 1]  # starts behind its end
    no_shapes = (
        whole[1:],
        ["yaml", 1, [], []],
        ["yaml", [], [backwards], []],
        ["yaml", [], [], [[]]],
        ["exe", [], [], []],
    )
    for value in (None, 1, "yaml", [], {}, *no_shapes):
        with pytest.raises(StoredError):
            restored([whole, value], ["x", "y"])


# Several runs at once.


def test_two_runs_at_once_leave_a_whole_pack(tmp_path: Path, parsed: list[str]) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(200):
        (tree / f"{number}.yaml").write_text(
            f"apiVersion: v1\nkind: Service\nmetadata: {{name: s{number}}}\nspec: {{ports: [{{port: 80}}]}}\n",
            encoding="utf-8",
        )
    cache = tmp_path / "cache"
    command = [sys.executable, "-m", "policylint", "lint", ".", "--cache-dir", str(cache)]
    started = [subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    answers = [each.communicate(timeout=120) for each in started]
    assert [each.returncode for each in started] == [0] * 4
    assert {said for _, said in answers} == {answers[0][1]}
    assert [Path(path).suffix for _, _, path in packs(str(cache))] == [".pack"]
    run(tree, "lint", ".", "--cache-dir", str(cache))
    assert parsed == []
