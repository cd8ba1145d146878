"""git in a repository whose configuration, attributes and objects a stranger wrote."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from policylint import outside
from policylint.sources.git import Repository, RevisionError
from tests.diff.history import MAKE, commit, run
from tests.hostile.test_action import GATEWAY, POLICY

COMMANDS = (
    ("lint", "."), ("lint", "--hook"), ("diff", "HEAD^1..HEAD"), ("diff", "HEAD.."), ("diff", "--staged"),
    ("diff", "--hook"), ("trace", "GET", "http://a/", "--at", "HEAD^1"), ("simulate", "."),
)  # fmt: skip


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a trace (`sprung`) beside itself."""
    program = tmp_path / "trap"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> "{tmp_path}/sprung"\nexit 0\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    commit(
        place,
        {"gateway.yaml": GATEWAY, "a.yaml": POLICY.replace("NAME", "edge"), ".gitattributes": "* diff=x filter=x\n"},
    )
    commit(place, {"a.yaml": POLICY.replace("NAME", "egde")})
    return place


PROGRAMS = (
    "core.alternateRefsCommand", "core.askPass", "core.editor", "core.fsmonitor", "core.gitProxy", "core.pager",
    "core.sshCommand", "credential.helper", "diff.external", "diff.x.command", "diff.x.textconv", "filter.x.clean",
    "filter.x.process", "filter.x.smudge", "gpg.program", "interactive.diffFilter", "merge.x.driver", "pager.diff",
    "pager.ls-files", "uploadpack.packObjectsHook",
)  # fmt: skip
"""Settings of git that take a program."""
HOOKS = ("fsmonitor-watchman", "post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction")


def configure(tree: Path, trap: Path) -> None:
    """Name the trap wherever git's configuration takes a program."""
    others = {"core.fsmonitorHookVersion": "2", "filter.x.required": "true", "log.showSignature": "true"}
    others["core.hooksPath"] = str(tree / ".git" / "traps")
    for name, value in {**dict.fromkeys(PROGRAMS, str(trap)), **others}.items():
        MAKE.git(tree, "config", name, value)
    for folder in ("hooks", "traps"):
        (tree / ".git" / folder).mkdir(exist_ok=True)
        for hook in HOOKS:
            shutil.copy(trap, tree / ".git" / folder / hook)


def variables(trap: Path) -> dict[str, str]:
    names = ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR")
    return dict.fromkeys((*names, "GIT_PROXY_COMMAND", "PAGER", "EDITOR"), str(trap)) | {
        "GIT_EXEC_PATH": str(trap.parent), "GIT_TRACE": str(trap.parent / "sprung"),
    }  # fmt: skip


def sprung(trap: Path) -> str:
    trace = trap.parent / "sprung"
    return trace.read_text() if trace.exists() else ""


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_setting_of_the_repository_starts_a_program(tree: Path, trap: Path, arguments: tuple[str, ...]) -> None:
    ends = [str(MAKE.git(tree, "rev-parse", each)).strip() for each in ("HEAD^1", "HEAD")]
    configure(tree, trap)
    (trap.parent / "sprung").unlink(missing_ok=True)
    (tree / "a.yaml").touch()  # git has to look at it again
    given = {"PRE_COMMIT_FROM_REF": ends[0], "PRE_COMMIT_TO_REF": ends[1]} if arguments == ("diff", "--hook") else {}
    code, _, err = run(tree, *arguments, **variables(trap), **given)
    assert sprung(trap) == ""
    assert code in (0, 1), err


def test_a_partial_clone_fetches_nothing(tree: Path, trap: Path, tmp_path: Path) -> None:
    MAKE.git(tree, "config", "uploadpack.allowFilter", "true")
    MAKE.git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{tree}", "clone")
    clone = tmp_path / "clone"
    MAKE.git(clone, "config", "remote.origin.url", f"ext::{trap} %S")
    MAKE.git(clone, "config", "protocol.ext.allow", "always")
    MAKE.git(clone, "config", "protocol.allow", "always")
    for url in (f"ext::{trap} %S", "ssh://localhost/x", f"file://{tree}"):
        MAKE.git(clone, "config", "remote.origin.url", url)
        MAKE.git(clone, "config", "core.sshCommand", str(trap))
        run(clone, "diff", "HEAD^1..HEAD", GIT_ALLOW_PROTOCOL="ext:ssh:file", **variables(trap))
        assert sprung(trap) == ""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(clone)
        entry = Repository().entries(Repository().tree("HEAD"))[0]
    missing = subprocess.run(
        ["git", "-C", str(clone), "rev-list", "--objects", "--missing=print", "HEAD"], capture_output=True, check=True
    )
    assert f"?{entry.oid}".encode() in missing.stdout, "nothing came"


