"""The repository of fixtures/history, made once per run, and the command run over it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from tests.scripts import module_of

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
MAKE = module_of(ROOT / "fixtures" / "history" / "make.py")


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The repository and the ids of its commits."""
    directory = tmp_path_factory.mktemp("history") / "shop"
    return directory, MAKE.make(directory)


def run(directory: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr of `policylint ARGUMENTS` in a directory."""
    plain = {"GITHUB_ACTIONS": "", "NO_COLOR": "1", **environment}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        done = CliRunner(env=plain).invoke(main, list(arguments))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def steady(text: str) -> str:
    """A report without what differs from run to run."""
    return re.sub(r"\d+\.\d s\b", "0.0 s", text)


def commit(directory: Path, files: dict[str, str | None], message: str = "change") -> str:
    """Write (None: remove) files and commit them; the id."""
    if not (directory / ".git").exists():
        directory.mkdir(parents=True, exist_ok=True)
        MAKE.git(directory, "init", "-q", "-b", "main")
    for path, text in files.items():
        place = directory / path
        if text is None:
            place.unlink()
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    MAKE.git(directory, "add", "-A")
    MAKE.git(directory, "commit", "-q", "--allow-empty", "-m", message, date="2026-01-01T00:00:00Z")
    return str(MAKE.git(directory, "rev-parse", "HEAD")).strip()
