"""Repositories of two states, as a user compares them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def diff(root: Path, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What `policylint diff` prints of two states of a repository."""

    def git(*arguments: str) -> None:
        name = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        subprocess.run(["git", *name, *arguments], cwd=root, check=True, capture_output=True)

    git("init", "-q")
    for files in (before, after):
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        if files is before:
            git("add", ".")
            git("commit", "-qm", "before")
    command = [sys.executable, "-m", "policylint", "diff", "HEAD", "--color", "never"]
    return subprocess.run(command, cwd=root, check=False, capture_output=True, text=True).stdout
