"""Bytes to plain dicts with positions, by the rules of Kubernetes' own YAML reader. Knows nothing of kinds.

`read` turns one file into a `Reading`. Importing this package does not import a YAML parser; the first `read` does.
"""

from __future__ import annotations

from policylint.documents.position import Document, Pointer, Position
from policylint.documents.problem import MAX_BYTES, MAX_DEPTH, MAX_NODES, Problem, Reading, Unread
from policylint.documents.reading import loading, read, read_unread

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_NODES",
    "Document",
    "Pointer",
    "Position",
    "Problem",
    "Reading",
    "Unread",
    "loading",
    "read",
    "read_unread",
]
