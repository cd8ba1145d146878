"""The hook that gates on new findings alone: what the index brings that HEAD does not have."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.test_lint import GATEWAY, POLICY, ROUTE
from tests.diff.history import MAKE, ROOT, commit, run

HOOK = ("diff", "--staged", "--hook")
BROKEN = {"gateway.yaml": GATEWAY, "route.yaml": ROUTE, "cors.yaml": POLICY}
WORSE = POLICY.replace("name: cors", "name: other").replace("chekout", "chekour")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with an error of its own."""
    commit(tmp_path, dict(BROKEN))
    return tmp_path


def stage(tree: Path, **files: str) -> None:
    for name, text in files.items():
        (tree / f"{name}.yaml").write_text(text, encoding="utf-8")
    MAKE.git(tree, "add", "-A")


def test_what_was_there_stops_nothing_and_what_is_new_does(tree: Path) -> None:
    assert run(tree, "lint")[0] == 1
    stage(tree, gateway=GATEWAY + "# touched\n")
    assert run(tree, *HOOK)[0] == 0
    stage(tree, other=WORSE)
    code, out, _ = run(tree, *HOOK)
    assert (code, "1 new error" in out, "chekour" in out) == (1, True, True)
    (tree / "other.yaml").unlink()
    assert run(tree, *HOOK)[0] == 1, "the index is judged, not the work tree"


def test_what_does_not_matter_is_not_looked_at(tree: Path) -> None:
    (tree / "README.md").write_text("x", encoding="utf-8")
    (tree / "broken.yaml").write_text(WORSE, encoding="utf-8")
    MAKE.git(tree, "add", "README.md")
    assert run(tree, *HOOK) == (0, "", "")


def test_the_first_commit_brings_everything(tmp_path: Path) -> None:
    MAKE.git(tmp_path, "init", "-q", "-b", "main", ".")
    stage(tmp_path, **{name.removesuffix(".yaml"): text for name, text in BROKEN.items()})
    code, out, err = run(tmp_path, *HOOK)
    assert (code, "1 new error" in out) == (1, True), err


def test_the_judge_of_a_commit_is_its_parent_s(tree: Path) -> None:
    (tree / ".policylint.yaml").write_text("exclude: [other.yaml]\n", encoding="utf-8")
    stage(tree, other=WORSE)
    code, out, _ = run(tree, *HOOK)
    assert (code, "`.policylint.yaml` is new and sets `exclude`" in out) == (1, True)


def test_hooks_that_show_a_change_show_it_when_they_pass() -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {name for name, hook in hooks.items() if hook.get("verbose")} == {"policylint-diff", "policylint-new"}
    assert hooks["policylint-new"]["stages"] == ["pre-commit", "pre-merge-commit", "manual"]