@pytest.mark.parametrize("without", ["GIT_ALLOW_PROTOCOL", "GIT_NO_LAZY_FETCH"])
def test_a_clone_without_trees_fetches_nothing_by_each_of_two_guards(
    tree: Path, trap: Path, tmp_path: Path, without: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git asks for directories that it lacks; older ones do not know the second, a protocol of its own passes the
    settings, and what is called otherwise one day the first."""
    MAKE.git(tree, "config", "uploadpack.allowFilter", "true")
    MAKE.git(tmp_path, "clone", "-q", "--no-checkout", "--filter=tree:0", f"file://{tree}", "clone")
    clone = tmp_path / "clone"
    MAKE.git(clone, "config", "remote.origin.url", f"ext::{trap} %S")
    MAKE.git(clone, "config", "protocol.ext.allow", "always")
    monkeypatch.delitem(outside._FIXED, without)
    code, _, err = run(clone, "diff", "HEAD^1..HEAD")
    assert (code, sprung(trap)) == (3, ""), err


def test_a_bare_repository_in_the_tree_answers_for_no_revision(tree: Path) -> None:
    """Below it its own history would be compared: one in which nothing has changed."""
    inner = tree / "inner"
    MAKE.git(tree, "clone", "-q", "--bare", str(tree), str(inner))
    MAKE.git(inner, "config", "core.bare", "false")
    head = MAKE.git(inner, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "nothing").strip()
    MAKE.git(inner, "update-ref", "HEAD", head)
    assert run(tree, "diff", "HEAD^1..HEAD")[0] == 1
    code, _, err = run(inner, "diff", "HEAD^1..HEAD")
    assert (code, "not a git repository" in err) == (2, True)


def test_a_bare_repository_in_the_tree_is_a_directory(tree: Path, trap: Path) -> None:
    """Anybody can commit one, with a configuration that names programs."""
    inner = tree / "inner"
    MAKE.git(tree, "init", "-q", "--bare", str(inner))
    MAKE.git(inner, "config", "core.bare", "false")
    MAKE.git(inner, "config", "core.worktree", str(tree))
    configure_inner = subprocess.run(["git", "-C", str(inner), "config", "core.fsmonitor", str(trap)], check=False)
    assert configure_inner.returncode == 0
    (inner / "policy.yaml").write_text(POLICY.replace("NAME", "egde"))
    (tree / "a.yaml").touch()
    code, out, err = run(tree, "lint", "inner", "-o", "concise")
    assert sprung(trap) == ""
    assert code in (0, 1), err
    assert "1 policy" in out


def test_no_object_stands_for_another(tree: Path) -> None:
    """`refs/replace` can be fetched like any other; what is judged is what the commit holds."""
    before = run(tree, "diff", "HEAD^1..HEAD", "-o", "concise")[1]
    blobs = [str(MAKE.git(tree, "rev-parse", f"{each}:a.yaml")).strip() for each in ("HEAD", "HEAD^1")]
    MAKE.git(tree, "replace", *blobs)
    assert run(tree, "diff", "HEAD^1..HEAD", "-o", "concise")[1] == before


@pytest.mark.parametrize("name", ["--output=pwned", "-O", "--upload-pack=touch pwned", "--", "-", "--all", "^HEAD"])
def test_a_revision_is_never_an_option(tree: Path, name: str) -> None:
    for span in (f"{name}..HEAD", f"HEAD..{name}", f"{name}...HEAD", name):
        code, _, err = run(tree, "diff", "--", span)
        assert code == 2, err
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tree)
        repository = Repository()
        repository.resolve([name, "HEAD"])
        with pytest.raises(RevisionError):
            repository.tree(name)
    assert not (tree / "pwned").exists()


def test_git_is_told_nothing_that_it_need_not_know(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from policylint.outside import git_environment

    for name in (
        "GITHUB_TOKEN",
        "GIT_SSH_COMMAND",
        "GIT_EXEC_PATH",
        "PYTHONPATH",
        "SSH_AUTH_SOCK",
        "GIT_REPLACE_REF_BASE",
    ):
        monkeypatch.setenv(name, "s3cret")
    monkeypatch.setenv("GIT_INDEX_FILE", str(tree / ".git" / "index"))
    known = git_environment()
    assert "s3cret" not in known.values()
    assert known["GIT_INDEX_FILE"] == str(tree / ".git" / "index"), "the index of a commit of some files"
    assert known["HOME"] == os.environ["HOME"], "safe.directory stands there"
