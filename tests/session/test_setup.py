"""Options and configuration in one value: where a run looks, what it reads, and who wins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from policylint.config import ConfigError
from policylint.errors import UsageError
from policylint.session.lint import lint, reaches
from policylint.session.open import open_tree
from policylint.session.rules import chosen
from policylint.session.settings import RunOptions, Setup
from tests.checks.linting import GATEWAY, SERVICE, policy, route

CONFIGURATION = "paths: [apps]\nselect: [GWP1]\nrender: builtin\nbaseline: accepted.json\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a configuration; the working directory is beside it."""
    for name in (".git", "apps", "other"):
        (tmp_path / "tree" / name).mkdir(parents=True)
    (tmp_path / "tree" / ".policylint.yaml").write_text(CONFIGURATION, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "tree"


@pytest.mark.usefixtures("tree")
def test_paths_are_those_asked_for_else_configured_ones_else_the_git_root() -> None:
    assert Setup.of(RunOptions(start="tree/other")).paths == ["tree/apps"]
    assert Setup.of(RunOptions(start="tree/other", paths=("tree/other",))).paths == ["tree/other"]
    without = RunOptions(start="tree/other", no_config=True)
    assert Setup.of(without).paths == ["tree"]
    assert Setup.of(without._replace(whole=False)).paths == ["tree/other"]
    assert Setup.of(RunOptions()).paths == ["."], "there is no repository here"


@pytest.mark.parametrize(
    ("paths", "environments", "whole"),
    [((), (), True), (("tree",), (), True), (("tree/apps",), (), False), (("tree/apps", "tree"), (), True),
     ((), ("prod",), False)],
)  # fmt: skip
def test_whether_everything_is_looked_at(
    paths: tuple[str, ...], environments: tuple[str, ...], whole: bool, tree: Path
) -> None:
    options = RunOptions(paths=paths, environments=environments, start=str(tree), no_config=True)
    assert Setup.of(options).is_whole is whole


@pytest.mark.usefixtures("tree")
def test_which_configuration_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text("select: [GWP2]\n", encoding="utf-8")
    found = Setup.of(RunOptions(start="tree"))
    assert (found.settings.select, found.origin) == (("GWP1",), "")
    named = Setup.of(RunOptions(start="tree", config="mine.yaml"))
    assert (named.settings.select, named.origin) == (("GWP2",), "--config")
    monkeypatch.setenv("POLICYLINT_CONFIG", "mine.yaml")
    of_environment = Setup.of(RunOptions(start="tree"))
    assert (of_environment.settings.select, of_environment.origin) == (("GWP2",), "POLICYLINT_CONFIG")
    assert Setup.of(RunOptions(start="tree", no_config=True)).settings.select == ()
    with pytest.raises(UsageError, match="cannot be used together"):
        Setup.of(RunOptions(config="mine.yaml", no_config=True))


@pytest.mark.usefixtures("tree")
def test_rules_that_are_selected_take_the_place_of_configured_ones() -> None:
    configured = chosen(Setup.of(RunOptions(start="tree")))
    assert configured is not None
    assert {rule[:4] for rule in configured} == {"GWP1"}
    assert chosen(Setup.of(RunOptions(start="tree", select=("GWP201",)))) == {"GWP201"}
    assert chosen(Setup.of(RunOptions(start="tree", ignore=("GWP101",)))) == configured - {"GWP101"}
    assert chosen(Setup.of(RunOptions(no_config=True))) is None


def test_a_snapshot_that_is_not_there_is_the_file_s_fault(tree: Path) -> None:
    (tree / ".policylint.yaml").write_text("snapshot: dump.yaml\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^tree/.policylint.yaml:1:11: no such file: 'tree/dump.yaml'"):
        open_tree(Setup.of(RunOptions(start="tree", paths=("tree",))))


@pytest.mark.usefixtures("tree")
def test_progress_is_told_to_whoever_wants_it() -> None:
    told: list[str] = []

    @contextmanager
    def progress(doing: str) -> Iterator[None]:
        told.append(doing)
        yield
        told.append(f"{doing}: done")

    setup = Setup.of(RunOptions(start="tree", paths=("tree",), no_config=True, progress=progress))
    lint(setup, open_tree(setup), None)
    assert told == [
        "reading and simulating", "reading and simulating: done", "asking the rules", "asking the rules: done",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("threshold", "reached"), [("error", True), ("warning", True), ("note", True), ("never", False)]
)
def test_findings_reach_a_threshold(threshold: str, reached: bool, tree: Path) -> None:
    broken = policy("SecurityPolicy", "cors", "kind: HTTPRoute, name: chekout")
    (tree / "apps" / "all.yaml").write_text("---\n".join((GATEWAY, route(), SERVICE, broken)), encoding="utf-8")
    setup = Setup.of(RunOptions(paths=("tree/apps",), start="tree", no_config=True))
    findings = lint(setup, open_tree(setup), None).known
    assert [finding.severity for finding in findings] == ["error"]
    assert reaches(findings, threshold) is reached
    assert not reaches([], threshold)
