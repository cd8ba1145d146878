"""CRDs of the tree by the kind they define, parsed only when an object of that kind is there.

Source: docs/design/performance.md §2c.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policylint.documents import Document, Unread
    from policylint.load.reading import Loaded
    from policylint.sources import Source

_GROUP = re.compile(rb"^ +group: *[\"']?([\w.-]+)", re.MULTILINE)
_KIND = re.compile(rb"^ +kind: *[\"']?(\w+)", re.MULTILINE)
CRD = "CustomResourceDefinition"


class Definitions:
    """`definitions(group, kind)`: the documents of the CRDs that define a kind, wherever they lie in the tree."""

    __slots__ = ("_index", "_loaded", "_parsed", "_source")

    def __init__(self, source: Source, loaded: Loaded) -> None:
        self._source = source
        self._loaded = loaded
        self._index: dict[tuple[str, str], list[Unread]] | None = None
        self._parsed: dict[tuple[str, str], list[Document]] = {}

    def __call__(self, group: str, kind: str) -> list[Document]:
        wanted = (group, kind)
        if self._index is None:
            self._index = self._look()
        for unread in self._index.pop(wanted, ()):
            self._parsed.setdefault(wanted, []).extend(self._parse(unread))
        return self._parsed.get(wanted, [])

    def _look(self) -> dict[tuple[str, str], list[Unread]]:
        """Which kind every CRD defines: read off the first lines of those that were left unparsed."""
        from policylint.load.objects import objects_of

        for document in self._loaded.documents:
            for body, _ in objects_of(document.value):
                spec = body.get("spec")
                if body.get("kind") == CRD and isinstance(spec, dict) and isinstance(spec.get("names"), dict):
                    key = (str(spec.get("group")), str(spec["names"].get("kind")))
                    self._parsed.setdefault(key, []).append(document)
        found: dict[tuple[str, str], list[Unread]] = {}
        for unread in self._loaded.unread:
            if unread.kind == CRD:
                chunk = self._bytes(unread)[unread.start : unread.end]
                group, kind = _GROUP.search(chunk), _KIND.search(chunk)
                if group and kind:
                    found.setdefault((group[1].decode(), kind[1].decode()), []).append(unread)
        return found

    def _parse(self, unread: Unread) -> list[Document]:
        from policylint.documents import read_unread

        return read_unread(self._bytes(unread), unread).documents

    def _bytes(self, unread: Unread) -> bytes:
        from policylint.sources import SourceError

        try:
            return self._source.file(unread.file).read().removeprefix(b"\xef\xbb\xbf")
        except SourceError:
            return b""
