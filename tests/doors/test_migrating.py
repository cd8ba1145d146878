"""docs/migrating.md prints what the tool prints: its steps are commits, its commands are run."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "migrating.md"
BLOCK = re.compile(r"^```(yaml|console)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GONE = {"route.yaml": ["ingress.yaml"]}
"""What a step takes away with what it brings."""
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")


def steps() -> Iterator[tuple[str, str, str]]:
    for kind, name, body in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        yield kind, name.strip(), body


def printed(command: str) -> str:
    """Return what a command prints, as wide as the page has it."""
    arguments = command.removeprefix("$ policylint ").split()
    done = CliRunner().invoke(main, arguments, env={"COLUMNS": "120", "NO_COLOR": "1"})
    assert done.exit_code in (0, 1), done.output
    return done.stdout


def played(directory: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the commands of the page with the output that it shows, and with the one that they have."""

    def git(*arguments: str) -> None:
        subprocess.run(["git", *IDENTITY, *arguments], cwd=directory, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for kind, name, body in steps():
        if kind == "yaml":
            (directory / name).write_text(body, encoding="utf-8")
            for gone in GONE.get(name, ()):
                (directory / gone).unlink()
            if name == "policies.yaml":
                route = directory / "route.yaml"
                named = route.read_text(encoding="utf-8").replace("infra}]", "infra, sectionName: https}]")
                route.write_text(named, encoding="utf-8")
            continue
        command, _, shown = body.partition("\n")
        git("add", "-A")
        git("commit", "-q", "-m", name or "step")
        yield command, shown, printed(command)


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = list(played(tmp_path))
    assert len(found) == 3
    for command, shown, output in found:
        assert output.strip() == shown.strip(), command
