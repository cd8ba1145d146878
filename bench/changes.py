"""Repositories around a folder of manifests: of two commits for `diff`, with something staged for the hook."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

_REQUESTS = re.compile(r"\brequests: (?=\d)")
EVERY = 100
"""One file in so many changes: 1 %."""


def write_history(place: Path, manifests: Path) -> Path:
    """Copy the manifests, commit, change 1 % of the files in a value that means something, commit again, pack."""
    shutil.copytree(manifests, place)
    commit_all(place)
    files = sorted(each for each in place.rglob("*.yaml") if ".git" not in each.parts)
    for file in files[::EVERY]:
        text = file.read_text(encoding="utf-8")
        changed = _REQUESTS.sub("requests: 1", text.replace("port: 8080", "port: 8081"))
        file.write_text(changed if changed != text else text + "\n# changed\n", encoding="utf-8")
    git(place, "commit", "-q", "-a", "-m", "after")
    git(place, "gc", "-q")
    return place


def commit_all(place: Path) -> Path:
    """Make a repository of one commit of what lies in a directory."""
    git(place, "init", "-q")
    git(place, "add", "-A", "-f")
    git(place, "commit", "-q", "-m", "before")
    return place


def write_staged(place: Path, manifests: Path) -> Path:
    """Copy the manifests and commit them, then stage a file that cannot matter: a commit of documentation."""
    shutil.copytree(manifests, place)
    commit_all(place)
    (place / "NOTES.md").write_text("# notes\n", encoding="utf-8")
    git(place, "add", "NOTES.md")
    return place


def git(place: Path, *arguments: str) -> None:
    """Run git in a directory as nobody in particular, whatever is configured."""
    who = {f"GIT_{each}_{what}": "bench@example.com" for each in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-C", str(place), *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)
