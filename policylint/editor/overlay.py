"""The work tree with the texts of an editor laid over it, where a file that is as it was is not read again."""

# ruff: noqa: PTH116, PTH118

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from policylint.sources.edited import EditedWorkTree
from policylint.sources.selection import Exclude, may_hold_objects
from policylint.sources.source import SourceFile


class Disk:
    """What overlays saw of the disk: one that is given it again takes everything on the disk to be as it was.

    Attributes:
        listed: the overlay that listed the files.
        ids: what tells the content of each file (`Overlay.content_id`), by place.
    """

    def __init__(self) -> None:
        self.listed: Overlay | None = None
        self.ids: dict[str, str | None] = {}


class Overlay(EditedWorkTree):
    """The files below some paths, some of them with another content than on disk.

    A file that was never saved is in no directory yet, and is seen when it is.
    """

    def __init__(self, paths: Sequence[str], exclude: Exclude, texts: Mapping[str, bytes], disk: Disk) -> None:
        """Take the contents by path as shown."""
        super().__init__(paths, exclude, texts)
        self._given = tuple(paths), exclude if callable(exclude) else tuple(exclude)
        self._names = frozenset(path.rpartition("/")[2] for path in texts)
        self._disk = disk

    def _list(self) -> Iterator[SourceFile]:
        former = self._disk.listed
        if former is None or not self._lists_what(former):
            self._disk.listed = self
            return super()._list()
        self._problems = [*former.problems]
        self._skipped = {reason: [*files] for reason, files in former.skipped.items()}
        return (file.held_by(self) for file in former.files())

    def _lists_what(self, former: Overlay) -> bool:
        """Return whether the files are those of another overlay: a text may make a manifest of what was none."""
        texts, before = self._edited, former._edited
        return (
            self._given == former._given
            and before.keys() <= texts.keys()
            and all(
                text == before.get(path) or (path in former._listed() and may_hold_objects(text))
                for path, text in texts.items()
            )
        )

    def content_id(self, place: str) -> str | None:
        """Return what changes whenever a file of the disk is written; None where an editor may have another text.

        What is known of a file with such an id is taken from an earlier reading (load/shared_facts.py).
        """
        if place in self._streams or place.rpartition("/")[2] in self._names:
            return None
        known = self._disk.ids
        if place not in known:
            known[place] = self._id_on_disk(place)
        return known[place]

    def _id_on_disk(self, place: str) -> str | None:
        try:
            state = os.stat(os.path.join(self._here, place))
        except OSError:
            return None
        return f"{state.st_dev}:{state.st_ino}:{state.st_size}:{state.st_mtime_ns}:{state.st_ctime_ns}"
