"""The work tree with the texts of an editor laid over it, where a file that is as it was is not read again."""

# ruff: noqa: PTH116, PTH118

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from policylint.sources.edited import EditedWorkTree
from policylint.sources.selection import Exclude


class Overlay(EditedWorkTree):
    """The files below some paths, some of them with another content than on disk.

    A file that was never saved is in no directory yet, and is seen when it is.
    """

    def __init__(self, paths: Sequence[str], exclude: Exclude, texts: Mapping[str, bytes]) -> None:
        """Take the contents by path as shown."""
        super().__init__(paths, exclude, texts)
        self._names = frozenset(path.rpartition("/")[2] for path in texts)

    def content_id(self, place: str) -> str | None:
        """Return what changes whenever a file of the disk is written; None where an editor may have another text.

        What is known of a file with such an id is taken from an earlier reading (load/shared_facts.py).
        """
        if place in self._streams or place.rpartition("/")[2] in self._names:
            return None
        try:
            state = os.stat(os.path.join(self._here, place))
        except OSError:
            return None
        return f"{state.st_dev}:{state.st_ino}:{state.st_size}:{state.st_mtime_ns}:{state.st_ctime_ns}"
