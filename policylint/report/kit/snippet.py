"""An excerpt of a file with carets under one token, as compilers print it."""

from __future__ import annotations

from policylint.namedtuple import NamedTuple
from policylint.report.kit.display import Paint, printable, spread, width, wrapped
from policylint.report.kit.token import token_end

_ENTRY = 2
"""How many lines above the token may be shown to begin the list entry that it stands in."""
_LEAST_LABEL = 30
"""A label gets at least so many columns beside the carets, else it moves below them."""


class Frame(NamedTuple):
    """What the excerpts of one finding share: the width of the line numbers, that of the page, the colours."""

    digits: int
    page: int
    paint: Paint

    def ruler(self) -> str:
        return self.paint("frame", f"{' ' * self.digits} |")

    def numbered(self, number: int, line: str) -> str:
        return f"{self.paint('frame', f'{number:>{self.digits}} |')} {line}".rstrip()

    def below(self, line: str) -> str:
        return f"{self.ruler()} {line}"


def excerpt(
    frame: Frame, lines: list[str], line: int, column: int, mark: str, style: str, label: str, *, context: bool
) -> list[str]:
    """The lines from an opening ruler to the carets and their label; [] when the file is not available.

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
    first = _entry(lines, line) if context else line
    offset = _offset(text, column, frame)
    shown = [frame.ruler()]
    shown += [frame.numbered(number, _cut(lines[number - 1], offset, frame)) for number in range(first, line + 1)]
    before = width(spread(printable(text[offset : column - 1]))) + (2 if offset else 0)
    token = width(spread(printable(text[column - 1 : token_end(text, column) - 1])))
    room = frame.page - frame.digits - 3
    marks = mark * max(1, min(token, room - before))
    shown += [frame.below(each) for each in _labelled(frame.paint, style, " " * before, marks, label, room)]
    return shown


def _entry(lines: list[str], line: int) -> int:
    """The line that begins the list entry around a token (`- group: …`), if it is at most `_ENTRY` lines above."""
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
    """How many characters to leave out on the left so that a token far to the right can be seen."""
    room = frame.page - frame.digits - 3
    before = text[: column - 1]
    if width(spread(printable(before))) + 20 <= room:
        return 0
    return max(0, column - 1 - room // 3)


def _cut(text: str, offset: int, frame: Frame) -> str:
    """A line of the file as it fits the page, with `…` where something is left out."""
    shown = spread(printable(text[offset : offset + 1000]))
    if offset:
        shown = f"… {shown}"
    room = frame.page - frame.digits - 3
    if width(shown) <= room:
        return shown
    while width(shown) > room - 2:
        shown = shown[: max(0, len(shown) - max(1, (width(shown) - room) // 2))]
    return f"{shown} …"


def _labelled(paint: Paint, style: str, indent: str, marks: str, label: str, room: int) -> list[str]:
    """The carets with the label beside them, or below where there is no room."""
    if not label:
        return [indent + paint(style, marks)]
    beside = room - len(indent) - len(marks) - 1
    if width(label) <= beside or beside >= _LEAST_LABEL:
        first, *rest = wrapped(label, beside)
        hanging = " " * (len(indent) + len(marks) + 1)
        return [indent + paint(style, f"{marks} {first}"), *(hanging + paint(style, each) for each in rest)]
    below = wrapped(label, room - 2)
    return [indent + paint(style, marks), *("  " + paint(style, each) for each in below)]
