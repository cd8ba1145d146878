"""What makes another question of a diff: every part of the key, changed alone; and what does not."""

from __future__ import annotations

import datetime
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import policylint
from policylint.cli import kept
from policylint.model import shipped
from tests.diff.asking import FORMATS, Ask
from tests.diff.history import MAKE, run
from tests.diff.test_remembered import timeless

OTHER_QUESTIONS: dict[str, dict[str, Any]] = {
    "the tree after": {"span": "HEAD~2..HEAD"},
    "the tree before": {"span": "HEAD~1..HEAD~1"},
    "a path": {"arguments": ("apps",)},
    "the semantics": {"arguments": ("--semantics", "gep-713-2023")},
    "an environment": {"arguments": ("--env", "default")},
    "the renderer": {"arguments": ("--render", "builtin")},
    "strict": {"arguments": ("--strict",)},
    "rules": {"arguments": ("--select", "GWP4")},
    "all but a rule": {"arguments": ("--ignore", "GWP406")},
    "a configuration": {"arguments": ("--config", "config.yaml")},
    "a configuration of the environment": {"POLICYLINT_CONFIG": "config.yaml"},
}


@pytest.mark.parametrize("what", OTHER_QUESTIONS)
def test_another_question_is_answered_anew(what: str, ask: Ask, made: list[str]) -> None:
    ask()
    changed = dict(OTHER_QUESTIONS[what])
    arguments = changed.pop("arguments", ())
    for _ in range(2):
        ask(*arguments, **changed)
    assert len(made) == 2, "the second answer is kept, too"
    ask()
    assert len(made) == 2, "and the first one still is"


def test_from_where_it_is_asked(shop: Path, tmp_path: Path, ask: Ask, made: list[str]) -> None:
    ask()
    ask(directory=shop / "apps")
    shutil.copytree(shop, tmp_path / "elsewhere")
    ask(directory=tmp_path / "elsewhere")
    assert len(made) == 3


def test_the_content_of_a_configuration_that_no_tree_holds(shop: Path, ask: Ask, made: list[str]) -> None:
    """A comment, even: lines of the file are named in findings."""
    ask("--config", "config.yaml")
    (shop / "config.yaml").write_text("# for all\nmin-severity: note\n", encoding="utf-8")
    ask("--config", "config.yaml")
    assert len(made) == 2


def test_where_the_roots_of_environments_lead(shop: Path, ask: Ask, made: list[str]) -> None:
    (shop / "config.yaml").write_text("environments: [{name: prod, roots: [here]}]\n", encoding="utf-8")
    for target in ("apps", ".", "apps"):
        (shop / "here").unlink(missing_ok=True)
        (shop / "here").symlink_to(target)
        ask("--config", "config.yaml")
    assert len(made) == 2


def test_everything_that_is_staged(shop: Path, ask: Ask, made: list[str]) -> None:
    """A text file, too: rendering may read it. What is not staged does not matter."""
    ask("--staged", span="")
    for number, (path, content) in enumerate((("values.txt", "1"), ("values.txt", "2"), ("apps/run.sh", ""))):
        (shop / path).write_text(content, encoding="utf-8")
        ask("--staged", span="")
        assert len(made) == 1 + number
        MAKE.git(shop, "add", path)
        ask("--staged", span="")
        assert len(made) == 2 + number
    MAKE.git(shop, "update-index", "--chmod=+x", "apps/run.sh")
    ask("--staged", span="")
    assert len(made) == 5
    ask("--staged", span="")
    assert len(made) == 5


def test_who_answers_and_when(ask: Ask, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Tomorrow(datetime.date):
        @classmethod
        def today(cls) -> Tomorrow:
            return cls(2999, 1, 1)

    ask()
    for number, (thing, name, value) in enumerate(
        (
            (policylint, "__version__", "9.9.9"),
            (sys, "version", "3.99"),
            (datetime, "date", Tomorrow),
            (kept, "_code", lambda: b"other code"),
        )
    ):
        with monkeypatch.context() as patch:
            patch.setattr(thing, name, value)
            ask()
        ask()
        assert len(made) == 2 + number, name


def test_the_code_is_every_byte_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the package and of what ships with it, wherever it is installed; the parser is known by its files' sizes."""
    folder = tmp_path / "schemas"
    (folder / "kinds").mkdir(parents=True)
    (folder / "kinds" / "a.yaml").write_text("a: 1\n", encoding="utf-8")
    looked_at: list[str] = []
    below = kept._files_below

    def watched(place: str, inside: str = "") -> Iterator[tuple[str, str]]:
        looked_at.append(place)
        yield from below(place, inside)

    monkeypatch.setattr(kept, "_files_below", watched)
    monkeypatch.setattr(shipped, "folders", lambda: [str(folder)])
    found = [kept._code()]
    assert {str(Path(policylint.__file__).parent), str(folder)} < set(looked_at)
    assert any(Path(place).name == "yaml" for place in looked_at)
    os.utime(folder / "kinds" / "a.yaml", (1, 1))
    found.append(kept._code())
    folder = folder.rename(tmp_path / "installed-again")
    monkeypatch.setattr(shipped, "folders", lambda: [str(folder)])
    found.append(kept._code())
    assert len(set(found)) == 1
    (folder / "kinds" / "a.yaml").write_text("a: 2\n", encoding="utf-8")
    found.append(kept._code())
    (folder / "kinds" / "b.yaml").touch()
    found.append(kept._code())
    (folder / "kinds" / "b.yaml").rename(folder / "b.yaml")
    found.append(kept._code())
    assert len(set(found)) == 4


def test_another_spelling_is_no_other_question(shop: Path, ask: Ask, made: list[str], tmp_path: Path) -> None:
    ask()
    one, other = (str(MAKE.git(shop, "rev-parse", each)).strip() for each in ("HEAD~2", "HEAD~1"))
    for span in (f"{one}..{other}", "main~2...main~1", f"{one}^{{tree}}..HEAD^"):
        ask(span=span)
    ask("--output", f"sarif={tmp_path / 'out'}", "-o", "markdown", "--show-unknown", "--fail-on", "never", "-v")
    ask("--exit-code", "--links", "https://git.example.com", "--comment-key", "b", "--show", "unchanged", "--jobs", "1")
    assert len(made) == 1


def test_of_another_spelling_the_report_says_the_same(shop: Path, tmp_path: Path, made: list[str]) -> None:
    cache = ("--cache-dir", str(tmp_path / "cache"))
    run(shop, "diff", "HEAD~2..HEAD~1", *cache)
    del made[:]
    for form in FORMATS:
        asked = ("diff", "main~2...main~1", "-o", form)
        assert timeless(run(shop, *asked, *cache)[1]) == timeless(run(shop, *asked, "--no-cache")[1])
    assert len(made) == len(FORMATS)
