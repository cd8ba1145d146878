"""Everything that the README shows was really printed by the tool, and still is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(
    r"```console\n\$ policylint ([^\n]*)\n(.*?)\n```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
)


def comparable(text: str) -> str:
    """Without the time it took, the one thing that changes."""
    return re.sub(r"\d+\.\d s\)", "… s)", text).strip()


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_the_block_is_what_the_command_prints(command: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    done = CliRunner().invoke(main, [*shlex.split(command)], standalone_mode=False)
    assert comparable(done.stdout) == comparable(shown)


def test_there_are_blocks() -> None:
    assert BLOCKS


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / "README.md").read_text("utf-8")))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()
