"""The name that git gives a content, wherever the content was found."""

from __future__ import annotations

from functools import cache
from typing import Any


def blob_id(data: bytes) -> str:
    """Return the id of a git blob with these bytes, as `git hash-object --no-filters` prints it."""
    digest: str = _sha1()(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()
    return digest


@cache
def _sha1() -> Any:
    """Import hashlib when the first content is hashed: most runs hash none."""
    from hashlib import sha1

    return sha1
