"""The documentation site: every page is in it once, and links lead to pages (docs/site/build.py)."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from tests.scripts import module_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site() -> ModuleType:
    return module_of(ROOT / "docs" / "site" / "build.py")


@pytest.fixture(scope="module")
def staged(site: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("site")
    playground = work / "playground.html"
    playground.write_text("<!doctype html>")
    site.stage(work, playground)
    return work


def pages_of(navigation: Any) -> list[str]:
    if isinstance(navigation, str):
        return [navigation]
    entries = navigation.values() if isinstance(navigation, dict) else navigation
    return [page for entry in entries for page in pages_of(entry)]


def test_every_page_is_in_the_navigation_once(staged: Path) -> None:
    navigation = pages_of(yaml.safe_load((staged / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    there = {str(path.relative_to(staged / "docs")) for path in (staged / "docs").rglob("*.md")}
    assert sorted(navigation) == sorted(there)
    assert {"index.md", "tasks/roll-out.md", "rules.md"} <= there


def test_links_between_pages_lead_to_pages(staged: Path) -> None:
    broken = []
    for page in (staged / "docs").rglob("*.md"):
        prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^()\s#]+)", prose):
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                broken.append((page.name, target))
    assert broken == []


def test_a_link_to_a_file_that_is_no_page(site: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"docs/lint.md": "lint.md", "rules/GWP101-x.md": "rules/GWP101-x.md"}
    text = "[rule](../rules/GWP101-x.md#example), [code](../policylint/cli/lint.py), `[no](link)`, [web](https://x.example)"
    monkeypatch.setattr(site, "home", lambda: "")
    here = "[rule](rules/GWP101-x.md#example), code, `[no](link)`, [web](https://x.example)"
    assert site.linked(text, "docs/lint.md", pages) == here
    monkeypatch.setattr(site, "home", lambda: "https://forge.example/us/policylint")
    assert "[code](https://forge.example/us/policylint/blob/main/policylint/cli/lint.py)" in site.linked(
        text, "docs/lint.md", pages
    )


@pytest.mark.parametrize("link", ["README.md", "docs/lint.md", "docs/picture.png", "docs/deep", "rules/GWP101-x.md"])
def test_a_link_publishes_nothing_from_outside(
    site: ModuleType, tmp_path: Path, link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a pull request, say, whose site is built to be looked at on a machine that has keys."""
    outside, root = tmp_path / "home", tmp_path / "root"
    for place in (outside, root / "docs", root / "rules"):
        place.mkdir(parents=True)
    (outside / "id.md").write_text("s3cret")
    (root / "CHANGELOG.md").write_text("# Changelog")
    (tmp_path / "work").mkdir()
    (root / link).symlink_to(outside if link == "docs/deep" else outside / "id.md")
    monkeypatch.setattr(site, "ROOT", root)
    try:
        site.stage(tmp_path / "work", None)
    except SystemExit as stopped:
        assert f"{link} is a link" in str(stopped)
    read = [path.read_bytes() for path in (tmp_path / "work").rglob("*") if path.is_file()]
    assert not [text for text in read if b"s3cret" in text]


def test_rule_pages_have_their_title_and_lead_to_the_playground(staged: Path) -> None:
    text = (staged / "docs" / "rules" / "GWP101-target-not-found.md").read_text(encoding="utf-8")
    assert "\n# GWP101: " in text
    assert "](../playground.html#example=GWP101)" in text


def test_the_comment_in_the_docs_is_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "tasks" / "comment.md").read_text(encoding="utf-8")
    block = re.search(r"```console\n\$ policylint ([^\n]*)\n(.*?)\n\[…\]\n```", page, re.DOTALL)
    assert block
    monkeypatch.chdir(ROOT)
    printed = CliRunner().invoke(main, [*shlex.split(block[1])], standalone_mode=False).stdout
    assert printed.strip().startswith(block[2].strip())
