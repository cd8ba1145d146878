"""A git revision, or the index, as a source: the same files, by the same paths, as the work tree would give."""

# Paths stay strings with os.path here, as in the other sources.
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Final

from policylint.outside import is_below
from policylint.sources.git import FILE, LINK, Repository, TreeEntry
from policylint.sources.listing import SUBMODULE, unexplained
from policylint.sources.selection import (
    NEVER_ENTERED,
    OUTSIDE,
    TEMPLATES,
    Exclude,
    ListedSource,
    from_here,
    is_manifest,
    may_hold_objects,
    printable,
)
from policylint.sources.skipping import Skip, reason_by_name, reasons_of_directory
from policylint.sources.source import (
    BROKEN_SYMLINK,
    NOT_FOUND,
    SYMLINK_LOOP,
    SourceError,
    SourceFile,
    SourceProblem,
)

SUBMODULES: Final = "submodule"
_MOST_LINKS: Final = 16
Classification = SourceFile | TreeEntry | str | None
"""The classification of an entry by its path: a file to read, one to look into first (itself), why it is skipped, or
nothing that was asked for. Files of one repository are the same wherever they are listed."""


class Revision(ListedSource):
    """The files of one tree below some paths. Nothing is read from disk but git's own objects."""

    def __init__(
        self,
        repository: Repository,
        entries: Iterable[TreeEntry],
        paths: Sequence[str] | None = None,
        exclude: Exclude = (),
    ) -> None:
        """Select what is below `paths`, as a user gives them, relative to here; None means everything, () nothing."""
        super().__init__(exclude)
        self._repository = repository
        self._entries = {entry.path: entry for entry in entries}
        self._exclude = exclude if callable(exclude) else list(exclude)
        self._here = os.path.realpath(".")
        self._top = os.path.realpath(repository.top) if repository.top is not None else self._here
        self._root = self._top
        self._below = None if paths is None else [self.below(path) for path in dict.fromkeys(paths)]
        given = [os.path.relpath(self._top, self._here)] if paths is None else paths
        self._given = sorted(((self.below(path), path) for path in given), key=lambda pair: -len(pair[0]))
        self._classified: dict[TreeEntry, Classification] = repository.classifications(self._circumstances())
        self._directories: set[str] | None = None
        self._paths: list[str] | None = None
        self._shown: dict[str, str] = {}
        self._reasons: dict[str, tuple[Skip | None, Skip | None]] = {}

    @property
    def named(self) -> bool:
        return False

    @property
    def given(self) -> list[str]:
        return [below for below, _ in self._given]

    def file(self, path: str) -> SourceFile:
        """Return any file of the tree by its path as shown, below the selected paths or not."""
        return self._listed().get(path) or self.at(self.below(path), path)

    def at(self, place: str, shown: str) -> SourceFile:
        entry = self._target(place, shown)
        if entry is None:
            raise SourceError(NOT_FOUND, "no such file or directory", shown)
        return SourceFile(shown, self, (place, entry))

    def relative(self, place: tuple[str, TreeEntry], shown: str) -> str:  # noqa: ARG002 - as every FileReader
        return printable(place[0])

    def data(self, place: tuple[str, TreeEntry], shown: str) -> bytes:
        return self._repository.blob(place[1], shown)

    def content_id(self, place: tuple[str, TreeEntry]) -> str:
        return place[1].oid

    def announce(self, files: Sequence[SourceFile]) -> None:
        self._repository.want(oid for file in files if (oid := file.known_id()) is not None)

    def below(self, path: str) -> str:
        """Return the path below the root of a path as a user gives it: "" for the root, `..` for what is outside."""
        place = os.path.relpath(os.path.normpath(os.path.join(self._here, path)), self._top)
        return "" if place == os.curdir else place.replace(os.sep, "/")

    def holds(self, path: str) -> bool:
        """Return whether a path as a user gives it exists, as a file or as a directory."""
        return self._is_there(self.below(path))

    def yaml_below(self, directory: str) -> list[str]:
        start = len(f"{directory}/") if directory else 0
        return [
            path
            for path in self._files_below(directory)
            if path.endswith((".yaml", ".yml")) and "/." not in f"/{path[start:].rpartition('/')[0]}"
        ]

    def files_below(self, directory: str) -> list[str]:
        start = len(directory)
        below = ((path, path[start:].split("/")[:-1]) for path in self._files_below(directory))
        return [path for path, steps in below if NEVER_ENTERED.isdisjoint(steps)]

    def _files_below(self, directory: str) -> list[str]:
        if self._paths is None:
            self._paths = sorted(self._entries)
        paths = self._paths
        first, last = 0, len(paths)
        if directory:  # asked of every path that a kustomization names, so the rest is not looked at
            first, last = bisect_left(paths, f"{directory}/"), bisect_left(paths, f"{directory}0")  # `0` follows `/`
        return [path for path in paths[first:last] if self._entries[path].mode.startswith(FILE)]

    def lacking(self, paths: Collection[str]) -> frozenset[str]:
        top = self._repository.top
        if top is None:
            return frozenset()
        absent = [path for path in paths if not self._is_there(path.rstrip("/"))]
        elsewhere = {path for path, entry in self._entries.items() if entry.mode in (SUBMODULE, LINK)}
        return unexplained(top, absent, self._entries, elsewhere) if absent else frozenset()

    def _is_there(self, place: str) -> bool:
        return not place or place in self._entries or self._is_directory(place)

    def _is_directory(self, place: str) -> bool:
        if self._directories is None:
            self._directories = set()
            for path in self._entries:
                directory = path.rpartition("/")[0]
                while directory and directory not in self._directories:
                    self._directories.add(directory)
                    directory = directory.rpartition("/")[0]
        return place in self._directories

    def _circumstances(self) -> Hashable:
        """Return all that `_classify` depends on beside the entry: where that is the same, so is its result."""
        charts = frozenset(path for path in self._entries if path.endswith("Chart.yaml"))
        below = None if self._below is None else tuple(self._below)
        exclude = self._exclude if callable(self._exclude) else tuple(self._exclude)
        return charts, below, tuple(self._given), exclude, self._top, self._here

    def _list(self) -> Iterator[SourceFile]:
        chosen: dict[str, SourceFile] = {}
        links: list[str] = []
        unclear: list[str] = []
        for path, entry in self._entries.items():
            classified = self._classified.get(entry)
            if classified is None and entry not in self._classified:
                classified = self._classified[entry] = self._classify(entry)
            if isinstance(classified, SourceFile):
                chosen[path] = classified
            elif classified is None:
                continue
            elif isinstance(classified, str):
                self._skip(classified, self._show(path))
            elif entry.mode == LINK:
                links.append(path)
            else:
                chosen[path] = self._file(path, entry)
                unclear.append(path)
        self._repository.want(self._entries[path].oid for path in links)
        for path in links:
            self._follow(path, chosen)
        unclear += [path for path in links if path in chosen and self._is_unclear(path)]
        self.announce([chosen[path] for path in unclear])
        for path in unclear:
            if not self._may_hold_objects(chosen[path]):
                del chosen[path]
                skip = self._skipped_as(path)
                if skip is not None:
                    self._skip(skip.reason, self._show(path))
        yield from chosen.values()

    def _classify(self, entry: TreeEntry) -> Classification:
        mode, _, path = entry
        named = self._is_named(path)
        if named is None:
            return None
        if mode == SUBMODULE:
            return SUBMODULES
        if not named:
            of_manifest = is_manifest(path)
            if not of_manifest and not path.lower().endswith(TEMPLATES):
                return None
            if of_manifest and self._is_excluded is not None and self._is_excluded(self._show(path)):
                return None
            skip = self._skipped_as(path)
            if skip is not None and not (skip.unless_object and of_manifest):
                return skip.reason
            if not of_manifest:
                return None
        if mode == LINK:
            return entry
        if not mode.startswith(FILE):
            return None
        return entry if self._is_unclear(path) else self._file(path, entry)

    def _file(self, path: str, entry: TreeEntry) -> SourceFile:
        return SourceFile(self._show(path), self, (path, entry))

    def _is_named(self, path: str) -> bool | None:
        """Return whether a file was named itself, so that it is read whatever its name; None outside the paths."""
        if self._below is None:
            return False
        if path in self._below:
            return True
        if any(not below or path.startswith(f"{below}/") for below in self._below):
            return False
        return None

    def _is_unclear(self, path: str) -> bool:
        """Return whether only the content of a file tells whether it is a manifest."""
        return _is_json(path) or (not self._is_named(path) and self._skipped_as(path) is not None)

    def _skipped_as(self, path: str) -> Skip | None:
        """Return what a file is if no manifest by its path."""
        directory, _, name = path.rpartition("/")
        reasons = self._reasons.get(directory)
        if reasons is None:
            inside = (below for below in self._below or () if is_below(directory, below))
            reasons = self._reasons[directory] = reasons_of_directory(
                directory, self._is_chart, max(inside, key=len, default="")
            )
        return reason_by_name(name, directory, reasons, self._is_chart)

    def _is_chart(self, directory: str) -> bool:
        return f"{directory}/Chart.yaml".lstrip("/") in self._entries

    def _may_hold_objects(self, file: SourceFile) -> bool:
        try:
            return may_hold_objects(file.read())
        except SourceError as error:
            self._problem(error)
            return False

    # Symbolic links.

    def _follow(self, path: str, chosen: dict[str, SourceFile]) -> None:
        """Read what a link leads to, unless it is read anyway or is a directory."""
        shown = self._show(path)
        try:
            place = self._resolved(path, shown)
        except SourceError as error:
            self._problem(error)
            return
        if place.startswith(".."):
            self._skip(OUTSIDE, shown)
        elif place in self._entries:
            if place not in chosen:
                chosen[path] = self._file(path, self._entries[place])
        elif not self._is_there(place):
            self._problems.append(SourceProblem(BROKEN_SYMLINK, "symbolic link to nothing", shown))

    def _target(self, place: str, shown: str) -> TreeEntry | None:
        entry = self._entries.get(self._resolved(place, shown))
        return entry if entry is not None and entry.mode.startswith(FILE) else None

    def _resolved(self, place: str, shown: str) -> str:
        """Return where a path leads, links of directories on the way included; it begins with `..` outside the tree."""
        for _ in range(_MOST_LINKS):
            link = self._first_link(place)
            if link is None:
                return place
            target = os.fsdecode(self._repository.blob(self._entries[link], shown))
            if target.startswith("/"):
                return "../"
            rest = place[len(link) + 1 :]
            place = os.path.normpath(os.path.join(os.path.dirname(link), target, rest)).replace(os.sep, "/")
        raise SourceError(SYMLINK_LOOP, "symbolic link that leads back to itself", shown)

    def _first_link(self, place: str) -> str | None:
        if place in self._entries:
            return place if self._entries[place].mode == LINK else None
        steps = place.split("/")
        for depth in range(1, len(steps)):
            entry = self._entries.get("/".join(steps[:depth]))
            if entry is not None:
                return entry.path if entry.mode == LINK else None
        return None

    def _show(self, path: str) -> str:
        """Return the path as the work tree shows it: through the path that the user gave, else as seen from here."""
        directory, _, name = path.rpartition("/")
        known = self._shown.get(directory)
        if known is None:
            known = self._show_directory(directory)
            known = self._shown[directory] = "" if known == os.curdir else f"{printable(known)}/"
        return known + printable(name)

    def _show_directory(self, directory: str) -> str:
        for below, given in self._given:
            if not below or directory == below or directory.startswith(f"{below}/"):
                return from_here(os.path.join(given, directory[len(below) :].lstrip("/")))
        return os.path.relpath(os.path.join(self._top, directory), self._here)


def at_revision(
    repository: Repository, revision: str, paths: Sequence[str] | None = None, exclude: Exclude = ()
) -> Revision:
    """Return a commit, tag, branch or tree as a source."""
    return Revision(repository, repository.entries(repository.tree(revision)), paths, exclude)


def staged(repository: Repository, paths: Sequence[str] | None = None, exclude: Exclude = ()) -> Revision:
    """Return the index as a source."""
    return Revision(repository, repository.index(), paths, exclude)


def _is_json(path: str) -> bool:
    return path.lower().endswith(".json")
