"""The work tree with the texts of an editor laid over it: what is open and unsaved counts as it stands there."""

# ruff: noqa: PTH116, PTH118

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from policylint.sources.selection import Exclude
from policylint.sources.worktree import WorkTree


class Overlay(WorkTree):
    """The files below some paths, some of them with another content than on disk.

    A file that was never saved is in no directory yet, and is seen when it is.
    """

    def __init__(self, paths: Sequence[str], exclude: Exclude, texts: Mapping[str, bytes]) -> None:
        """Take the contents by absolute path, links resolved."""
        super().__init__(paths, exclude)
        self._texts = texts
        self._names = frozenset(path.rpartition(os.sep)[2] for path in texts)

    def content_id(self, place: Any) -> str | None:
        """Return an id of what is at a place: of a file of the disk what changes whenever it is written.

        The facts of such a file are taken from an earlier reading, and it is not read again (load/shared_facts.py).
        """
        if place in self._streams or place.rpartition("/")[2] in self._names:
            return None
        try:
            state = os.stat(os.path.join(self._here, place))
        except OSError:
            return None
        return f"{state.st_dev}:{state.st_ino}:{state.st_size}:{state.st_mtime_ns}:{state.st_ctime_ns}"

    def data(self, place: Any, shown: str) -> bytes:
        if place.rpartition("/")[2] in self._names:
            text = self._texts.get(os.path.realpath(os.path.join(self._here, place)))
            if text is not None:
                return text
        return super().data(place, shown)
