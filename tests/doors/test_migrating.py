"""docs/migrating.md prints what the tool prints: its steps are commits, its commands are run."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "migrating.md"
BLOCK = re.compile(r"^```(yaml|console)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GONE = {"route.yaml": ["ingress.yaml"], "gateway.yaml": ["ingress.yaml"]}
"""What a step takes away with what it brings."""
NAMED = {
    "policies.yaml": ("route.yaml", "infra}]", "infra, sectionName: https}]"),
    "redirect.yaml": ("gateway.yaml", "namespace: infra}]", "namespace: infra, sectionName: https}]"),
}
"""What a step writes otherwise: file, and what takes the place of what."""
FIRST = "shop.yaml"
"""With which a tree of its own begins."""
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


def played(root: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the commands of the page with the output that it shows, and with the one that they have."""

    def git(*arguments: str) -> None:
        subprocess.run(["git", *IDENTITY, *arguments], check=True, capture_output=True)

    for number, (kind, name, body) in enumerate(steps()):
        if name == FIRST:
            tree = root / str(number)
            tree.mkdir()
            os.chdir(tree)
            git("init", "-q", "-b", "main")
        if kind == "yaml":
            Path(name).write_text(body, encoding="utf-8")
            for gone in GONE.get(name, ()):
                Path(gone).unlink()
            if name in NAMED:
                file, former, latter = NAMED[name]
                Path(file).write_text(Path(file).read_text(encoding="utf-8").replace(former, latter), encoding="utf-8")
            continue
        command, _, shown = body.partition("\n")
        git("add", "-A")
        git("commit", "-q", "-m", name or "step")
        yield command, shown, printed(command)


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = list(played(tmp_path))
    assert len(found) == 13
    for command, shown, output in found:
        assert output.strip() == shown.strip(), command
