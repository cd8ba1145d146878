"""On a terminal: progress for what takes long, links for those that can follow them; nothing of it anywhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.cli.streams import wants_links
from policylint.report import Options, write
from tests.cli.test_lint import GATEWAY, POLICY, ROUTE
from tests.report.sample import sample

CHECKOUT = Path(__file__).parents[2]

pty = pytest.importorskip("pty")


def on_terminal(code: str) -> str:
    """What a program writes to stderr when that is a terminal."""
    reading, writing = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "TERM": "xterm"}
    child = subprocess.Popen([sys.executable, "-c", code], stderr=writing, env=environment)
    os.close(writing)
    seen = b""
    while True:
        try:
            piece = os.read(reading, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(reading)
    assert child.wait(timeout=60) == 0
    return seen.decode()


def busy(seconds: float) -> str:
    return (
        "from policylint.cli.progress import progress\nfrom time import perf_counter\n"
        f"with progress('reading'):\n end = perf_counter() + {seconds}\n while perf_counter() < end: pass\n"
    )


def test_progress_after_half_a_second_and_gone_at_the_end() -> None:
    shown = on_terminal(busy(0.9))
    assert "policylint: reading … " in shown
    assert shown.endswith("\r\x1b[K")


def test_no_progress_for_what_is_quick_or_where_nobody_watches() -> None:
    assert on_terminal(busy(0.1)) == ""
    done = subprocess.run(
        [sys.executable, "-c", busy(0.7)],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    assert done.stderr == b""


def test_links_only_add() -> None:
    plain = write("text", sample())
    linked = write("text", sample(options=Options(links=True)))
    link = "\x1b]8;;https://github.com/example/policylint/blob/v0.1.0/rules/GWP201-parent-setting-dropped.md\x1b\\"
    assert f"{link}error[GWP201]\x1b]8;;\x1b\\: " in linked
    assert (
        "".join(part.partition("\x1b\\")[2] if at else part for at, part in enumerate(linked.split("\x1b]8;;")))
        == plain
    )


def test_who_gets_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not wants_links("always", {})
    assert wants_links("auto", {"FORCE_HYPERLINK": "1"})
    assert not wants_links("auto", {"FORCE_HYPERLINK": "0"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "all.yaml").write_text("---\n".join((GATEWAY, ROUTE, POLICY)))
    assert "\x1b" not in CliRunner().invoke(main, ["lint", "."]).stdout
