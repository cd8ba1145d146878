"""`--watch`: the command again after each change, in a process as a user has it; and the manual pages."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Queue

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
HEADERS = "shop/headers.yaml"


class Watching:
    """A command that watches, and the lines that it prints."""

    def __init__(self, tree: Path, *arguments: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "policylint", *arguments],
            cwd=tree, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # in the background it may be ignored
        )  # fmt: skip
        self.lines: Queue[str] = Queue()
        assert self.process.stdout is not None
        output = self.process.stdout
        threading.Thread(target=lambda: [self.lines.put(line) for line in output], daemon=True).start()

    def until(self, holds: Callable[[str], bool]) -> list[str]:
        """The lines up to one of which something holds."""
        seen = [self.lines.get(timeout=30)]
        while not holds(seen[-1]):
            seen.append(self.lines.get(timeout=30))
        return seen

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "fixtures" / "envoy-gateway-shop", tmp_path / "shop")
    return tmp_path / "shop"


@pytest.mark.skipif(sys.platform == "win32", reason="it is ended by a signal")
def test_lint_again_after_a_change(shop: Path) -> None:
    pytest.importorskip("watchfiles", reason="watchfiles is not installed")
    watching = Watching(shop, "lint", "--watch", "-o", "concise", "--output", "json=out.json")
    try:
        first = watching.until(lambda line: line.startswith("2 errors"))
        assert any("GWP101" in line for line in first)
        text = (shop / HEADERS).read_text()
        (shop / HEADERS).write_text(text.replace("chekout", "checkout"))
        again = watching.until(lambda line: line.startswith("1 error"))
        assert again[0] == f"policylint: again, since {HEADERS} changed\n"
        assert not any("GWP101" in line for line in again)
        (shop / ".policylint.yaml").write_text("fail-onn: x\n")
        broken = watching.until(lambda line: "fail-onn" in line)
        assert len(broken) == 2, "what is wrong with the configuration, and no traceback"
        (shop / ".policylint.yaml").unlink()
        watching.until(lambda line: line.startswith("1 error"))
        assert watching.lines.empty(), "what it writes itself is no change"
    finally:
        code = watching.end()
    assert code == 130


def test_what_cannot_be_watched() -> None:
    pytest.importorskip("watchfiles", reason="watchfiles is not installed")
    result = CliRunner().invoke(main, ["lint", "--watch", "-"])
    assert result.exit_code == 2
    assert "--watch is for files of the work tree" in result.stderr


@pytest.mark.parametrize(
    ("module", "arguments", "extra"),
    [("watchfiles", ["lint", "--watch"], "watch"), ("pygls", ["lsp"], "lsp"), ("mcp", ["mcp"], "mcp")],
)
def test_an_extra_that_is_not_installed_is_named(
    module: str, arguments: list[str], extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = [name for name in sys.modules if name.partition(".")[0] in (module, "lsprotocol", "mcp_types")]
    for name in (*loaded, "policylint.editor.server", "policylint.assistant.server"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    if module == "pygls":
        monkeypatch.setitem(sys.modules, "lsprotocol", None)
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert f"pip install 'policylint[{extra}]'" in result.stderr


def test_every_command_has_a_manual_page(tmp_path: Path) -> None:
    folder = tmp_path / "share" / "man1"
    assert CliRunner().invoke(main, ["man", "--to", str(folder)]).exit_code == 0
    names = {"policylint", *(f"policylint-{name}" for name in COMMANDS)}
    assert {file.stem for file in folder.iterdir()} == names
    refused = CliRunner().invoke(main, ["man", "--to", str(folder / "policylint.1" / "below")])
    assert (refused.exit_code, "cannot make" in refused.stderr) == (2, True)
    for file in folder.iterdir():
        text = file.read_text()
        assert text.startswith(f'.TH "{file.stem.upper()}" "1" ')
        assert "\b" not in text and ".SH NAME\n" in text and ".SH SYNOPSIS\n" in text
    lint = CliRunner().invoke(main, ["man", "lint"]).stdout
    assert "\\fB\\-\\-fail\\-on [error|warning|note|never]\\fR" in lint
    assert ".SH EXIT CODES" in lint and ".SH EXAMPLES\n.nf\n  policylint lint " in lint
    assert "did you mean 'lint'" in CliRunner().invoke(main, ["man", "lnt"]).stderr


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_has_nothing_to_say_about_them(tmp_path: Path) -> None:
    CliRunner().invoke(main, ["man", "--to", str(tmp_path)])
    for file in tmp_path.iterdir():
        command = ["groff", "-man", "-Kutf8", "-Tutf8", "-ww", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stderr == ""
