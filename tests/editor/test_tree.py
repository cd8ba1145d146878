"""The tree of an editor: what is looked at again after a key, and after a change on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from policylint.editor import tree as module
from policylint.editor.tree import EditedTree
from policylint.schema import broken
from policylint.session.settings import RunOptions
from tests.cli.test_lint import GATEWAY, POLICY, ROUTE

SOUND = POLICY.replace("chekout", "checkout").encode()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("gateway", GATEWAY), ("route", ROUTE), ("cors", POLICY)):
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "data.json").write_text('{"a": 1}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rules(reader: EditedTree, texts: dict[str, bytes], on_disk: int) -> list[str]:
    """The rules of the errors of a reading."""
    findings = reader.read(texts, on_disk=on_disk).lint.known
    return sorted(finding.rule for finding in findings if finding.severity == "error")


def test_a_key_is_about_texts_and_the_disk_is_seen_when_the_editor_says_so(tree: Path) -> None:
    reader = EditedTree(RunOptions())
    assert rules(reader, {}, 0) == ["GWP101"]
    assert rules(reader, {"cors.yaml": SOUND}, 0) == []
    (tree / "more.yaml").write_text(POLICY.replace("name: cors", "name: more"))
    assert rules(reader, {"cors.yaml": SOUND + b"# typed\n"}, 0) == [], "nobody said that there is more"
    assert rules(reader, {"cors.yaml": SOUND + b"# typed\n"}, 1) == ["GWP101"]
    (tree / "more.yaml").unlink()
    assert rules(reader, {"cors.yaml": SOUND}, 2) == []


def test_an_editor_that_does_not_watch_is_not_relied_on(tree: Path) -> None:
    reader = EditedTree(RunOptions())
    assert rules(reader, {}, -1) == ["GWP101"]
    (tree / "cors.yaml").write_bytes(SOUND)
    assert rules(reader, {}, -1) == []


def test_after_a_while_the_disk_is_looked_at_all_the_same(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = EditedTree(RunOptions())
    assert rules(reader, {}, 0) == ["GWP101"]
    (tree / "cors.yaml").write_bytes(SOUND)
    assert rules(reader, {}, 0) == ["GWP101"]
    monkeypatch.setattr(module, "_LONGEST_UNSEEN", -1.0)
    assert rules(reader, {}, 0) == []


def test_what_earlier_texts_were_is_not_kept_for_ever(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_READINGS", 20)
    reader, text = EditedTree(RunOptions()), (tree / "cors.yaml").read_bytes()
    kept = []
    for number in range(100):
        reader.read({"cors.yaml": text + b"# typed\n" * number}, on_disk=0)
        kept.append(len(broken._VALID))
    assert max(kept[20:]) <= max(kept[:20]) + 1


@pytest.mark.usefixtures("tree")
def test_a_text_that_becomes_a_manifest_is_one() -> None:
    """Which files hold manifests is known of the disk; an unsaved text may make one of another file, or none of one."""
    reader = EditedTree(RunOptions())
    sound = {"cors.yaml": SOUND}
    policy = json.dumps(yaml.safe_load(POLICY.replace("name: cors", "name: more"))).encode()
    assert rules(reader, {**sound, "data.json": b"{}"}, 0) == []
    assert rules(reader, {**sound, "data.json": policy}, 0) == ["GWP101"]
    assert rules(reader, {**sound, "data.json": b"{}"}, 0) == []
    assert rules(reader, sound, 0) == []
