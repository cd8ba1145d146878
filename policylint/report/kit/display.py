"""Text for a terminal: its width, what would disturb it, its colours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from policylint.patterns import Pattern

if TYPE_CHECKING:
    from policylint.model import Location

_TAB = 4
_NARROWEST = 8
"""The columns that a cell keeps, however narrow the terminal."""
_COMBINING: Final = "\u0300"
"""The first character that takes no column, but for the soft hyphen; wide ones come later."""
_SOFT_HYPHEN: Final = "\u00ad"
_ANSI = {"error": "1;31", "warning": "1;33", "note": "1;36", "strong": "1", "faint": "2", "frame": "1;34"}
UNSEEN: Final = Pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters that act instead of being seen: controls, directions, spaces of no width, separators of lines, tags.

Tabs and line feeds are not among them.
"""


def printable(text: str) -> str:
    """Replace what could move a terminal's cursor, colour it, turn its direction or hide: manifests are not trusted.

    Such characters become U+FFFD, one for one, so that columns stay; tabs stay, see `spread`.
    """
    if text.isascii() and text.isprintable():
        return text
    return UNSEEN.sub("\ufffd", text).replace("\n", "\ufffd")


def one_line(text: str) -> str:
    """Make a text printable on one line: tabs and line breaks become spaces; credentials do not leave."""
    from policylint.report.kit.secrets import masked

    text = masked(text)
    return printable(" ".join(text.split()) if not text.isprintable() else text)


def inert(text: str) -> str:
    """Return the text without any line that a CI system takes for a command.

    GitHub's runner looks for `##[` anywhere in a line, and for `::` after white space (`ActionCommandManager` of
    actions/runner); the agent of Azure Pipelines for `##vso[` (its docs, "Logging commands"), TeamCity for
    `##teamcity[` ("Service Messages"). These are escaped as JSON escapes, so that a part of JSON still says the same.
    """
    for command in ("[", "vso[", "teamcity["):
        text = text.replace(f"##{command}", f"#\\u0023{command}")
    if "::" not in text:
        return text
    lines = text.splitlines(keepends=True)
    return "".join(line.replace("::", ": :", 1) if line.lstrip().startswith("::") else line for line in lines)


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes: East Asian wide characters two, combining ones none."""
    if max(text, default="") < _COMBINING and _SOFT_HYPHEN not in text:
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        2 if east_asian_width(char) in "WF" else 0 if category(char) in ("Mn", "Me", "Cf") else 1 for char in text
    )


def spread(text: str) -> str:
    """Replace each tab by four spaces."""
    return text.replace("\t", " " * _TAB)


def wrapped(text: str, room: int) -> list[str]:
    """Break a text at spaces into lines of at most `room` columns; a longer word has a line to itself."""
    lines: list[str] = []
    current = ""
    for word in text.split(" "):
        longer = f"{current} {word}" if current else word
        if current and width(plain(longer)) > room:
            lines.append(current)
            current = word
        else:
            current = longer
    lines.append(current)
    return lines


def hanging(text: str, room: int, indent: str) -> list[str]:
    """Wrap a text to `room` columns and indent all lines but the first."""
    first, *rest = wrapped(text, room)
    return [first, *(indent + line for line in rest)]


def padded(text: str, size: int) -> str:
    """Fill a text up with spaces to a number of columns."""
    return text + " " * (size - width(text))


def aligned(rows: Sequence[Sequence[str]], most: int | None = None) -> list[list[str]]:
    """Fill up the cells of each column to the width of its widest, but for the last column.

    Args:
        most: wider cells widen no column: they stand out.
    """
    columns = list(zip(*rows, strict=True))[:-1]
    sizes = [max(size for size in map(width, column) if most is None or size <= most) for column in columns]
    return [[*map(padded, row, sizes), row[-1]] for row in rows]


def fitted(rows: Sequence[Sequence[str]], room: int) -> list[list[list[str]]]:
    """Return the lines of each row of a table that fits into `room` columns, two spaces between its cells.

    The widest columns give way, down to what their words need: a cell goes on in the next line. Where that is not
    enough, they give way further, and a word that is longer than its column is broken.
    """
    natural = [max(map(width, column)) for column in zip(*rows, strict=True)]
    words = [
        max((width(word) for cell in column for word in cell.split()), default=0) for column in zip(*rows, strict=True)
    ]
    sizes = natural
    for floors in (words, [0] * len(natural)):
        most = max(natural, default=0)
        while most >= _NARROWEST:
            sizes = [min(size, max(most, floor)) for size, floor in zip(natural, floors, strict=True)]
            if sum(sizes) + 2 * (len(natural) - 1) <= room:
                break
            most -= 1
        else:
            continue
        break
    tables = []
    for row in rows:
        cells = [list(_broken(cell, size)) for cell, size in zip(row, sizes, strict=True)]
        lines = [[cell[at] if at < len(cell) else "" for cell in cells] for at in range(max(map(len, cells)))]
        tables.append([[*map(padded, line, sizes)] for line in lines])
    return tables


def _broken(text: str, size: int) -> Iterator[str]:
    """Yield the lines of a cell, none wider than its column."""
    for line in wrapped(text, size):
        rest = line
        while width(rest) > size:
            end = next(at for at in range(len(rest), 0, -1) if at == 1 or width(rest[:at]) <= size)
            yield rest[:end]
            rest = rest[end:]
        yield rest


def place(location: Location) -> str:
    """Return file and line: `clusters/prod/shop/cors.yaml:14`."""
    return f"{location.file}:{location.at()[0]}"


def short_place(location: Location) -> str:
    """Return the last name of the file and the line: `cors.yaml:14`."""
    return place(location).rpartition("/")[2]


def plain(text: str) -> str:
    """Return a text without the colours that Paint added."""
    return text if "\x1b" not in text else re.sub(r"\x1b\[[0-9;]*m", "", text)


class Paint:
    """A painter that adds colours where they are wanted, and knows how wide its terminal is.

    Args:
        room: the columns that a table may have, 0 for any: what is piped into other programs keeps its lines.
    """

    __slots__ = ("_on", "room")

    def __init__(self, on: bool, room: int = 0) -> None:
        self._on = on
        self.room = room

    def table(self, rows: Sequence[Sequence[str]], most: int | None = None, indent: int = 0) -> list[list[list[str]]]:
        """Return the lines of each row of a table, their cells filled up."""
        fits = fitted(rows, self.room - indent) if self.room and rows else []
        return fits or [[line] for line in aligned(rows, most)]

    def fit(self, piece: str) -> str:
        """Break the lines of a text that are wider than the terminal; what goes on is indented further."""
        if not self.room or width(piece) <= self.room:
            return piece
        return "\n".join(self._hung(line) for line in piece.split("\n"))

    def _hung(self, line: str) -> str:
        if width(plain(line)) <= self.room:
            return line
        indent = " " * (len(line) - len(line.lstrip(" ")))
        words = wrapped(line.lstrip(" "), self.room - len(indent) - 4)
        return "\n".join(indent + ("    " if number else "") + part for number, part in enumerate(words))

    def __call__(self, style: str, text: str) -> str:
        """Style a text as `error`, `warning`, `note`, `strong`, `faint` or `frame` (line numbers, rulers)."""
        return f"\x1b[{_ANSI[style]}m{text}\x1b[0m" if self._on and text else text
