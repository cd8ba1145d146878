"""Read the facts of files: one tree file by file, or the sides of a diff, where each content is parsed once for all.

Contents are told apart by git blob id. Documents are read-only, so sharing them is safe. Nothing outlives the run
(docs/design/decisions/0013-nothing-is-kept-between-runs.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from policylint.catalog.content import ReadSet
from policylint.documents import FileReading, Unread, read_unread
from policylint.load.facts import Facts, facts_of
from policylint.sources import Source, SourceFile
from policylint.sources.blob_id import blob_id

if TYPE_CHECKING:
    from policylint.documents.reading import KindFilter


class FactsReader:
    """Read the facts of files, and later the documents in them that turned out to be needed.

    Args:
        wanted: the kinds that are parsed at once; None for all.
        read_set: the kinds that objects name.
    """

    def __init__(self, wanted: KindFilter | None, read_set: ReadSet) -> None:
        self._wanted = wanted
        self._read_set = read_set
        self._last: tuple[SourceFile | None, bytes] = (None, b"")

    def announce(self, source: Source, files: Sequence[SourceFile]) -> None:
        """Say which files of a source will be read, so that they come together."""
        source.announce(files)

    def facts(self, file: SourceFile) -> Facts:
        """Return the facts of a file.

        Raises:
            SourceError: it cannot be read.
        """
        return facts_of(file.read(), file.path, self._wanted, self._read_set)

    def again(self, file: SourceFile, unread: Unread) -> FileReading:
        """Parse a document that `facts` left unread; as `documents.read_unread`.

        Raises:
            SourceError: the file cannot be read any more.
        """
        last, data = self._last  # what is asked of one file is asked in a row
        if last is not file:
            data = file.read()
            self._last = (file, data)
        return read_unread(data, unread)


class SharingReader(FactsReader):
    """Read the facts of files of several sources, one source after another, each path with a content once."""

    def __init__(self, wanted: KindFilter | None, read_set: ReadSet) -> None:
        super().__init__(wanted, read_set)
        self._facts: dict[tuple[str, str], Facts] = {}  # by path as shown and blob id
        self._of_files: dict[SourceFile, Facts] = {}
        """Of files whose id is known before they are read: such a file, which two revisions may have, never changes."""
        self._readings: dict[tuple[str, str, int], FileReading] = {}  # by path, blob id and number of the document
        self._ids: dict[str, str] = {}  # path → blob id, of the source that is being read

    def announce(self, source: Source, files: Sequence[SourceFile]) -> None:
        """Say which files of a source will be read; those whose facts are known will not."""
        self._ids = {}
        source.announce([file for file in files if file not in self._of_files and not self._is_known(file)])

    def facts(self, file: SourceFile) -> Facts:
        facts = self._of_files.get(file)
        if facts is not None:
            return facts
        known_id, data = file.known_id(), None
        if known_id is None:
            data = file.read()
            known_id = blob_id(data)
        self._ids[file.path] = known_id
        facts = self._facts.get((file.path, known_id))
        if facts is None:
            facts = self._facts[file.path, known_id] = facts_of(
                file.read() if data is None else data, file.path, self._wanted, self._read_set
            )
        if data is None:
            self._of_files[file] = facts
        return facts

    def again(self, file: SourceFile, unread: Unread) -> FileReading:
        content = file.known_id() or self._ids[file.path]
        reading = self._readings.get((file.path, content, unread.number))
        if reading is None:
            reading = self._readings[file.path, content, unread.number] = super().again(file, unread)
        return reading

    def _is_known(self, file: SourceFile) -> bool:
        known_id = file.known_id()
        return known_id is not None and (file.path, known_id) in self._facts


class SharedFacts:
    """The facts about contents, for all sources that one run reads."""

    def __init__(self) -> None:
        self._readers: dict[tuple[frozenset[str], bool], SharingReader] = {}

    def reader(
        self, groups: frozenset[str], everything: bool, wanted: KindFilter | None, read_set: ReadSet
    ) -> SharingReader:
        """Return the reader of all sources of which the same kinds are wanted.

        Args:
            groups, everything: what `wanted` rests on.
            read_set: the kinds that objects name, by the one configuration of a run.
        """
        key = (groups, everything)
        if key not in self._readers:
            self._readers[key] = SharingReader(wanted, read_set)
        return self._readers[key]
