"""What a source is: something that lists manifests and gives their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, Protocol

# Codes are part of the tool's output: never renamed, never reused. Those also found in documents/ mean the same there.
NOT_FOUND: Final = "not-found"
UNREADABLE: Final = "unreadable"  # no permission, I/O error
NOT_A_REGULAR_FILE: Final = "not-a-regular-file"  # FIFO, socket, device
TOO_LARGE: Final = "too-large"
SYMLINK_LOOP: Final = "symlink-loop"
BROKEN_SYMLINK: Final = "broken-symlink"
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


class Holder(Protocol):
    """What gives files their bytes. A file knows only its place there: thousands of them are kept."""

    def relative(self, place: Any, shown: str) -> str:
        """The path of a place below the source's root; `shown` where it is outside."""

    def data(self, place: Any, shown: str) -> bytes:
        """The bytes at a place. Raises SourceError."""

    def content_id(self, place: Any) -> str | None:
        """The git blob id of what is at a place, if it is known without reading."""


class SourceFile:
    """One file of a source.

    `path` is the path as shown: posix, relative to where the user stands. `relative` is the path below the source's
    root, which SARIF and CODEOWNERS want; the same as `path` where the file is outside it.
    """

    __slots__ = ("_holder", "_place", "path")

    def __init__(self, path: str, holder: Holder, place: Any) -> None:
        self.path = path
        self._holder = holder
        self._place = place

    @property
    def relative(self) -> str:
        return self._holder.relative(self._place, self.path)

    def read(self) -> bytes:
        """The file's bytes.

        Raises:
            SourceError: it is gone, unreadable, over MAX_BYTES, or not a regular file.
        """
        return self._holder.data(self._place, self.path)

    def known_id(self) -> str | None:
        """The git blob id of the file's content, if it is known without reading."""
        return self._holder.content_id(self._place)


class Source(Protocol):
    """Where manifests come from. All answers are deterministic and sorted by path."""

    @property
    def root(self) -> str | None:
        """The path of the git root, else of the directory given; None for stdin."""

    @property
    def problems(self) -> list[SourceProblem]:
        """What could not be listed."""

    @property
    def skipped(self) -> dict[str, list[str]]:
        """Files that are no Kubernetes manifests by their path: reason → paths as shown."""

    @property
    def named(self) -> bool:
        """Whether the user named every file, so that what is in none of them is not there. A tree, and what is rendered
        from one, leaves out what nobody commits."""

    def files(self) -> list[SourceFile]:
        """The files to read as manifests: *.yaml, *.yml, and *.json that look like Kubernetes objects."""

    def announce(self, files: Sequence[SourceFile]) -> None:
        """Say which files will be read, so that they can come together."""

    def file(self, path: str) -> SourceFile:
        """Any file by its path as shown, listed or not (values files, charts, patches).

        Raises:
            SourceError: there is none.
        """

    def at(self, path: str, shown: str) -> SourceFile:
        """The file at a path below the root, listed or not, links followed.

        Raises:
            SourceError: there is none, or it lies outside the root.
        """

    def yaml_below(self, directory: str) -> Iterable[str]:
        """The YAML files below a directory, listed or not, by their paths below the root; none in hidden ones."""

    def files_below(self, directory: str) -> list[str]:
        """All files below a directory, of whatever kind, by their paths below the root; links are not followed."""

    def text(self, path: str) -> list[str]:
        """The lines of a file, for snippets; empty if it cannot be read any more."""


def lines_of(data: bytes) -> list[str]:
    """Lines as positions count them: broken at CRLF, LF and CR only, without byte order mark."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = data.decode(encoding, "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
