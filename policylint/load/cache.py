"""The facts of files, each content looked at once: in one run for both sides of a diff, and from run to run in a pack.

Keyed by git blob id; what is read from a pack is checked like input. Documents are read-only, so sharing is safe.
"""

# ruff: noqa: PTH100, PTH118, PTH120, PTH123, PTH208 - no pathlib on the way of every run

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from policylint.documents import FileReading, Unread, read_unread
from policylint.load.facts import Facts, facts_of, is_kustomization_path
from policylint.sources import Source, SourceError, SourceFile
from policylint.sources.worktree import WorkTree

if TYPE_CHECKING:
    from policylint.documents.reading import KindFilter
    from policylint.sources.pack import Pack

FEWEST: Final = 24
"""Files below which a pack costs more than it saves."""
_TOGETHER: Final = 256  # files whose lines are decoded at once
_POINTER: Final = b"version https://git-lfs.github.com/spec/v1\n"  # read as such in git, as text in the work tree


class Remembered:
    """What is known of contents, for all sources that one run reads.

    Args:
        directory: of the cache; None for none.
        sharing: whether several sources share documents: they stay in memory for that.
    """

    def __init__(self, directory: str | None = None, *, sharing: bool = False) -> None:
        self._directory = directory
        self._sharing = sharing
        self._readers: dict[tuple[frozenset[str], bool], Reader] = {}

    def reader(self, source: Source, groups: frozenset[str], everything: bool, wanted: KindFilter | None) -> Reader:
        """The reader of a source's files.

        Args:
            groups, everything: what `wanted` rests on.
        """
        key = (groups, everything)
        reader = self._readers.get(key)
        files = source.files()
        if reader is None:
            pack = None
            if self._directory is not None and source.root is not None and len(files) >= FEWEST:
                from policylint.sources.pack import Pack

                pack = Pack(self._directory, source.root, f"{stamp()} {everything} {' '.join(sorted(groups))}")
            reader = self._readers[key] = Reader(wanted, pack, self._sharing)
        reader.announce(source, files)
        return reader

    def close(self) -> None:
        """Write what was added to packs."""
        for each in self._readers.values():
            each.close()

    def discard(self) -> None:
        """Write nothing: the run failed."""
        for each in self._readers.values():
            each.close(keep=False)


