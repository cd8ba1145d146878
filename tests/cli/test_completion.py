"""Completion in the three shells, as click answers them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.cli.commands import COMMANDS

CHECKOUT = Path(__file__).parents[2]


def complete(line: str) -> list[str]:
    words = line.split(" ")
    environment = {
        **os.environ,
        "PYTHONPATH": str(CHECKOUT),
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_POLICYLINT_COMPLETE": "bash_complete",
    }
    command = [sys.executable, "-c", "from policylint.cli import main; main(prog_name='policylint')"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=True)
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_options_and_rules() -> None:
    assert set(complete("policylint ")) == set(COMMANDS)
    assert complete("policylint lint --fail-on n") == ["note", "never"]
    assert "--add-ignore" in complete("policylint lint --add")
    assert complete("policylint rule GWP90") == ["GWP901", "GWP902", "GWP903", "GWP904"]
    assert set(complete("policylint rule parent-s")) == {"parent-section-not-found", "parent-setting-dropped"}
    assert complete("policylint lint --select GWP101,gwp90") == [f"GWP101,GWP90{n}" for n in range(1, 5)]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert f"_POLICYLINT_COMPLETE={shell}_complete" in result.stdout
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=result.stdout, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
