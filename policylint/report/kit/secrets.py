"""Lines of files without the values of Secrets, for excerpts: reports are read by more people than manifests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

_SECRET: Final = re.compile(r"""["']?kind["']?\s*:\s*["']?Secret\b""")
_DATA: Final = re.compile(r"""(?:^|[\s{,"'-])(?:data|stringData)["']?\s*:""")
_KEY: Final = re.compile(r"""\s*(?:- )?(?:"[^"]*"|'[^']*'|[^\s:#"'{\[][^:]*)\s*:(?=\s|$)""")


def without_secrets(lines: list[str]) -> list[str]:
    """Return the lines of a file with `…` for the values of Secrets; keys stay, so that a place can be shown.

    Whatever stands behind or below `data:` or `stringData:` counts as a value, in all objects of a document that holds
    a Secret.
    """
    if not any(map(_SECRET.search, lines)):
        return lines
    starts = [number for number, text in enumerate(lines) if number == 0 or text.startswith("---")]
    kept: list[str] = []
    for start, end in pairwise([*starts, len(lines)]):
        document = lines[start:end]
        kept += _masked(document) if any(map(_SECRET.search, document)) else document
    return kept


def _masked(document: list[str]) -> Iterator[str]:
    """Yield the lines of a document that holds a Secret."""
    below: int | None = None
    for text in document:
        indent = len(text) - len(text.lstrip(" "))
        if below is not None and (indent > below or not text.strip()):
            key = _KEY.match(text)
            yield f"{key[0]} …" if key else f"{text[:indent]}…" if text.strip() else text
            continue
        data = _DATA.search(text)
        below = indent if data else None
        yield f"{text[: data.end()]} …" if data and text[data.end() :].strip() else text
