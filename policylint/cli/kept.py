"""A diff that was made is kept, and made again only for another question: what it comes to is decided by its key alone.

The key is a digest of everything that an answer rests on:

* what is compared: the ids of both root trees, for the index the mode, id and path of everything in it;
* where one stands, where the repository is, and the paths asked for, as given and where they lead: files are named and
  narrowed down by them;
* what judges: all settings in force and the content of a file of them that is in neither tree, the rules chosen, the
  edition, the environments (and which directories they are), how to render, --strict;
* who judges: every byte of policylint's code, catalog, schemas and rule pages, the versions of it, of PyYAML and of
  Python; and the day, for suppressions expire.

How the revisions are spelled, and how the answer is to be shown, is no part of it.

Nothing is kept of what may be different tomorrow for the same key: the work tree, rendered directories, a snapshot of
a cluster, what `helm` makes (other programs are not asked where git is read), a clone that lacks a blob which was
needed, a repository in which objects stand for others (`git replace`).
"""

# ruff: noqa: PTH100, PTH109, PTH120, PTH123, PTH202 - no pathlib on the way of every run

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from policylint.cli import configured
from policylint.cli.answer import Answer, Side
from policylint.cli.opening import cache_in_use
from policylint.sources.git import Entry, Repository, RevisionError

if TYPE_CHECKING:
    from policylint.cli.diff_asked import Asked
    from policylint.config import Settings

MOST: Final = 32
MOST_BYTES: Final = 32 * 1024 * 1024
STAMP: Final = "comparisons 1"
Blobs = Callable[[str], tuple[str | None, str | None]]
"""The ids of a file before and after."""


def memory(asked: Asked, settings: Settings, chosen: set[str] | None) -> Memory | None:
    """What is known of a question; None where its answer may not be kept."""
    directory = cache_in_use()
    repository, wanted = asked.repository, asked.wanted
    if directory is None or repository is None or repository.replaces or not (asked.end or wanted.staged):
        return None
    if wanted.snapshot or settings.snapshot or _render(settings) == "helm":
        return None
    try:
        key = _key(asked, repository, settings, chosen)
    except (RevisionError, OSError):  # whoever opens the sides says what is wrong
        return None
    return Memory(directory, key, asked, repository)


class Memory:
    """The place of one answer in the cache. Nothing here fails: what cannot be kept or read is worked out."""

    def __init__(self, directory: str, key: str, asked: Asked, repository: Repository) -> None:
        self._directory = directory
        self._key = key
        self._asked = asked
        self._repository = repository
        self._root = os.path.realpath(repository.top or ".")

    def recalled(self) -> Answer | None:
        """The answer, if it was kept."""
        pack = self._pack()
        line = pack.get(self._key)
        if line is None:
            pack.discard()
            return None
        try:
            found = self._answer(_decoded(line))
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):  # also StoredError
            pack.discard()
            return None
        pack.close()
        return found

    def keep(self, answer: Answer, blobs: Blobs) -> None:
        """Keep an answer for who asks the same again, the newest first."""
        if self._repository.lacks:
            return
        from json import dumps

        from policylint.compare.keeping import plain

        comparison, coverage, suppressed, files_differ, *_ = answer
        try:
            files = {file: blobs(file) for file in sorted(set(_files(answer)))}
            content = [plain(comparison), [*coverage], suppressed, files_differ, files]
            line = dumps(content, ensure_ascii=False, separators=(",", ":"))
            line.encode()
        except (TypeError, ValueError, RecursionError):  # StoredError, what JSON cannot say, or UTF-8
            return
        pack = self._pack()
        try:
            pack.put(self._key, line)
            pack.close()
        finally:
            pack.discard()

    def _pack(self) -> Any:
        from policylint.sources.pack import Pack

        return Pack(self._directory, self._root, STAMP, most_bytes=MOST_BYTES, most_lines=MOST)

    def _answer(self, content: Any) -> Answer:
        from policylint.compare.stored import restored
        from policylint.documents.serialize import number_in, text_in
        from policylint.model.coverage import Coverage

        comparison, counts, suppressed, files_differ, files = content
        read, documents, unread, skipped, not_rendered, resources, policies, routes, gateways = counts
        coverage = Coverage(
            number_in(read),
            number_in(documents),
            number_in(unread),
            {text_in(reason): number_in(number) for reason, number in skipped.items()},
            tuple(map(text_in, not_rendered)),
            number_in(resources),
            number_in(policies),
            number_in(routes),
            number_in(gateways),
        )
        before, after = ({text_in(file): _blob(ids[side]) for file, ids in files.items()} for side in (0, 1))
        return Answer(
            restored(comparison),
            coverage,
            number_in(suppressed),
            number_in(files_differ),
            Side(self._root, _Lines(self._repository, before, self._asked.start)),
            Side(self._root, _Lines(self._repository, after, self._asked.end)),
        )


