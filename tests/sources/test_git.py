"""Blobs of repositories: asked of git, by processes of which few wait for more."""

from __future__ import annotations

import subprocess
from pathlib import Path

from policylint.sources import git


def test_only_some_processes_wait_for_more(tmp_path: Path) -> None:
    """Whoever keeps many repositories open does not run out of files, and each can still be asked."""
    (tmp_path / "a.yaml").write_text("a: 1\n")
    for arguments in (("init", "-q"), ("add", "a.yaml")):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    repositories = [git.Repository(str(tmp_path)) for _ in range(git._MOST_WAITING + 4)]
    for repository in repositories:
        (entry,) = repository.index()
        assert repository.blob(entry, "a.yaml") == b"a: 1\n"
    assert sum(repository._asked is not None for repository in repositories) == git._MOST_WAITING
    assert repositories[0]._single(entry.oid) == b"a: 1\n"
