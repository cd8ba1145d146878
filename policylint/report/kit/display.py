"""Text for a terminal: its width, what would disturb it, its colours."""

from __future__ import annotations

TAB = 4
_ANSI = {"error": "1;31", "warning": "1;33", "note": "1;36", "strong": "1", "faint": "2", "frame": "1;34"}
_BIDI = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)))


def printable(text: str) -> str:
    """The text without what could move a terminal's cursor, colour it or turn its direction: manifests are not trusted.

    Such characters become U+FFFD, one for one, so that columns stay; tabs stay, see `spread`.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join("\ufffd" if _disturbs(char) else char for char in text)


def one_line(text: str) -> str:
    """The same for texts that must not hold tabs and line breaks either; both become spaces."""
    return printable(" ".join(text.split()) if not text.isprintable() else text)


def inert(text: str) -> str:
    """The text with no line that GitHub's runner takes for a workflow command.

    The runner looks for `##[` anywhere in a line, and for `::` after white space (`ActionCommandManager` of
    actions/runner). The one is escaped as JSON escapes, so that a part of JSON still says the same.
    """
    text = text.replace("##[", "#\\u0023[")
    if "::" not in text:
        return text
    lines = text.splitlines(keepends=True)
    return "".join(line.replace("::", ": :", 1) if line.lstrip().startswith("::") else line for line in lines)


def _disturbs(char: str) -> bool:
    return (char < " " and char != "\t") or "\x7f" <= char <= "\x9f" or char in _BIDI or "\ud800" <= char <= "\udfff"


def width(text: str) -> int:
    """Columns of a terminal that a text takes: East Asian wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        2 if east_asian_width(char) in "WF" else 0 if category(char) in ("Mn", "Me", "Cf") else 1 for char in text
    )


def spread(text: str) -> str:
    """A line with each tab as four spaces."""
    return text.replace("\t", " " * TAB)


def wrapped(text: str, room: int) -> list[str]:
    """A text in lines of at most `room` columns, broken at spaces; a longer word has a line for itself."""
    lines: list[str] = []
    current = ""
    for word in text.split(" "):
        longer = f"{current} {word}" if current else word
        if current and width(longer) > room:
            lines.append(current)
            current = word
        else:
            current = longer
    lines.append(current)
    return lines


def plain(text: str) -> str:
    """A text without the colours that Paint added."""
    if "\x1b" not in text:
        return text
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Paint:
    """Adds colours where they are wanted; the text is the same without."""

    __slots__ = ("_on",)

    def __init__(self, on: bool) -> None:
        self._on = on

    def __call__(self, style: str, text: str) -> str:
        """The text in the style of `error`, `warning`, `note`, `strong`, `faint` or `frame` (line numbers, rulers)."""
        return f"\x1b[{_ANSI[style]}m{text}\x1b[0m" if self._on and text else text
