"""Where the repository ends that is read: symbolic links do not lead out of it, nor to git's own files.

What a path says is the user's word: `policylint lint ../other` reads another tree. Where a path that names something of
the repository really lies is the word of whoever wrote the repository.
"""

# Strings with os.path, and nothing else imported: it is asked at every start.
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import os


def repository(directory: str = os.curdir) -> str | None:
    """Return the top of the work tree around a directory, links resolved; None outside of one."""
    here = os.path.realpath(directory)
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above
    return here


def is_below(place: str, top: str) -> bool:
    """Whether an absolute path is a directory, or lies below it."""
    return os.path.join(place, "").startswith(os.path.join(top, ""))


def belongs(place: str, top: str) -> bool:
    """Whether a path, its links resolved, lies in a tree and is none of git's own files, which hold credentials."""
    return is_below(place, top) and not is_below(place, os.path.join(top, ".git"))


def leads_out(path: str) -> bool:
    """Whether a path that names something of the repository around the working directory leads out of it by links."""
    top = repository()
    if top is None:
        return False
    written = os.path.normpath(os.path.join(os.path.realpath(os.curdir), path))
    return belongs(written, top) and not belongs(os.path.realpath(path), top)
