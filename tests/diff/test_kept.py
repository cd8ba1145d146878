"""A comparison that was made is kept, and every format says the same; whatever the cache holds, nothing breaks."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from policylint.cli import kept
from policylint.sources import pack as pack_module
from policylint.sources.pack import SECRET, Pack
from tests.diff.asking import Ask, comparisons, every_format
from tests.diff.history import MAKE, SHARED, commit, run
from tests.diff.test_changes import repository
from tests.diff.test_trees import TREES, edited

LOUD = ("-v", "--show", "unchanged", "--show-unknown", "--min-severity", "note", "--links", "https://git.example.com/b")
History = tuple[Path, list[str]]


def same_again(directory: Path, scratch: Path, made: list[str], *arguments: str) -> None:
    """A question without the cache, to an empty cache, and asked again."""
    cache = ("--cache-dir", str(scratch / "cache"))
    for more in ((), LOUD):
        without = every_format(directory, scratch / "out", *arguments, *more, "--no-cache")
        first = every_format(directory, scratch / "out", *arguments, *more, *cache)
        number = len(made)
        assert every_format(directory, scratch / "out", *arguments, *more, *cache) == without
        assert made[number:] == []
        assert first == without


@pytest.mark.parametrize("step", range(1, 18))
def test_every_commit_of_the_history(history: History, step: int, tmp_path: Path, made: list[str]) -> None:
    directory, ids = history
    same_again(directory, tmp_path, made, f"{ids[step - 1]}..{ids[step]}")
    assert len(made) == 3, "without the cache twice, and once with it: how it is shown makes no other question"


def test_the_history_at_once_and_back(history: History, tmp_path: Path, made: list[str]) -> None:
    directory, ids = history
    same_again(directory, tmp_path, made, f"{ids[0]}..{ids[-1]}", "--strict")
    same_again(directory, tmp_path, made, f"{ids[-1]}..{ids[0]}", "--select", "GWP2,GWP302", "--render", "builtin")


@pytest.mark.skipif(not (SHARED / "changes").is_dir(), reason="no ../shared/changes")
@pytest.mark.parametrize(
    "name", ["route-policy-replaces-gateway-policy", "route-timeout-policy-added", "app-with-policy-added"]
)
def test_real_changes(name: str, tmp_path: Path, made: list[str]) -> None:
    same_again(repository(tmp_path, name), tmp_path, made, "HEAD~1..HEAD")


@pytest.mark.parametrize("tree", TREES[:2], ids=lambda each: each.name)
def test_real_trees_edited_without_care(tree: Path, tmp_path: Path, made: list[str]) -> None:
    directory = tmp_path / "repository"
    shutil.copytree(tree, directory, symlinks=True)
    commit(directory, {}, "before")
    edited(tree, tmp_path / "edited", 0)
    for each in directory.iterdir():
        if each.name != ".git":
            shutil.rmtree(each) if each.is_dir() else each.unlink()
    shutil.copytree(tmp_path / "edited", directory, symlinks=True, dirs_exist_ok=True)
    commit(directory, {}, "after")
    same_again(directory, tmp_path, made, "HEAD~1..HEAD")


# What is not kept.


NOT_KEPT: dict[str, dict[str, Any]] = {
    "the work tree": {"span": "HEAD~2"},
    "rendered directories": {"span": "", "arguments": ("--rendered-before", "apps", "--rendered-after", "apps")},
    "a snapshot": {"arguments": ("--snapshot", "apps/a.yaml")},
    "what helm makes": {"arguments": ("--render", "helm")},
    "how long it takes": {"arguments": ("--timing",)},
    "without the cache": {"arguments": ("--no-cache",)},
    "without the cache, for all": {"POLICYLINT_NO_CACHE": "1"},
}


@pytest.mark.parametrize("what", NOT_KEPT)
def test_what_is_never_kept(what: str, ask: Ask, made: list[str], tmp_path: Path) -> None:
    changed = dict(NOT_KEPT[what])
    arguments = changed.pop("arguments", ())
    for _ in range(2):
        ask(*arguments, **changed)
    assert len(made) == 2
    assert not comparisons(tmp_path / "cache")


def test_a_configured_snapshot_and_helm(shop: Path, ask: Ask, made: list[str], tmp_path: Path) -> None:
    for content in ("snapshot: apps/a.yaml\n", "render: helm\n"):
        (shop / "config.yaml").write_text(content, encoding="utf-8")
        ask("--config", "config.yaml")
    assert len(made) == 2
    assert not comparisons(tmp_path / "cache")


def test_where_objects_stand_for_others(shop: Path, ask: Ask, made: list[str]) -> None:
    ask()
    one, other = (str(MAKE.git(shop, "rev-parse", f"HEAD~{n}:apps/a.yaml")).strip() for n in (1, 2))
    MAKE.git(shop, "replace", one, other)
    ask()
    ask()
    assert len(made) == 3


def test_a_clone_that_lacks_what_was_needed(shop: Path, tmp_path: Path, ask: Ask, made: list[str]) -> None:
    MAKE.git(shop, "config", "uploadpack.allowFilter", "true")
    MAKE.git(shop, "config", "uploadpack.allowAnySHA1InWant", "true")
    MAKE.git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{shop}", "clone")
    for _ in range(2):
        ask(directory=tmp_path / "clone")
    assert len(made) == 2
    alternates = tmp_path / "clone" / ".git" / "objects" / "info" / "alternates"
    alternates.write_text(f"{shop / '.git' / 'objects'}\n", encoding="utf-8")
    for _ in range(2):
        ask(directory=tmp_path / "clone")
    assert len(made) == 3, "what was fetched makes a whole answer"


# What the cache holds is input.


def content(pack: Path) -> tuple[str, str]:
    """The key and the line of the newest comparison."""
    key, _, line = pack.read_text(encoding="utf-8").partition("\n")[0].partition(" ")
    return key, line


def broken(value: Any, dice: random.Random) -> Any:
    """The value with one part of it exchanged, dropped or doubled."""
    if isinstance(value, (list, dict)) and value and dice.random() < 0.9:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        at = dice.choice(keys)
        made = value.copy()
        made[at] = broken(value[at], dice)
        return made
    if isinstance(value, list) and value and dice.random() < 0.5:
        return value[:-1] if dice.random() < 0.5 else [*value, value[0]]
    return dice.choice([None, -1, 10**9, 1.5, True, "", "x", [], {}, [[]], [None], {"a": 1}, "\x1b[31m"])


@pytest.mark.parametrize("seed", range(40))
def test_whatever_it_holds_nothing_breaks(history: History, seed: int, tmp_path: Path) -> None:
    """Well made packs with a broken answer: another answer or none, never a crash."""
    directory, ids = history
    cache = tmp_path / "cache"
    span = f"{ids[seed % 17]}..{ids[seed % 17 + 1]}"
    run(directory, "diff", span, "--cache-dir", str(cache))
    (place,) = comparisons(cache)
    key, line = content(place)
    place.unlink()
    pack = Pack(str(cache), os.path.realpath(directory), kept.STAMP)
    pack.put(key, json.dumps(broken(json.loads(line), random.Random(seed)), ensure_ascii=False))
    pack.close()
    found = every_format(directory, tmp_path / "out", span, "--cache-dir", str(cache), *LOUD)
    assert found["code"] in ("0", "1"), found["stderr"]
    assert "\x1b" not in found["text"]


@pytest.mark.parametrize("how", ["cut short", "changed", "empty", "sealed by another", "half a character", "deep"])
def test_a_pack_that_is_none_is_made_anew(
    how: str, shop: Path, ask: Ask, made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask()
    (place,) = comparisons(tmp_path / "cache")
    data = place.read_bytes()
    key, line = content(place)
    if how == "cut short":
        place.write_bytes(data[:-100])
    elif how == "changed":
        place.write_bytes(data.replace(b'"default"', b'"defaulT"', 1))
    elif how == "empty":
        place.write_bytes(b"")
    elif how == "sealed by another":
        monkeypatch.setenv(SECRET, "mine")
    else:
        pack = Pack(str(tmp_path / "cache"), os.path.realpath(shop), kept.STAMP)
        pack.put(key, line.replace('"default"', '"\\ud800"' if how == "half a character" else "[" * 5000))
        pack.close()
    for _ in range(2):
        ask()
    assert len(made) == 2


def test_the_seal(ask: Ask, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for secret, number in (("a", 1), ("a", 1), ("b", 2)):
        monkeypatch.setenv(SECRET, secret)
        ask()
        assert len(made) == number


def test_a_file_that_the_answer_does_not_name_is_found_in_git(history: History, tmp_path: Path) -> None:
    directory, ids = history
    cache, span = tmp_path / "cache", f"{ids[2]}..{ids[3]}"
    without = every_format(directory, tmp_path / "out", span, "--no-cache", *LOUD)
    run(directory, "diff", span, "--cache-dir", str(cache))
    (place,) = comparisons(cache)
    key, line = content(place)
    place.unlink()
    pack = Pack(str(cache), os.path.realpath(directory), kept.STAMP)
    pack.put(key, json.dumps([*json.loads(line)[:-1], {}]))
    pack.close()
    assert every_format(directory, tmp_path / "out", span, "--cache-dir", str(cache), *LOUD) == without


# Bounds.


def test_the_oldest_go_first(ask: Ask, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 2)
    for span in ("HEAD~2..HEAD~1", "HEAD~2..HEAD", "HEAD~1..HEAD"):
        ask(span=span)
    for span in ("HEAD~1..HEAD", "HEAD~2..HEAD"):
        ask(span=span)
    assert len(made) == 3
    ask(span="HEAD~2..HEAD~1")
    assert len(made) == 4


def test_a_long_one_is_not_kept(ask: Ask, made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_module, "MAX_LINE", 100)
    ask()
    ask()
    assert len(made) == 2
    assert not comparisons(tmp_path / "cache")


def test_one_is_read_without_the_others(ask: Ask, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for span in ("HEAD~2..HEAD~1", "HEAD~2..HEAD", "HEAD~1..HEAD"):
        ask(span=span)
    decoded: list[bytes] = []
    decode = kept._decoded

    def counted(line: bytes) -> Any:
        decoded.append(line)
        return decode(line)

    monkeypatch.setattr(kept, "_decoded", counted)
    ask(span="HEAD~2..HEAD")
    assert (len(made), len(decoded)) == (3, 1)


def test_nothing_that_simulates_is_imported(shop: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['policylint', *sys.argv[1:]]\n"
        "from policylint.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sorted(each for each in sys.modules if each.startswith('policylint.') or each == 'yaml'))"
    )
    command = [sys.executable, "-c", code, "diff", "HEAD~2..HEAD~1", "--cache-dir", str(tmp_path / "cache")]
    ran = [subprocess.run(command, cwd=shop, capture_output=True, text=True, check=True) for _ in range(2)]
    once, again = (set(each.stdout.splitlines()[-1].split()) for each in ran)
    heavy = {"simulation", "workspace", "topology", "policy", "render", "implementations", "schema", "triage"}
    assert {f"policylint.{each}" for each in heavy} & once
    assert not {each for each in again if each.split(".")[1:2] and each.split(".")[1] in heavy}
    assert "yaml" not in again
