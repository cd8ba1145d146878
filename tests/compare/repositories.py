"""Repositories of two states, as a user compares them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.diff.history import commit, run


def diff(root: Path, before: Mapping[str, str], after: Mapping[str, str | None]) -> str:
    """What `policylint diff` prints of two states of a repository; a file without a text is gone."""
    root.mkdir(parents=True, exist_ok=True)
    commit(root, dict(before))
    for path, text in after.items():
        if text is None:
            (root / path).unlink()
            continue
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return run(root, "diff", "HEAD", "--color", "never")[1]
