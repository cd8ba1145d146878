"""The marked commands of README.md, as .ci/readme.py takes them out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / ".ci" / "readme.py"


def take(tmp_path: Path, text: str, name: str = "ci:test") -> subprocess.CompletedProcess[str]:
    """Run the script over a README with this text."""
    (tmp_path / "README.md").write_text(text)
    command = [sys.executable, str(SCRIPT), "README.md", name, "out.sh"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)


def test_block_after_the_mark_is_taken_as_it_stands(tmp_path: Path) -> None:
    done = take(
        tmp_path, "# x\n\n```sh\nnot this\n```\n<!-- ci:test -->\n\n```sh\na &&\n  b\n```\n\n```sh\nnor this\n```\n"
    )
    assert (done.stdout, (tmp_path / "out.sh").read_text()) == ("0\n", "a &&\n  b\n")


def test_prompt_of_a_console_block_is_dropped(tmp_path: Path) -> None:
    take(tmp_path, "<!-- ci:test -->\n```console\n$ a\n$ b\n```\n")
    assert (tmp_path / "out.sh").read_text() == "a\nb\n"


def test_mark_may_allow_other_exit_codes(tmp_path: Path) -> None:
    assert take(tmp_path, "<!-- ci:test exit=0,1 -->\n```sh\na\n```\n").stdout == "0 1\n"


def test_missing_mark_is_an_error(tmp_path: Path) -> None:
    done = take(tmp_path, "```sh\na\n```\n")
    assert done.returncode == 1
    assert done.stderr == "README.md: expected one fenced block after <!-- ci:test -->, found 0\n"
