"""`--fix` and `--add-ignore` over whole real trees: a second run changes nothing, and every other byte stays."""

from __future__ import annotations

import re
import shutil
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.documents import read
from tests.edit.test_edits import TREES
from tests.nightly import sampled

_COMMENT = re.compile(
    rb"(?m)^[ ]*# policylint: ignore\[[A-Z0-9,]+\] because\r?\n|  # policylint: ignore\[[A-Z0-9,]+\] because(?=\r?$)"
)

pytestmark = pytest.mark.skipif(not TREES.is_dir(), reason="no ../shared/trees")


def names() -> list[str]:
    return sorted(each.name for each in TREES.iterdir() if each.is_dir()) if TREES.is_dir() else []


@pytest.fixture
def tree(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a tree, half of its files with other line ends, with a version that is superseded and a misspelt field
    in its HTTPRoutes."""
    place = tmp_path / "tree"
    shutil.copytree(TREES / request.param, place, symlinks=True)
    (place / ".git").mkdir()
    for number, file in enumerate(sorted(contents(place))):
        data = (place / file).read_bytes()
        if re.search(rb"(?m)^kind: HTTPRoute", data):
            data = re.sub(rb"(?m)^(apiVersion: gateway\.networking\.k8s\.io/v1)$", rb"\1beta1", data)
            data = re.sub(rb"(?m)^(  hostname)s:", rb"\1:", data, count=1)
        if number % 2 and b"\r" not in data:
            data = data.replace(b"\n", b"\r\n")
        (place / file).write_bytes(data)
    monkeypatch.chdir(place)
    return place


def contents(place: Path) -> dict[str, bytes]:
    found = (each for each in place.rglob("*") if each.is_file() and each.suffix in (".yaml", ".yml"))
    return {str(each.relative_to(place)): each.read_bytes() for each in found}


def run(*arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(main, ["lint", ".", "--no-config", "-o", "concise", *arguments])
    assert result.exit_code in (0, 1), result.output
    return result.stdout, result.stderr


def check_lines(before: bytes, after: bytes) -> None:
    """Lines change one for one, or are there besides; those around them are what they were, to the last byte."""
    one, other = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for action, start, end, begin, stop in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        assert action != "delete", one[start:end]
        if action == "replace":
            assert end - start == stop - begin
            for a, b in zip(one[start:end], other[begin:stop], strict=True):
                assert a.endswith(b"\r\n") == b.endswith(b"\r\n")
                assert a.rpartition(b"#")[2] == b.rpartition(b"#")[2] or b"#" not in a, "comments stay"
        if action == "insert" and before.count(b"\r\n") == before.count(b"\n"):
            assert all(line.endswith(b"\r\n") or line == other[-1] for line in other[begin:stop])


@pytest.mark.slow
@pytest.mark.parametrize("tree", sampled(names(), "fixes"), indirect=True)
def test_fixes_and_suppressions_are_exact_and_made_once(tree: Path) -> None:
    before = contents(tree)
    _, said = run("--fix", "--unsafe-fixes")
    number = int(re.findall(r"fixed (\d+) finding", said)[0])
    fixed = contents(tree)
    assert (number > 0) == (fixed != before)
    for file in fixed:
        if fixed[file] != before[file]:
            check_lines(before[file], fixed[file])
    _, said = run("--fix", "--unsafe-fixes")
    assert "fixed 0 findings" in said
    assert contents(tree) == fixed

    listed, _ = run("--min-severity", "note")
    run("--add-ignore", "because", "--min-severity", "note")
    added = contents(tree)
    assert {file: _COMMENT.sub(b"", data) for file, data in added.items()} == fixed
    for file in added:
        if added[file] != fixed[file]:
            one, other = read(fixed[file], file), read(added[file], file)
            assert [each.value for each in one.documents] == [each.value for each in other.documents]
    again, said = run("--add-ignore", "because", "--min-severity", "note")
    assert "0 suppressions added to 0 files" in again
    assert contents(tree) == added
    left, _ = run("--min-severity", "note")
    kept = [line for line in left.splitlines() if re.search(r"\[GWP\d+\]", line)]
    assert len(kept) == said.count("not suppressed"), "what is listed still is what could not be suppressed"
    assert len(kept) < max(1, len(listed.splitlines()))
