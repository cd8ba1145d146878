"""The console blocks of docs/explain.md and docs/trace.md are real output; `--update-golden` writes them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```console\n\$ policylint (.*)\n((?:.*\n)*?)```\n")


@pytest.mark.parametrize("page", ["explain.md", "trace.md"])
def test_output_is_real(page: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    file = ROOT / "docs" / page
    text = file.read_text()

    def printed(found: re.Match[str]) -> str:
        output = CliRunner().invoke(main, shlex.split(found[1]), standalone_mode=False).output
        return f"```console\n$ policylint {found[1]}\n{output}```\n"

    real = BLOCK.sub(printed, text)
    if request.config.getoption("--update-golden"):
        file.write_text(real)
    assert len(BLOCK.findall(text)) >= 3
    assert real == text
