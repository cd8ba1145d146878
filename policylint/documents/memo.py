"""Files that are read more than once in one run: equal content under one path is parsed once.

The two sides of a diff share nearly all of their documents; documents are read-only, so sharing is safe.
"""

from __future__ import annotations

from policylint.documents.problem import Reading, Unread
from policylint.documents.reading import Wanted, read, read_unread


class Readings:
    """What was read so far. Callers may add to the readings they get: each gets lists of its own."""

    __slots__ = ("_read", "_unread")

    def __init__(self) -> None:
        self._read: dict[tuple[str, bytes, bool], Reading] = {}
        self._unread: dict[tuple[bytes, Unread], Reading] = {}
        """By digest: keeping the contents themselves would keep every file in memory."""

    def read(self, data: bytes, file: str, *, wanted: Wanted | None = None) -> Reading:
        """As `documents.read`; `wanted` is taken to be the same function of kinds in every call that gives one."""
        key = (file, _digest(data), wanted is None)
        known = self._read.get(key)
        if known is None:
            known = self._read[key] = read(data, file, wanted=wanted)
        return _copy(known)

    def read_unread(self, data: bytes, unread: Unread) -> Reading:
        """As `documents.read_unread`."""
        key = (_digest(data), unread)
        known = self._unread.get(key)
        if known is None:
            known = self._unread[key] = read_unread(data, unread)
        return _copy(known)


def _digest(data: bytes) -> bytes:
    from hashlib import blake2b

    return blake2b(data, digest_size=16).digest()


def _copy(known: Reading) -> Reading:
    copy = Reading(known.form)
    copy.documents = [*known.documents]
    copy.problems = [*known.problems]
    copy.unread = [*known.unread]
    return copy
