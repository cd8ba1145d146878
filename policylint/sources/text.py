"""Texts in memory as a source: one file, or several."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from policylint.sources.source import MAX_BYTES, NOT_FOUND, SourceError, SourceFile, SourceProblem, lines_of

NAME: Final = "<text>"


class Text:
    """A source of files that lie on no disk. What is not in them may exist elsewhere."""

    def __init__(self, data: bytes | Mapping[str, bytes], name: str = NAME) -> None:
        """Take the bytes of a file: any number of documents, YAML or JSON, UTF-8 or with a byte order mark.

        Args:
            data: of one file, or of several by what they are shown as.
            name: what one file is shown as.
        """
        self._data = {name: data} if isinstance(data, bytes) else data
        self._files = {name: SourceFile(name, self, name) for name in sorted(self._data)}

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
        return list(self._files.values())

    def announce(self, files: Sequence[SourceFile]) -> None:
        """Do nothing: nothing is to be fetched."""

    def file(self, path: str) -> SourceFile:
        if path not in self._files:
            raise SourceError(NOT_FOUND, "no such file or directory", path)
        return self._files[path]

    def at(self, path: str, shown: str) -> SourceFile:  # noqa: ARG002 - as every Source
        raise SourceError(NOT_FOUND, "no such file or directory", shown)

    def yaml_below(self, directory: str) -> list[str]:  # noqa: ARG002 - as every Source
        return []

    def files_below(self, directory: str) -> list[str]:  # noqa: ARG002 - as every Source
        return []

    def lacking(self, paths: Collection[str]) -> frozenset[str]:  # noqa: ARG002 - as every Source
        return frozenset()

    def text(self, path: str) -> list[str]:
        return lines_of(self._data[path]) if path in self._data else []

    def relative(self, place: Any, shown: str) -> str:  # noqa: ARG002 - as every FileReader
        """Return the name as a path of one step: no directory says what these files are for."""
        return shown.replace("/", ":")

    def data(self, place: Any, shown: str) -> bytes:
        if len(self._data[place]) > MAX_BYTES:
            from policylint.sources.regular_file import too_large

            raise too_large(len(self._data[place]), shown)
        return self._data[place]

    def content_id(self, place: Any) -> None:
        """Return None: it takes reading, as in the work tree."""
