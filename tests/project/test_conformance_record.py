"""How .ci/conformance.py holds the figures of tests/conformance.toml, against a stand-in for tools/score."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = """\
family                                 cases         facts  share
pattern/direct                       9/10       98/100     98.0%
kuadrant                             5/5        50/50     100.0%
all                                 14/15      148/150     98.7%
"""


def hold(tmp_path: Path, record: str, *options: str) -> tuple[int, str, str]:
    """Run the script in a tree of its own; return its exit code, its last lines and the record afterwards."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conformance.toml").write_text(record)
    (tmp_path / ".ci").mkdir()
    script = tmp_path / ".ci" / "conformance.py"
    script.write_bytes((ROOT / ".ci" / "conformance.py").read_bytes())
    tools = tmp_path / "shared" / "tools"
    tools.mkdir(parents=True)
    (tools / "score").write_text(f"import sys\nprint({TABLE!r}, end='')\nprint(sys.argv[1:], file=sys.stderr)\n")
    command = [sys.executable, str(script), str(tmp_path / "shared"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.stdout.startswith(TABLE)
    return done.returncode, done.stdout.removeprefix(TABLE), (tmp_path / "tests" / "conformance.toml").read_text()


@pytest.mark.parametrize(
    ("record", "code", "said"),
    [
        ('"pattern/direct" = 98\n', 0, ""),
        ('"pattern/direct" = 98.0\n', 0, ""),
        ('"pattern/direct" = 99\n', 1, "pattern/direct: 98 of 100 facts, 98.0%, below the recorded 99\n"),
        ('"pattern/direct" = 98.5\n', 1, "pattern/direct: 98 of 100 facts, 98.0%, below the recorded 98.5 %\n"),
        ("kuadrant = 40\n", 0, "kuadrant: 50 of 50 facts, 100.0%, above the recorded 40: raise it with python "),
        ("istio = 1\n", 1, "istio: recorded in conformance.toml, but tools/score has no such row\n"),
    ],
)
def test_row_is_compared_with_its_figure(tmp_path: Path, record: str, code: int, said: str) -> None:
    found = hold(tmp_path, f"[facts]\n{record}")
    assert found[0] == code
    assert found[1].startswith(said) and bool(found[1]) == bool(said)


def test_write_raises_and_never_lowers(tmp_path: Path) -> None:
    record = '# why\n[facts]\n"pattern/direct" = 99 # by hand\nkuadrant = 40\n'
    code, _, after = hold(tmp_path, record, "--write")
    assert (code, after) == (1, record.replace("40", "50"))


def test_without_shared_it_is_skipped(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / ".ci" / "conformance.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "skipped: no ../shared\n")
