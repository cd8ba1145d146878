"""The work tree as it would be with some files edited: fixes are judged by what they lead to before they are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policylint.sources.selection import Exclude
from policylint.sources.worktree import WorkTree


class EditedWorkTree(WorkTree):
    """A work tree of which some files have other bytes than those on disk.

    Args:
        edited: the bytes by path as shown.
    """

    def __init__(self, paths: Sequence[str], exclude: Exclude, edited: Mapping[str, bytes]) -> None:
        super().__init__(paths, exclude)
        self._edited = edited

    def data(self, place: str, shown: str) -> bytes:
        return self._edited[shown] if shown in self._edited else super().data(place, shown)