class _Lines:
    """The lines of files, read from git when they are asked for."""

    def __init__(self, repository: Repository, blobs: dict[str, str | None], revision: str | None) -> None:
        """`revision` is where files are that `blobs` does not know, None for the index."""
        self._repository = repository
        self._blobs = blobs
        self._revision = revision

    def __call__(self, file: str) -> list[str]:
        from policylint.sources.revision import at_revision, staged
        from policylint.sources.source import SourceError, lines_of

        try:
            if file not in self._blobs:
                revision = self._revision
                tree = staged(self._repository) if revision is None else at_revision(self._repository, revision)
                return tree.text(file)
            blob = self._blobs[file]
            if blob is None:
                return []
            return lines_of(self._repository.blob(Entry("100644", blob, file), file))
        except (SourceError, RevisionError):
            return []


def _key(asked: Asked, repository: Repository, settings: Settings, chosen: set[str] | None) -> str:
    """A digest of all that the answer rests on (above).

    Raises:
        RevisionError: an unknown revision.
        OSError: the configuration cannot be read any more.
    """
    import sys
    from datetime import date
    from hashlib import blake2b

    from policylint import __version__

    wanted, meta = asked.wanted, click.get_current_context().meta
    digest = blake2b(digest_size=32)
    for part in (
        repository.root(asked.start),
        _index(repository) if asked.end is None else repository.root(asked.end),
        os.getcwd(),
        repository.top,
        [*asked.paths],
        [os.path.realpath(each) for each in asked.paths],
        settings._replace(places=None),
        _content(settings.file) if configured.origin() else b"",
        None if chosen is None else sorted(chosen),
        wanted.semantics or settings.semantics,
        meta.get(configured.ENVIRONMENTS),
        configured.environments(settings, repository.top),
        _render(settings),
        wanted.strict,
        __version__,
        _code(),
        sys.version,
        date.today().isoformat(),
    ):
        said = part if isinstance(part, bytes) else repr(part).encode("utf-8", "surrogateescape")
        digest.update(b"%d " % len(said) + said)
    return digest.hexdigest()


def _render(settings: Settings) -> str:
    return click.get_current_context().meta.get(configured.RENDER) or settings.render or "auto"


def _content(file: str) -> bytes:
    with open(file, "rb") as opened:
        return opened.read()


def _index(repository: Repository) -> bytes:
    from hashlib import blake2b

    digest = blake2b(digest_size=32)
    for mode, blob, path in repository.index():
        digest.update(f"{mode} {blob} {path}\0".encode("utf-8", "surrogateescape"))
    return digest.digest()


def _code() -> bytes:
    """A digest of what policylint consists of: every byte of it, so that the same release installed again is the same.
    The YAML parser is known by its version and the sizes of its files."""
    from hashlib import blake2b
    from importlib.util import find_spec

    from policylint.model.shipped import folders

    digest = blake2b(digest_size=32)
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in (own, *folders()):
        for name, place in _files_below(folder):
            digest.update(os.fsencode(f"{name} {os.path.getsize(place)}\0") + _content(place))
    parser = find_spec("yaml")
    if parser is not None and parser.origin:
        digest.update(_content(parser.origin))
        for name, place in _files_below(os.path.dirname(parser.origin)):
            digest.update(os.fsencode(f"{name} {os.path.getsize(place)}\0"))
    return digest.digest()


def _files_below(folder: str, inside: str = "") -> Iterator[tuple[str, str]]:
    """Every file below a folder but for what Python makes of it: its path there, and its whole path."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda each: each.name)
    for each in found:
        if not each.is_dir():
            yield inside + each.name, each.path
        elif each.name != "__pycache__":
            yield from _files_below(each.path, f"{inside}{each.name}/")


def _files(answer: Answer) -> Iterator[str]:
    """The files in which findings stand: reports show their lines."""
    for finding, _ in answer.comparison.findings:
        yield finding.location.file
        yield from (each.location.file for each in finding.related)
        yield from (change.location.file for fix in finding.fixes for change in fix.changes)


def _decoded(line: bytes) -> Any:
    from json import loads

    if b"\\ud" in line.lower():  # half a character; whole ones are written as they are
        raise ValueError
    return loads(line)


def _blob(value: Any) -> str | None:
    """The id of a blob, which is handed to git."""
    if value is None:
        return None
    from policylint.documents.serialize import text_in

    blob = text_in(value)
    if len(blob) not in (40, 64) or blob.strip("0123456789abcdef"):
        raise ValueError
    return blob


__all__ = ["Memory", "memory"]
