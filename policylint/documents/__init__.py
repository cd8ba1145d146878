"""Turn bytes into plain dicts with positions, by the rules of Kubernetes' own YAML reader. Kinds are unknown here.

`read` turns one file into a `FileReading`. Importing this package does not import a YAML parser; the first `read` does.
"""

from __future__ import annotations

from policylint.documents.position import Document, Pointer, Position
from policylint.documents.problem import (
    ALIAS_BOMB,
    ENCRYPTED,
    MAX_ALIASED,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    FileReading,
    Problem,
    Unread,
)
from policylint.documents.reading import loading, read, read_unread

__all__ = [
    "ALIAS_BOMB",
    "ENCRYPTED",
    "MAX_ALIASED",
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_NODES",
    "Document",
    "FileReading",
    "Pointer",
    "Position",
    "Problem",
    "Unread",
    "loading",
    "read",
    "read_unread",
]
