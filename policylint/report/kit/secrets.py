"""Lines of files without the values of Secrets, for excerpts: reports are read by more people than manifests."""

from __future__ import annotations

import re
from typing import Final

_SECRET: Final = re.compile(r"""["']?kind["']?\s*:\s*["']?Secret\b""")
_DATA: Final = re.compile(r"""(?:^|[\s{,"'-])(?:data|stringData)["']?\s*:""")
_KEY: Final = re.compile(r"""\s*(?:- )?(?:"[^"]*"|'[^']*'|[^\s:#"'{\[][^:]*)\s*:(?=\s|$)""")


def without_secrets(lines: list[str], line: int) -> list[str]:
    """Return the lines of a file with `…` for the values of Secrets in the document that holds a line.

    Keys stay, so that a place can be shown. Whatever stands behind or below `data:` or `stringData:` counts as a value,
    in all objects of a document that holds a Secret.

    Args:
        line: 1-based.
    """
    begin = next((number for number in range(line - 1, -1, -1) if lines[number].startswith("---")), 0)
    end = next((number for number in range(line, len(lines)) if lines[number].startswith("---")), len(lines))
    if not any(_SECRET.search(lines[number]) for number in range(begin, end)):
        return lines
    kept = list(lines)
    below: int | None = None
    for number in range(begin, end):
        text = lines[number]
        indent = len(text) - len(text.lstrip(" "))
        if below is not None and (indent > below or not text.strip()):
            key = _KEY.match(text)
            kept[number] = f"{key[0]} …" if key else f"{text[:indent]}…" if text.strip() else text
            continue
        data = _DATA.search(text)
        below = indent if data else None
        if data and text[data.end() :].strip():
            kept[number] = f"{text[: data.end()]} …"
    return kept
