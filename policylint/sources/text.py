"""A text in memory as a source of one file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from policylint.sources.source import MAX_BYTES, NOT_FOUND, SourceError, SourceFile, SourceProblem, lines_of

NAME: Final = "<text>"


class Text:
    """A source of one file that lies on no disk, shown as NAME. What is not in it may exist elsewhere."""

    def __init__(self, data: bytes, name: str = NAME) -> None:
        """Take the bytes of a file: any number of documents, YAML or JSON, UTF-8 or with a byte order mark.

        Args:
            name: what the file is shown as.
        """
        self._data = data
        self._file = SourceFile(name, self, name)

    @property
    def root(self) -> str | None:
        return None

    @property
    def problems(self) -> list[SourceProblem]:
        return []

    @property
    def skipped(self) -> dict[str, list[str]]:
        return {}

    @property
    def named(self) -> bool:
        return False

    @property
    def given(self) -> list[str]:
        return []

    def files(self) -> list[SourceFile]:
        return [self._file]

    def announce(self, files: Sequence[SourceFile]) -> None:
        """Do nothing: nothing is to be fetched."""

    def file(self, path: str) -> SourceFile:
        if path != self._file.path:
            raise SourceError(NOT_FOUND, "no such file or directory", path)
        return self._file

    def at(self, path: str, shown: str) -> SourceFile:  # noqa: ARG002 - as every Source
        raise SourceError(NOT_FOUND, "no such file or directory", shown)

    def yaml_below(self, directory: str) -> list[str]:  # noqa: ARG002 - as every Source
        return []

    def files_below(self, directory: str) -> list[str]:  # noqa: ARG002 - as every Source
        return []

    def lacking(self, paths: Collection[str]) -> frozenset[str]:  # noqa: ARG002 - as every Source
        return frozenset()

    def text(self, path: str) -> list[str]:
        return lines_of(self._data) if path == self._file.path else []

    def relative(self, place: Any, shown: str) -> str:  # noqa: ARG002 - as every FileReader
        return shown

    def data(self, place: Any, shown: str) -> bytes:  # noqa: ARG002 - as every FileReader
        if len(self._data) > MAX_BYTES:
            from policylint.sources.regular_file import too_large

            raise too_large(len(self._data), shown)
        return self._data

    def content_id(self, place: Any) -> None:
        """Return None: it takes reading, as in the work tree."""
