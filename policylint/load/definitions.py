"""CRDs of the tree by the kind they define, parsed only when an object of that kind is there.

Source: docs/design/performance.md §2c.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from policylint.load.facts import defined_by
from policylint.load.objects import CRD, objects_of
from policylint.model import mapping

if TYPE_CHECKING:
    from policylint.documents import Document, Unread
    from policylint.load.reading import Loaded
    from policylint.sources import Source


class Definitions:
    """The documents of the CRDs that define a kind, wherever they lie in the tree: `definitions(group, kind)`."""

    __slots__ = ("_index", "_loaded", "_parsed", "_source")

    def __init__(self, source: Source, loaded: Loaded) -> None:
        self._source = source
        self._loaded = loaded
        self._index: dict[tuple[str, str], list[Unread]] | None = None
        self._parsed: dict[tuple[str, str], list[Document]] = {}

    def __call__(self, group: str, kind: str) -> list[Document]:
        if self._index is None:
            self._index = self._indexed()
        for unread in self._index.pop((group, kind), ()):
            self._parsed.setdefault((group, kind), []).extend(self.read(unread))
        return self._parsed.get((group, kind), [])

    def read(self, unread: Unread) -> list[Document]:
        """Return what a document holds that nobody had asked for, nothing where its file is gone."""
        from policylint.documents import read_unread

        return read_unread(self._bytes(unread), unread).documents

    def _indexed(self) -> dict[tuple[str, str], list[Unread]]:
        """Return the unparsed CRDs by the kind that each defines, read off its first lines."""
        self._keep(self._loaded.documents)
        index: dict[tuple[str, str], list[Unread]] = {}
        for unread in self._loaded.unread:
            if unread.kind == CRD:
                chunk = self._bytes(unread)[unread.start : unread.end]
                group, kind, _ = defined_by(chunk)
                if group and kind:
                    index.setdefault((group, kind), []).append(unread)
                else:  # written in braces, or quoted in a way of its own
                    self._keep(self.read(unread))
        return index

    def _keep(self, documents: Iterable[Document]) -> None:
        """Add the CRDs of documents that were parsed."""
        for document in documents:
            for body, _ in objects_of(document.value):
                spec = mapping(body.get("spec"))
                if body.get("kind") == CRD and isinstance(spec.get("names"), dict):
                    key = (str(spec.get("group")), str(spec["names"].get("kind")))
                    self._parsed.setdefault(key, []).append(document)

    def _bytes(self, unread: Unread) -> bytes:
        from policylint.sources import SourceError

        try:
            return self._source.file(unread.file).read().removeprefix(b"\xef\xbb\xbf")
        except SourceError:
            return b""
