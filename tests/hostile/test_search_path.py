"""Neither modules nor programs come from the tree that is read."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from policylint.outside import find_program
from tests.diff.history import commit
from tests.hostile.checkout import MODULES, hostile_environment, sprung, trapped
from tests.hostile.test_action import GATEWAY, POLICY

TOOL = Path(sysconfig.get_path("scripts")) / "policylint"
EARLY = {"policylint", "sitecustomize", "types", "usercustomize"}
"""What Python loads before a module that it was told to run, which only `-I` keeps from the working directory."""
COMMANDS = (
    "lint .", "lint --hook", "diff HEAD^1..HEAD", "diff --hook", "graph", "explain Gateway/edge", "trace GET http://a/",
    "simulate -o yaml", "list gateways", "init --stdout", "kinds -o json", "rule GWP201", "config show",
)  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Two commits, and traps beside them."""
    place = tmp_path / "checkout"
    commit(place, {"a.yaml": POLICY.replace("NAME", "edge"), "gateway.yaml": GATEWAY})
    commit(place, {"a.yaml": POLICY.replace("NAME", "other")})
    trapped(place, tmp_path / "canary")
    return place


def run(checkout: Path, start: list[str], command: str, environment: dict[str, str]) -> list[str]:
    """The traps that a command walked into; it must have worked."""
    done = subprocess.run(
        [*start, *command.split()], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    assert "internal error" not in done.stderr and "Traceback" not in done.stderr
    assert done.returncode in (0, 1), done.stderr
    return sprung(checkout.parent / "canary")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_isolated_run_loads_and_starts_nothing_of_the_tree(checkout: Path, command: str) -> None:
    environment = hostile_environment(dict(os.environ), checkout, checkout / "bin")
    assert run(checkout, [sys.executable, "-I", "-m", "policylint"], command, environment) == []


@pytest.mark.parametrize("command", ["lint .", "diff HEAD^1..HEAD", "simulate -o yaml"])
def test_the_installed_command_loads_nothing_of_the_tree(checkout: Path, command: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["PATH"] = f".:{checkout / 'bin'}:{environment['PATH']}"
    if not TOOL.is_file():
        pytest.skip("policylint is not installed beside this Python")
    assert run(checkout, [str(TOOL)], command, environment) == []


@pytest.mark.parametrize("command", ["lint .", "diff HEAD^1..HEAD", "simulate -o yaml"])
def test_running_the_module_leaves_the_working_directory_out(checkout: Path, command: str) -> None:
    for name in EARLY & set(MODULES):
        (checkout / f"{name}.py").unlink()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    assert run(checkout, [sys.executable, "-m", "policylint"], command, environment) == []


def test_hooks_are_isolated() -> None:
    text = (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text()
    entries = [line for line in text.splitlines() if line.strip().startswith("entry:")]
    assert len(entries) == 3
    assert all(line.startswith("  entry: python -I -m policylint ") for line in entries)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, a directory in it, and `tool` in both and outside."""
    for directory in ("repo/sub", "repo/bin", "outside"):
        (tmp_path / directory).mkdir(parents=True)
    (tmp_path / "repo/.git").mkdir()
    for directory in ("repo", "repo/sub", "repo/bin", "outside"):
        (tmp_path / directory / "tool").write_text("#!/bin/sh\n")
        (tmp_path / directory / "tool").chmod(0o755)
    monkeypatch.chdir(tmp_path / "repo/sub")
    return tmp_path


@pytest.mark.parametrize("entries", [".", "", "sub:", "../bin", "REPO/bin", "REPO", "REPO/sub/../bin", "LINK"])
def test_no_program_of_the_tree_is_found(places: Path, monkeypatch: pytest.MonkeyPatch, entries: str) -> None:
    (places / "link").symlink_to(places / "repo/bin")
    entries = entries.replace("REPO", str(places / "repo")).replace("LINK", str(places / "link"))
    monkeypatch.setenv("PATH", entries)
    assert find_program("tool") is None
    monkeypatch.setenv("PATH", f"{entries}:{places / 'outside'}")
    assert find_program("tool") == str(places / "outside" / "tool")
    assert find_program("tool", str(places / "outside")) is None


def test_somebody_who_keeps_their_home_in_git_has_programs(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(places / "repo"))
    monkeypatch.setenv("PATH", str(places / "repo/bin"))
    assert find_program("tool") == str(places / "repo/bin/tool")
