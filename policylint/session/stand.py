"""What was read, in words for people who see a picture of it later: the repository, the revision and its day."""

from __future__ import annotations

import os

from policylint.errors import UsageError
from policylint.sources.git import Repository


def stand(root: str | None, revision: str) -> str:
    """Return `clusters, work tree on main at 7fc0405 of 2026-11-23`; without git the name of the directory.

    Args:
        root: the git root, or what was read instead.
        revision: which the files were read of, "" for the work tree.
    """
    if root is None:
        return ""
    name = os.path.basename(os.path.realpath(root))  # noqa: PTH119 - paths are strings here
    try:
        repository = Repository(root)
        commit = repository.commit(revision or "HEAD")
        remote = repository.remote("origin").rstrip("/").removesuffix(".git")
        name = remote.replace(":", "/").rpartition("/")[2] or name
        if commit is None:
            return name
        short, day = repository.dated(commit)
        at = revision or f"work tree on {repository.branch() or 'no branch'}"
    except UsageError:
        return name
    return f"{name}, {short if commit.startswith(at) else f'{at} at {short}'} of {day}"
