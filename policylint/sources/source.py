"""Sources: they list manifests and give their bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple, Protocol

# Codes are part of the tool's output: never renamed, never reused. Those also found in documents/ mean the same there.
NOT_FOUND: Final = "not-found"
UNREADABLE: Final = "unreadable"  # no permission, I/O error
NOT_A_REGULAR_FILE: Final = "not-a-regular-file"  # FIFO, socket, device
TOO_LARGE: Final = "too-large"
SYMLINK_LOOP: Final = "symlink-loop"
BROKEN_SYMLINK: Final = "broken-symlink"
SPARSE: Final = "sparse-checkout"  # files that are in git and not on disk
GIT: Final = "git"  # git was there but did not answer in time

MAX_BYTES: Final = 32 * 1024 * 1024  # the same limit as documents.MAX_BYTES


class SourceError(Exception):
    """A file that cannot be read: a code, a message for users, the path as shown."""

    def __init__(self, code: str, message: str, file: str) -> None:
        super().__init__(f"{file}: {message}")
        self.code = code
        self.message = message
        self.file = file


class SourceProblem(NamedTuple):
    """Something that could not be listed; the same fields as SourceError."""

    code: str
    message: str
    file: str


class FileReader(Protocol):
    """The source of a file's bytes. A file knows only its place there, as thousands are kept."""

    def relative(self, place: Any, shown: str) -> str:
        """Return the path of a place below the source's root; `shown` where it is outside."""

    def data(self, place: Any, shown: str) -> bytes:
        """Return the bytes at a place.

        Raises:
            SourceError: they cannot be read.
        """

    def content_id(self, place: Any) -> str | None:
        """Return the git blob id of what is at a place, None if that takes reading it."""


class SourceFile:
    """One file of a source.

    Attributes:
        path: as shown: posix, relative to where the user stands.
        relative: below the source's root, as SARIF and CODEOWNERS want it; `path` where the file is outside.
    """

    __slots__ = ("_holder", "_place", "path")

    def __init__(self, path: str, holder: FileReader, place: Any) -> None:
        self.path = path
        self._holder = holder
        self._place = place

    @property
    def relative(self) -> str:
        return self._holder.relative(self._place, self.path)

    def held_by(self, holder: FileReader) -> SourceFile:
        """Return the file as another reader of the same place has it."""
        return SourceFile(self.path, holder, self._place)

    def read(self) -> bytes:
        """Return the file's bytes.

        Raises:
            SourceError: it is gone, unreadable, over MAX_BYTES, or not a regular file.
        """
        return self._holder.data(self._place, self.path)

    def known_id(self) -> str | None:
        """Return the git blob id of the file's content, None if that takes reading it."""
        return self._holder.content_id(self._place)


class Source(Protocol):
    """A list of manifests. All answers are deterministic and sorted by path."""

    @property
    def root(self) -> str | None:
        """Return the path of the git root, else of the directory given; None for stdin."""

    @property
    def problems(self) -> list[SourceProblem]:
        """Return what could not be listed."""

    @property
    def skipped(self) -> dict[str, list[str]]:
        """Return the files that are no Kubernetes manifests by their path: reason → paths as shown."""

    @property
    def named(self) -> bool:
        """Return whether the user named every file, so that nothing exists beside them.

        A tree, and what is rendered from one, leaves out what nobody commits.
        """

    @property
    def given(self) -> list[str]:
        """Return the paths that the user named, as `SourceFile.relative` has what lies there; "" is the root itself."""

    def files(self) -> list[SourceFile]:
        """Return the files to read as manifests: *.yaml, *.yml, and *.json that look like Kubernetes objects."""

    def announce(self, files: Sequence[SourceFile]) -> None:
        """Announce files that will be read, so that they can be fetched together."""

    def file(self, path: str) -> SourceFile:
        """Return any file by its path as shown, listed or not (values files, charts, patches).

        Raises:
            SourceError: there is none.
        """

    def at(self, path: str, shown: str) -> SourceFile:
        """Return the file at a path below the root, listed or not, links followed.

        Raises:
            SourceError: there is none, or it lies outside the root.
        """

    def yaml_below(self, directory: str) -> Iterable[str]:
        """Return the YAML files below a directory, listed or not, by path below the root; none in hidden ones."""

    def files_below(self, directory: str) -> list[str]:
        """Return all files below a directory, of any kind, by their paths below the root; links are not followed.

        Caches and packages from elsewhere (`NEVER_ENTERED`) are not entered.
        """

    def lacking(self, paths: Collection[str]) -> frozenset[str]:
        """Return those of some paths below the root that git certainly does not have; a directory ends in a slash.

        What git ignores, what lies in a submodule or outside of a sparse checkout, and what a script of the repository
        names, which may make it, is somewhere else.
        """

    def text(self, path: str) -> list[str]:
        """Return the lines of a file, for snippets; none if it cannot be read any more."""


def lines_of(data: bytes) -> list[str]:
    """Split into lines as positions count them: at CRLF, LF and CR only, without byte order mark."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = data.decode(encoding, "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
