"""The work tree: directories and single files as they are on disk now, and stdin."""

# Paths stay strings with os.path here: thousands are listed, `a/../b` must be shown as given, and pathlib is slower.
# ruff: noqa: PTH109, PTH110, PTH112, PTH113, PTH114, PTH118, PTH120

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

from policylint.namedtuple import NamedTuple
from policylint.outside import belongs, git_root, is_below
from policylint.sources.regular_file import check_regular, read_regular, read_stream
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
from policylint.sources.source import BROKEN_SYMLINK, MAX_BYTES, NOT_FOUND, SourceError, SourceFile, SourceProblem

_STREAMS: Final = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


class _Directory(NamedTuple):
    """The properties that the files of one directory share. The first three end in a slash, unless empty.

    Args:
        place: relative to the process's directory.
        shown: as users see it.
        real: with all links resolved.
        path: posix, below the directory that reasons are judged from.
        reasons: see `reasons_of_directory`.
        is_chart: whether a directory, named as `path` is, holds a chart.
    """

    place: str
    shown: str
    real: str
    path: str
    reasons: tuple[Skip | None, Skip | None]
    is_chart: Callable[[str], bool]


class WorkTree(ListedSource):
    """A source of the files below some paths. Listing happens once, on first use; reading when asked."""

    def __init__(self, paths: Sequence[str], exclude: Exclude = ()) -> None:
        super().__init__(exclude)
        self._paths = list(dict.fromkeys(paths)) or ["."]
        self._real_directories: dict[str, str] = {}
        self._judged_from: dict[str, tuple[str, str]] = {}
        self._charts: dict[str, bool] = {}
        self._all: dict[str, list[str]] = {}
        """Directory → every file below it, as it was when that was asked for."""
        self._streams: dict[str, bytes] = {}
        self._here = os.getcwd()  # files are read from here, wherever the process has gone since
        self._inside = ""  # the root, with a slash at its end
        self._find_root()

    @property
    def named(self) -> bool:
        return not any(_is_stream(path) or os.path.isdir(path) for path in self._paths)

    @property
    def given(self) -> list[str]:
        named = (path for path in self._paths if not _is_stream(path))
        places = (self.relative(os.path.realpath(path), _shown(path)) for path in named)
        return ["" if place == os.curdir else place for place in places]

    def file(self, path: str) -> SourceFile:
        return self._listed().get(path) or self._source_file(path, path)

    def at(self, path: str, shown: str) -> SourceFile:
        place = "" if self._root is None or not path else os.path.join(self._root, path)
        if not os.path.isfile(place) or not self._holds(place):
            raise SourceError(NOT_FOUND, "no such file or directory", shown)
        return self.file(os.path.relpath(place))

    def yaml_below(self, directory: str) -> Iterator[str]:
        return (
            path
            for path in self._walked(directory, lambda step: step.startswith("."))
            if path.endswith((".yaml", ".yml"))
        )

    def files_below(self, directory: str) -> list[str]:
        if directory not in self._all:
            self._all[directory] = sorted(self._walked(directory, NEVER_ENTERED.__contains__))
        return self._all[directory]

    def lacking(self, paths: Collection[str]) -> frozenset[str]:
        root = self._root
        if root is None or git_root(root) != root:
            return frozenset()
        absent = [path for path in paths if not self._is_there(root, path)]
        if not absent:
            return frozenset()
        from policylint.sources.listing import committed, unexplained

        return unexplained(root, absent, *committed(root))

    def _is_there(self, root: str, path: str) -> bool:
        """Tell whether a file is there, or a directory with a file in it: git has no others.

        A link on the way is there, and where it leads to is not looked at.
        """
        place = root
        for step in path.rstrip("/").split("/"):
            place = os.path.join(place, step)
            if os.path.islink(place):
                return True
        if path.endswith("/") and os.path.isdir(place):
            return any(names for _, _, names in os.walk(place))
        return os.path.lexists(place)

    def _walked(self, directory: str, is_hidden: Callable[[str], bool]) -> Iterator[str]:
        """Yield every file below a directory, step by step, by its path below the root; links are not followed.

        Args:
            is_hidden: whether a directory is not to be entered, by its name.
        """
        top = None if self._root is None else os.path.join(self._root, directory)
        if top is None or not os.path.isdir(top) or not self._holds(top):
            return
        above = os.path.relpath(top, self._root).replace(os.sep, "/")
        above = "" if above == os.curdir else f"{above}/"
        waiting = [(top, above)]
        while waiting:  # `os.walk` asks again of every directory whether it is a link
            place, start = waiting.pop()
            steps: list[str] = []
            names: list[str] = []
            try:
                with os.scandir(place) as entries:
                    for entry in entries:
                        if not _is_directory(entry):
                            names.append(entry.name)
                        elif not is_hidden(entry.name) and not entry.is_symlink():
                            steps.append(entry.name)
            except OSError:
                continue
            yield from (f"{start}{name}" for name in sorted(names))
            waiting += ((os.path.join(place, step), f"{start}{step}/") for step in sorted(steps, reverse=True))

    def _holds(self, place: str) -> bool:
        """Return whether a path, links resolved, stays below the root. Slow: every part of the path is looked up."""
        return self._root is not None and belongs(os.path.realpath(place), self._root)

    def announce(self, files: Sequence[SourceFile]) -> None:
        """Do nothing: files are read one by one."""

    def content_id(self, place: Any) -> str | None:
        """Return None: git's own index may be from before a filter or another moment; reading and hashing is cheap."""

    def _find_root(self) -> None:
        first = next((path for path in self._paths if not _is_stream(path)), None)
        if first is None:
            return
        directory = first if os.path.isdir(first) else os.path.dirname(first) or "."
        if not os.path.isdir(directory):
            return
        root = git_root(directory)
        self._root = os.path.realpath(root if root is not None else directory)
        self._inside = os.path.join(self._root, "")

    def _list(self) -> Iterator[SourceFile]:
        real: dict[str, str] = {}  # one file is read once, by whatever way it is reached
        for path in self._paths:
            for file, place in self._below(path):
                if real.setdefault(place, file.path) == file.path:
                    yield file

    def _below(self, path: str) -> Iterator[tuple[SourceFile, str]]:
        """Yield the files that a path given by the user stands for, each with its real path."""
        if _is_stream(path):
            yield self._stream(path), path
        elif os.path.isdir(path):
            yield from self._below_directory(path)
        else:
            try:
                yield self._source_file(path, _shown(path)), os.path.realpath(path)
            except SourceError as error:
                self._problem(error)

    def _below_directory(self, directory: str) -> Iterator[tuple[SourceFile, str]]:
        from policylint.sources.listing import git_files, walk

        listed: tuple[list[str], list[SourceProblem]] | None = None
        if git_root(directory) is not None:
            listed = git_files(directory, _shown(directory))
        is_git = listed is not None
        if listed is None:
            listed = walk(directory, lambda name: _shown(os.path.join(directory, name)))
        names, problems = listed
        self._problems.extend(problems)
        inside = self._root if is_git and self._root is not None else os.path.realpath(directory)
        links: list[tuple[_Directory, str]] = []
        directories: dict[str, _Directory] = {}
        for path in names:
            above, _, name = path.rpartition("/")
            parent = directories.get(above)
            if parent is None:
                parent = directories[above] = self._directory(directory, above)
            if not is_manifest(name):
                if name.lower().endswith(TEMPLATES):
                    skip = self._reason(parent, name)
                    if skip is not None:
                        self._skip(skip.reason, _shown(parent.place + name))
                continue
            place = parent.place + name
            try:
                state = os.lstat(place)
            except OSError:
                state = None
            if state is not None and stat.S_ISLNK(state.st_mode):
                links.append((parent, name))
                continue
            file = self._select(parent, name, state, is_git)
            if file is not None:
                yield file, parent.real + name
        for parent, name in links:  # after the files they may lead to, so that the file itself is the one read
            place = parent.place + name
            target = os.path.realpath(place)
            if os.path.isdir(target):
                continue
            if os.path.exists(target) and not belongs(target, inside):
                self._skip(OUTSIDE, _shown(place))
                continue
            file = self._select(parent, name, None, is_git)
            if file is not None:
                yield file, target

    def _directory(self, given: str, below: str) -> _Directory:
        """Return a directory below one that the user named. Those above it, up to the root, count for its reasons."""
        place = os.path.join(given, below, "")
        shown = _shown(place)
        above, prefix = self._above(given)

        def is_chart(chart: str) -> bool:
            return self._is_chart(os.path.join(above, chart))

        path = f"{prefix}{below}".rstrip("/").replace(os.sep, "/")
        return _Directory(
            place,
            "" if shown == "." else f"{shown.rstrip('/')}/",
            os.path.join(self._real_directory(place.rstrip(os.sep) or os.sep), ""),
            path,
            reasons_of_directory(path, is_chart, prefix.rstrip("/")),
            is_chart,
        )

    def _select(self, parent: _Directory, name: str, state: os.stat_result | None, is_git: bool) -> SourceFile | None:
        """Return a file of a directory unless it is excluded, no manifest, or (in git's list only) deleted.

        Args:
            state: of the file, if it is no link.
        """
        place = parent.place + name
        shown = parent.shown + (name if name.isascii() else printable(name))
        if self._is_excluded is not None and self._is_excluded(shown):
            return None
        skip = self._reason(parent, name)
        if skip is not None and not skip.unless_object:
            self._skip(skip.reason, _shown(place))
            return None
        try:
            if state is not None and stat.S_ISREG(state.st_mode) and state.st_size <= MAX_BYTES:
                file = SourceFile(shown, self, shown if place == shown else place)
            elif is_git and not os.path.lexists(place):
                return None
            else:
                file = self._source_file(place, shown)
            if (skip is not None or name.lower().endswith(".json")) and not may_hold_objects(file.read()):
                if skip is not None:
                    self._skip(skip.reason, _shown(place))
                return None
        except SourceError as error:
            if error.code == BROKEN_SYMLINK and self._root is not None and not self._holds(place):
                self._skip(OUTSIDE, _shown(place))  # what is there on other machines is not read here, either
            elif not (is_git and error.code == "not-a-regular-file" and os.path.isdir(place)):  # a submodule
                self._problem(error)
            return None
        return file

    def _reason(self, parent: _Directory, name: str) -> Skip | None:
        """Return what the file is if no manifest by its path."""
        return reason_by_name(name, parent.path, parent.reasons, parent.is_chart)

    def _above(self, directory: str) -> tuple[str, str]:
        """Return the directory that paths below a given one are judged from (the root if it is inside), and the way."""
        known = self._judged_from.get(directory)
        if known is None:
            above, root, prefix = os.path.realpath(directory), self._root, ""
            if root is not None and above != root and is_below(above, root):
                prefix = f"{above[len(root) :].strip(os.sep)}/".replace(os.sep, "/")
                above = root
            known = self._judged_from[directory] = (above, prefix)
        return known

    def _placed(self, place: str, of_directory: Callable[[str], str]) -> str:
        """Resolve the directory of a path, once for all that is in it (`realpath` asks for every part of a path)."""
        directory, _, name = place.rpartition(os.sep)
        if name in ("", ".", "..") or (not directory and place.startswith(os.sep)):
            return of_directory(place)
        return os.path.join(of_directory(directory or os.curdir), name)

    def _real_directory(self, directory: str) -> str:
        known, steps, place = self._real_directories, [], directory
        while place not in known:
            above, _, name = place.rpartition(os.sep)
            if not above or name in ("", ".", ".."):
                known[place] = os.path.realpath(place)
                break
            steps.append((place, name))
            place = above
        real = known[place]
        for place, name in reversed(steps):  # `realpath` would ask for every step of the way again
            real = os.path.join(real, name)
            if os.path.islink(real):
                real = os.path.realpath(real)
            known[place] = real
        return real

    def _is_chart(self, directory: str) -> bool:
        known = self._charts.get(directory)
        if known is None:
            known = os.path.isfile(os.path.join(directory, "Chart.yaml"))
            self._charts[directory] = known
        return known

    def _source_file(self, place: str, shown: str) -> SourceFile:
        if place in self._streams:
            return self._stream(place)
        if not place:
            raise SourceError(NOT_FOUND, "no such file or directory", shown)
        check_regular(place, shown)
        return SourceFile(shown, self, shown if place == shown else place)

    def relative(self, place: str, shown: str) -> str:
        if self._root is None or place in self._streams:
            return shown
        real = self._placed(place, self._real_directory)
        if real != self._root and not real.startswith(self._inside):
            return shown
        relative = printable(real[len(self._root) :].strip(os.sep))
        return shown if relative == shown else relative

    def data(self, place: str, shown: str) -> bytes:
        if place in self._streams:
            return self._streams[place]
        return read_regular(os.path.join(self._here, place), shown)

    def _stream(self, path: str) -> SourceFile:
        """Read a stream, which can be read only once, and keep it."""
        shown = "<stdin>" if path in ("-", "/dev/stdin", "<stdin>") else path
        if shown not in self._streams:
            descriptor = 0 if shown == "<stdin>" else int(path.rpartition("/")[2])
            try:
                self._streams[shown] = read_stream(descriptor, shown)
            except SourceError as error:
                self._problem(error)
                self._streams[shown] = b""
        return SourceFile(shown, self, shown)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    """Return whether a listed name is a directory, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_stream(path: str) -> bool:
    return path == "-" or path == "/dev/stdin" or (path.startswith(_STREAMS[1:]) and path.rpartition("/")[2].isdigit())


def _shown(place: str) -> str:
    return printable(from_here(place))
