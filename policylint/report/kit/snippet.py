"""An excerpt of a file with carets under one token, as compilers print it."""

from __future__ import annotations

from policylint.namedtuple import NamedTuple
from policylint.report.kit.display import Paint, printable, spread, width, wrapped
from policylint.report.kit.token import token_end

_ENTRY = 2
"""How many lines above the token may be shown to begin the list entry that it stands in."""
_LEAST_LABEL = 30
"""The columns that a label needs beside the carets; with fewer it moves below them."""


class Frame(NamedTuple):
    """The layout that the excerpts of one finding share.

    Args:
        digits: width of the line numbers.
        page: width of the page.
    """

    digits: int
    page: int
    paint: Paint

    @property
    def room(self) -> int:
        """Columns beside the line numbers."""
        return self.page - self.digits - 3

    def ruler(self) -> str:
        return self.paint("frame", f"{' ' * self.digits} |")

    def numbered(self, number: int, line: str) -> str:
        return f"{self.paint('frame', f'{number:>{self.digits}} |')} {line}".rstrip()

    def below(self, line: str) -> str:
        return f"{self.ruler()} {line}"


_MOST_NARROW = 4_096
"""Characters beyond which what stands before a token is not measured: it has no room, however narrow it is."""


def excerpt(
    frame: Frame, lines: list[str], line: int, column: int, mark: str, style: str, label: str, *, context: bool
) -> list[str]:
    """Return the lines from an opening ruler to the carets and their label; [] when the file is not available.

    Args:
        lines: the file.
        line, column: the token, 1-based.
        mark: `^` or `-`.
        style: of the marks, see Paint.
        label: what stands beside the marks, may be empty.
        context: also show the lines from the beginning of the list entry, where that is near.
    """
    if not 1 <= line <= len(lines):
        return []
    text = lines[line - 1]
    column = min(column, len(text) + 1)
    first = _entry(lines, line) if context else line
    offset = _offset(text, column, frame)
    numbered = [frame.numbered(number, _cut(lines[number - 1], offset, frame)) for number in range(first, line + 1)]
    before = width(spread(printable(text[offset : column - 1]))) + (2 if offset else 0)
    token = width(spread(printable(text[column - 1 : token_end(text, column) - 1])))
    marks = mark * max(1, min(token, frame.room - before))
    marked = _labelled(frame, style, " " * before, marks, label)
    return [frame.ruler(), *numbered, *map(frame.below, marked)]


def _entry(lines: list[str], line: int) -> int:
    """Return the line that begins the list entry around a token (`- group: …`), at most `_ENTRY` lines above."""
    text = lines[line - 1]
    indent = len(text) - len(text.lstrip())
    for number in range(line, max(0, line - _ENTRY - 1), -1):
        above = lines[number - 1]
        bare = above.lstrip()
        if bare.startswith("- ") and len(above) - len(bare) + 2 <= max(indent, 2) and (number == line or indent):
            return number
        if not bare or len(above) - len(bare) < indent:
            break
    return line


def _offset(text: str, column: int, frame: Frame) -> int:
    """Return how many characters to leave out on the left so that a token far to the right can be seen."""
    if column <= _MOST_NARROW and width(spread(printable(text[: column - 1]))) + 20 <= frame.room:
        return 0
    return max(0, column - 1 - frame.room // 3)


def _cut(text: str, offset: int, frame: Frame) -> str:
    """Cut a line of the file to the page, with `…` where something is left out."""
    shown = spread(printable(text[offset : offset + 1000]))
    head = "… " if offset else ""
    if width(shown) + len(head) <= frame.room:
        return f"{head}{shown}"
    room = max(0, frame.room - len(head) - len(" …"))
    if shown.isascii():
        shown = shown[:room]
    while (excess := width(shown) - room) > 0:
        shown = shown[: len(shown) - max(1, excess // 2)]
    return f"{head}{shown} …"


def _labelled(frame: Frame, style: str, indent: str, marks: str, label: str) -> list[str]:
    """Return the carets with the label beside them, or below where there is no room."""
    carets = indent + frame.paint(style, marks)
    if not label:
        return [carets]
    beside = frame.room - len(indent) - len(marks) - 1
    if width(label) <= beside or beside >= _LEAST_LABEL:
        first, *rest = wrapped(label, beside)
        below = " " * (len(indent) + len(marks) + 1)
        return [indent + frame.paint(style, f"{marks} {first}"), *(below + frame.paint(style, line) for line in rest)]
    return [carets, *("  " + frame.paint(style, line) for line in wrapped(label, frame.room - 2))]