class Reader:
    """Facts by file, of sources of which the same kinds are wanted."""

    def __init__(self, wanted: KindFilter | None, pack: Pack | None, sharing: bool) -> None:
        self._wanted = wanted
        self._pack = pack
        self._is_keyed = sharing or pack is not None
        self._facts: dict[tuple[str, str], Facts] | None = {} if sharing else None
        self._of_files: dict[SourceFile, Facts] = {}
        """Of files with an id before they are read: such a file, which two revisions may have, never changes."""
        self._readings: dict[tuple[str, str], FileReading] = {}
        self._keys: dict[str, str] = {}
        self._last: tuple[SourceFile | None, bytes] = (None, b"")
        self._announced: tuple[Source, Sequence[SourceFile]] | None = None

    def announce(self, source: Source, files: Sequence[SourceFile]) -> None:
        """Say which files will be read, so that they come together."""
        self._announced = (source, files)
        self._keys = {}
        if not isinstance(source, WorkTree):  # which knows no content before it is read
            if self._facts or self._pack is not None:
                files = [each for each in files if each not in self._of_files and not self._is_known(each)]
            source.announce(files)

    def facts(self, files: Sequence[SourceFile]) -> Iterator[Facts | SourceError]:
        """The facts of each file in turn, or why it cannot be read."""
        if self._is_keyed:
            for start in range(0, len(files), _TOGETHER):
                yield from self._known(files[start : start + _TOGETHER])
            return
        for file in files:
            try:
                yield facts_of(file.read(), file.path, self._wanted)
            except SourceError as error:
                yield error

    def _known(self, files: Sequence[SourceFile]) -> list[Facts | SourceError]:
        """The facts of a few hundred files: in memory, in lines of a pack, or to be found out from their bytes."""
        found: list[Facts | SourceError | None] = []
        waiting: list[SourceFile] = []
        keys: list[str] = []
        lines: list[bytes] = []
        for file in files:
            facts: Facts | SourceError | None = self._of_files.get(file)
            if facts is not None:
                found.append(facts)
                continue
            try:
                key, data = self._key(file), None
                if key is None:
                    data = file.read()
                    key = self._keep_key(file, data)
                if self._facts is not None:
                    facts = self._facts.get((file.path, key))
                if facts is None:
                    line = self._line_of(key)
                    if line is None:
                        facts = self._found(file, key, data)
                    else:
                        waiting.append(file)
                        keys.append(key)
                        lines.append(line)
            except SourceError as error:
                facts = error
            found.append(facts)
        kept = self._kept(waiting, keys, lines)
        return [next(kept) if facts is None else facts for facts in found]

    def again(self, file: SourceFile, unread: Unread) -> FileReading:
        """Parse a document that was left unread; as `documents.read_unread`.

        Raises:
            SourceError: the file cannot be read any more.
        """
        key = self._key(file)
        if key is None:
            return read_unread(self._bytes(file), unread)
        key = f"{key}#{unread.number}"
        found = self._readings.get((file.path, key))
        if found is None:
            found = self._kept_reading(file, key)
            if found is None:
                data = self._bytes(file)
                found = read_unread(data, unread)
                self._put(key, data, found)
            if self._facts is not None:
                self._readings[file.path, key] = found
        return found

    def close(self, *, keep: bool = True) -> None:
        if self._pack is not None:
            if keep:
                self._pack.close()
            else:
                self._pack.discard()
            self._pack = None

    def _is_known(self, file: SourceFile) -> bool:
        key = self._key(file)
        if key is None:
            return False
        if self._facts is not None and (file.path, key) in self._facts:
            return True
        return self._pack is not None and key in self._pack

    def _key(self, file: SourceFile) -> str | None:
        """The id of a file's content if it is known without reading."""
        if not self._is_keyed:
            return None
        key = self._keys.get(file.path)
        if key is None:
            known = file.known_id()
            if known is not None:
                key = self._keys[file.path] = _named(known, file)
        return key

    def _keep_key(self, file: SourceFile, data: bytes) -> str:
        key = self._keys[file.path] = _named(_content_id()(data), file)
        return key

    def _found(self, file: SourceFile, key: str, data: bytes | None) -> Facts:
        """Parse, and keep for the next run. `data` where the file had to be read to know its key."""
        lasts = data is None
        data = file.read() if data is None else data
        facts = facts_of(data, file.path, self._wanted)
        if self._pack is not None and not data.startswith(_POINTER):
            from policylint.load.fact_lines import content_of

            if (content := content_of(facts)) is not None:
                self._write(key, content)
        if self._facts is not None:
            self._facts[file.path, key] = facts
            if lasts:
                self._of_files[file] = facts
        return facts

    def _put(self, key: str, data: bytes, reading: FileReading) -> None:
        if self._pack is not None and not data.startswith(_POINTER):
            from policylint.documents.serialize import plain

            if (content := plain(reading)) is not None:
                self._write(key, content)

    def _write(self, key: str, content: list[Any]) -> None:
        from policylint.load.fact_lines import encoder

        assert self._pack is not None
        try:
            self._pack.put(key, encoder()(content))
        except (ValueError, TypeError, RecursionError):  # what JSON cannot say, or UTF-8
            return

    def _kept(
        self, files: Sequence[SourceFile], keys: Sequence[str], lines: list[bytes]
    ) -> Iterator[Facts | SourceError]:
        """From lines. If one is not what was put there, the whole pack counts for nothing."""
        from policylint.load.fact_lines import decoded, facts_from

        try:
            found = facts_from(decoded(lines), [each.path for each in files])
        except (TypeError, ValueError):
            self._distrust()
            for file, key in zip(files, keys, strict=True):
                try:
                    yield self._found(file, key, file.read())
                except SourceError as error:
                    yield error
            return
        if self._facts is not None:
            self._facts.update(zip(zip((each.path for each in files), keys, strict=True), found, strict=True))
            pairs = zip(files, found, strict=True)
            self._of_files.update((file, facts) for file, facts in pairs if file.known_id() is not None)
        yield from found

    def _kept_reading(self, file: SourceFile, key: str) -> FileReading | None:
        line = self._line_of(key)
        if line is None:
            return None
        from policylint.documents.serialize import restored
        from policylint.load.fact_lines import decoded

        try:
            return restored(decoded([line]), [file.path])[0]
        except (TypeError, ValueError):
            self._distrust()
            return None

    def _line_of(self, key: str) -> bytes | None:
        return None if self._pack is None else self._pack.get(key)

    def _distrust(self) -> None:
        if self._pack is not None:
            self._pack.forget()
        if self._announced is not None:
            source, files = self._announced
            source.announce(files)

    def _bytes(self, file: SourceFile) -> bytes:
        """Of the file, read once for all that is asked of it in a row."""
        last, data = self._last
        if last is not file:
            data = file.read()
            self._last = (file, data)
        return data


@cache
def _content_id() -> Callable[[bytes], str]:
    """Imported once, and only where contents have keys."""
    from policylint.sources.pack import content_id

    return content_id


def _named(content: str, file: SourceFile) -> str:
    """A kustomization is known by its name: what is in it counts though it names no kind."""
    return f"{content}k" if is_kustomization_path(file.path) else content


@cache
def stamp() -> str:
    """All that decides what is made of bytes: the version of policylint, the very code, Python's and the parser's."""
    import sys
    from hashlib import blake2b

    from policylint import __version__

    digest = blake2b(digest_size=16)
    here = os.path.dirname(os.path.abspath(__file__))
    documents = os.path.join(os.path.dirname(here), "documents")
    try:
        files = [os.path.join(documents, each) for each in sorted(os.listdir(documents)) if each.endswith(".py")]
        own = (os.path.join(here, each) for each in ("facts.py", "lines.py", "reading.py", "remembered.py"))
        for place in (*files, *own, *_parser()):
            with open(place, "rb") as file:
                digest.update(file.read())
    except OSError:  # not on disk as files: then it is an installed version
        pass
    return f"{__version__} {digest.hexdigest()} {sys.version_info[:2]} {sys.byteorder}"


def _parser() -> list[str]:
    """The file that says which PyYAML it is. Importing it would cost what a warm run saves."""
    from importlib.util import find_spec

    found = find_spec("yaml")
    return [found.origin] if found is not None and found.origin else []
