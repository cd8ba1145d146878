"""What a page says of the repository and the revision that were read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from policylint.session.stand import stand

DAY = {"GIT_COMMITTER_DATE": "2026-11-23T12:00:00Z", "GIT_AUTHOR_DATE": "2026-11-23T12:00:00Z"}


def git(root: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    command = ["git", "-C", str(root), *identity, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **DAY}).stdout.strip()


def test_the_repository_the_revision_and_its_day(tmp_path: Path) -> None:
    root = tmp_path / "clusters"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    assert stand(str(root), "") == "clusters"
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    short = git(root, "rev-parse", "--short", "HEAD")
    assert stand(str(root), "") == f"clusters, work tree on main at {short} of 2026-11-23"
    git(root, "tag", "v1")
    assert stand(str(root), "v1") == f"clusters, v1 at {short} of 2026-11-23"
    assert stand(str(root), short) == f"clusters, {short} of 2026-11-23"
    git(root, "checkout", "-q", "--detach")
    assert stand(str(root), "") == f"clusters, work tree on no branch at {short} of 2026-11-23"


def test_a_remote_names_the_repository_without_its_credentials(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for remote in ("https://user:secret@git.example.com/team/fleet.git", "git@example.com:team/fleet"):
        git(tmp_path, "config", "remote.origin.url", remote)
        assert stand(str(tmp_path), "") == "fleet"


def test_without_git_the_directory(tmp_path: Path) -> None:
    assert stand(str(tmp_path), "") == tmp_path.name
    assert stand(None, "") == ""
