"""`--add-ignore`: the comment is there, every other byte stays, and a second run changes nothing."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policylint.cli import main
from policylint.documents import read
from policylint.triage.comments import suppressions
from policylint.triage.insert import JSON, NO_PLACE, NOT_UTF8, add
from tests.cli.test_lint import GATEWAY, POLICY, REDIRECTING, ROUTE
from tests.nightly import examples

TREES = Path(__file__).parents[3] / "shared" / "trees"
COMMENT = "# policylint: ignore[GWP101] reason"
_ADDED = re.compile(
    rb"(?m)^[ ]*# policylint: ignore\[GWP101\] reason(?:\r?\n|\Z)|  # policylint: ignore\[GWP101\] reason"
)


def added(text: str, *lines: int) -> str:
    done = add(text.encode(), "x.yaml", {line: ["GWP101"] for line in lines}, "reason")
    assert done.refused == {}
    return done.data.decode()


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("a: 1\nb: 2\n", 1, f"a: 1  {COMMENT}\nb: 2\n"),
        ("a: 1\r\nb: 2\r\n", 2, f"a: 1\r\nb: 2  {COMMENT}\r\n"),
        ("a: 1", 1, f"a: 1  {COMMENT}"),
        ("a: 1 # why\tnot\n", 1, f"a: 1 # why\tnot  {COMMENT}\n"),
        ("a:   \n  b: 1\n", 1, f"a:     {COMMENT}\n  b: 1\n"),
        ("a: |\n  text\nb: 1\n", 1, f"a: |  {COMMENT}\n  text\nb: 1\n"),
        ("x:\n  a: 'b\n    c'\n", 2, f"x:\n  {COMMENT}\n  a: 'b\n    c'\n"),
        ("x:\r\n  - a: b\r\n      c\r\n", 2, f"x:\r\n  {COMMENT}\r\n  - a: b\r\n      c\r\n"),
        ("a: [1,\n  2]\n", 1, f"a: [1,  {COMMENT}\n  2]\n"),
        ("a: &x !!str b\nc: *x\n", 2, f"a: &x !!str b\nc: *x  {COMMENT}\n"),
        ("\ufeffa: 1\n", 1, f"\ufeffa: 1  {COMMENT}\n"),
        ("a: 1\n---\nb: {{ x }}\n", 1, f"a: 1  {COMMENT}\n---\nb: {{{{ x }}}}\n"),
    ],
)
def test_where_the_comment_goes(before: str, line: int, after: str) -> None:
    assert added(before, line) == after
    assert added(after, line) == after
    values = [[each.value for each in read(text.encode(), "x").documents] for text in (before, after)]
    assert values[0] == values[1]


def test_several_rules_and_lines_at_once() -> None:
    done = add(b"a: 1\nb: 2\n", "x.yaml", {1: ["GWP201", "GWP101"], 2: ["GWP101"]}, "reason")
    assert done.number == 3
    assert done.data == (
        b"a: 1  # policylint: ignore[GWP101,GWP201] reason\nb: 2  # policylint: ignore[GWP101] reason\n"
    )
    more = add(done.data, "x.yaml", {1: ["GWP301", "GWP101"]}, "other")
    assert more.data.startswith(
        b"a: 1  # policylint: ignore[GWP101,GWP201] reason  # policylint: ignore[GWP301] other\n"
    )
    assert len(suppressions("x.yaml", more.data.decode().split("\n"))) == 3


@pytest.mark.parametrize(
    ("data", "line", "why"),
    [
        (b'{"a": 1}\n', 1, JSON),
        (b"a: \xff\n", 1, NOT_UTF8),
        (b"a: 'b\n\n  c\n\n  d'\n", 3, NO_PLACE),
        (b"a: |\n  b\n", 2, NO_PLACE),
    ],
)
def test_where_no_comment_can_be(data: bytes, line: int, why: str) -> None:
    done = add(data, "x.yaml", {line: ["GWP101"]}, "reason")
    assert (done.data, done.number, done.refused) == (data, 0, {line: why})


@cache
def files() -> list[Path]:
    found = sorted(path for path in TREES.rglob("*.y*ml") if path.is_file() and path.stat().st_size < 20_000)
    return found[:: max(1, len(found) // 400)]


@pytest.mark.skipif(not TREES.is_dir(), reason="../shared/trees is not here")
@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_real_files_keep_every_other_byte(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(files()))
    before = path.read_bytes()
    if data.draw(st.booleans()) and b"\r" not in before:
        before = before.replace(b"\n", b"\r\n")
    lines = before.decode().split("\n")
    written = [number for number, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")]
    if not written:
        return
    wanted = data.draw(st.lists(st.sampled_from(written), min_size=1, max_size=6, unique=True))
    done = add(before, path.name, {line: ["GWP101"] for line in wanted}, "reason")
    assert _ADDED.sub(b"", done.data) == before
    assert done.number == len(wanted) - len(done.refused)
    one, other = read(before, "x"), read(done.data, "x")
    assert [each.value for each in one.documents] == [each.value for each in other.documents]
    again = add(done.data, path.name, {}, "reason")
    assert again.data == done.data
    found = suppressions("x", done.data.decode().replace("\r\n", "\n").split("\n"))
    assert len(found) == done.number, "each is a comment, none became part of a text"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GITHUB_ACTIONS", "POLICYLINT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "gateway.yaml").write_text(GATEWAY)
    (tmp_path / "route.yaml").write_text(REDIRECTING)
    (tmp_path / "cors.yaml").write_text(POLICY)
    return tmp_path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["lint", *arguments])
    assert "Traceback" not in result.output and "internal error" not in result.output, result.output
    return result


def test_what_was_listed_is_suppressed_afterwards(tree: Path) -> None:
    result = run("--add-ignore", "see #12")
    assert (result.exit_code, result.stdout) == (0, "1 suppression added to 1 file\n")
    assert "      name: chekout  # policylint: ignore[GWP101] see #12\n" in (tree / "cors.yaml").read_text()
    assert run().exit_code == 0
    once = (tree / "cors.yaml").read_bytes()
    assert run("--add-ignore", "again").stdout == "0 suppressions added to 0 files\n"
    assert (tree / "cors.yaml").read_bytes() == once


def test_what_cannot_be_suppressed_is_said(tree: Path) -> None:
    (tree / ".policylint.yaml").write_text("locked: [GWP101]\n")
    result = run("--add-ignore", "reason")
    assert result.exit_code == 1
    assert result.stderr == "policylint: not suppressed: GWP101 at cors.yaml:8: the configuration locks this rule\n"
    assert (tree / "cors.yaml").read_text() == POLICY


def test_what_was_not_seen_can_be_answered_for_and_suppressions_cannot(tree: Path) -> None:
    (tree / "kustomization.yaml").write_text("resources: [gateway.yaml, route.yaml, secret.sops.yaml]\n")
    (tree / "route.yaml").write_text(ROUTE.rstrip() + "  # policylint: ignore[GWP404] why\n")
    result = run("--add-ignore", "made by sops", "--min-severity", "note", "--select", "GWP404,GWP901,GWP911")
    assert "ignore[GWP911] made by sops" in (tree / "kustomization.yaml").read_text()
    assert "not suppressed: GWP901 at route.yaml:5: put it right instead" in result.stderr


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("reason", ["", " - ", "a\nb", "# policylint: ignore[GWP1] x"])
def test_a_reason_is_one_line(reason: str) -> None:
    result = run("--add-ignore", reason)
    assert result.exit_code == 2
    assert "--add-ignore" in result.stderr
