"""Objects that stand in the tree and were not parsed: nothing that was read names their kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from policylint.documents import Document, Unread
from policylint.load.objects import objects_of
from policylint.model import ResourceKey, mapping, text

_MOST_READ: Final = 1_000
"""Documents of a kind that are read for their names."""


class LeftUnread:
    """The documents of a source that were left unparsed, read for their names when something is missing.

    Attributes:
        by_kind: the documents by group and kind.
    """

    __slots__ = ("_names", "_read", "by_kind")

    def __init__(self, unread: Iterable[Unread], read: Callable[[Unread], Iterable[Document]]) -> None:
        self._read = read
        self.by_kind: dict[tuple[str, str], list[Unread]] = defaultdict(list)
        for document in unread:
            self.by_kind[document.api_version.rpartition("/")[0], document.kind].append(document)
        self._names: dict[tuple[str, str], dict[str, str]] = {}

    def reason(self, key: ResourceKey) -> str:
        """Return why an object that nothing deploys may be one that was not parsed; "" where none has its name.

        What deploys it may have added to the name.
        """
        documents = self.by_kind.get(key[:2])
        if documents is None or not key.name:
            return ""
        if len(documents) > _MOST_READ:
            return f"the {len(documents):,} {key.kind}s of the tree were not read"
        if key[:2] not in self._names:
            self._names[key[:2]] = {
                name: document.file
                for document in documents
                for again in self._read(document)
                for body, _ in objects_of(again.value)
                if (name := text(mapping(body.get("metadata")).get("name")))
            }
        file = next((file for name, file in self._names[key[:2]].items() if name in key.name), "")
        return f"{file} has one of the name, which was not read" if file else ""
