"""Suppressions in comments: `name: checkout  # policylint: ignore[GWP201] JWT is checked by the app`.

A trailing comment covers its line. One on a line of its own covers the next node and all under it; at the beginning of
a document, before or after its `---`, it covers the document. Users cannot guess which (Checkmarx/kics#6768,
yamllint#343), so both places mean the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from policylint.model import Location, Spot
from policylint.model.suppression import Suppression
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.triage.expiry import expiry

MARK = Pattern(r"#[ \t]*policylint:[ \t]*ignore\b(?:\[([^\]]*)\])?")
_BORDER = Pattern(r"(?:---|\.\.\.)(?:[ \t]|$)")
_COMMENT = Pattern(r"(?:^|[ \t])#")


Range = tuple[tuple[int, int], tuple[int, int]]
"""Line and column of a scalar's first character, and of the one behind its last."""


class Span(NamedTuple):
    """A range of lines, first and last included, 1-based."""

    first: int
    last: int


def suppressions(file: str, lines: Sequence[str]) -> list[Suppression]:
    """Return the suppressions in the comments of a file; text inside a scalar that looks like one does not count."""
    in_comments: list[Suppression] = []
    scalars: list[Range] = []
    layout: Layout | None = None
    for number, line in enumerate(lines, 1):
        marks = list(MARK.finditer(line)) if "policylint" in line else []
        ends = [*(later.start() for later in marks[1:]), len(line)]
        for mark, end in zip(marks, ends, strict=False):
            if layout is None:
                scalars = texts(lines)
                layout = Layout(lines)
            if is_inside(scalars, (number, mark.start())) or not _begins_comment(line, mark.start()):
                continue
            rules = tuple(name.strip() for name in (mark[1] or "").split(",") if name.strip())
            reason, expires = expiry(line[mark.end() : end].strip(" \t:-–—"))
            span = layout.covered(number, line[: mark.start()])
            place = Location(Spot(file, number, mark.start() + 1))
            in_comments.append(Suppression("comment", rules, reason, place, expires, "", file, span.first, span.last))
    return in_comments


def _begins_comment(line: str, column: int) -> bool:
    """Return whether a `#` begins a comment: behind white space only, or inside a comment."""
    return column == 0 or line[column - 1] in " \t" or bool(_COMMENT.search(line, 0, column))


def is_inside(scalars: Sequence[Range], place: tuple[int, int]) -> bool:
    """Return whether a place lies inside one of the scalars of a file, as `texts` returns them."""
    before = bisect_left(scalars, (place,)) - 1
    return before >= 0 and place < scalars[before][1]


def texts(lines: Sequence[str]) -> list[Range]:
    """Return the ranges of the scalars of a file, sorted; those without a character are left out."""
    return sorted((start, stop) for start, stop in _texts(lines) if start < stop)


def _texts(lines: Sequence[str]) -> Iterator[Range]:
    """Yield the range of each scalar of a file: line and column of its first character, and of the one behind its last.

    Of a block scalar that is the text below its header, since a comment may stand behind the header. Scalars after a
    syntax error in a document are not known.
    """
    from policylint.documents.chunks import split
    from policylint.documents.events import binding

    events = binding()
    scalar: Any = events.scalar
    data = "\n".join(lines).encode("utf-8", "replace")
    for chunk in split(data):
        parser = events.parser(data[chunk.start : chunk.end])
        try:
            while True:
                event: Any = parser.get_event()
                if event is None or event.__class__ is events.stream_end:
                    break
                if isinstance(event, scalar):
                    start, end = event.start_mark, event.end_mark
                    begin = (chunk.line + start.line + 1, start.column)
                    if event.style in ("|", ">"):
                        begin = (begin[0] + 1, -1)
                    yield begin, (chunk.line + end.line + 1, end.column)
        except events.error:
            continue


class Layout:
    """The lines of a file: which hold content, where its documents begin, and where its nodes end."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._content = [number for number, line in enumerate(lines, 1) if _is_content(line)]
        self._borders = [number for number in self._content if _BORDER.match(lines[number - 1])]
        self._ends: dict[int, int] = {}

    def covered(self, number: int, before: str) -> Span:
        """Return the lines that a comment on a line covers; `before` is the text before it."""
        stripped = before.strip()
        if _BORDER.match(before):
            return self._document(number)
        if stripped and not stripped.startswith("#"):
            entry = set(stripped) <= {"-", " "}
            return Span(number, self._end_of_node(number)) if entry else Span(number, number)
        position = bisect_right(self._content, number)
        if position == len(self._content):
            return Span(number, number)
        node = self._content[position]
        if _BORDER.match(self._lines[node - 1]):
            return self._document(node)
        previous = bisect_left(self._content, number) - 1
        line = self._lines[self._content[previous] - 1] if previous >= 0 else "---"
        if _BORDER.match(line) or line.startswith("%"):
            return Span(number, self._document(node).last)
        return Span(number, self._end_of_node(node))

    def _document(self, number: int) -> Span:
        """Return the lines from one line to the end of its document."""
        position = bisect_right(self._borders, number)
        return Span(number, (self._borders[position] if position < len(self._borders) else len(self._lines) + 1) - 1)

    def _end_of_node(self, number: int) -> int:
        """Return the last line of the key or list entry that begins on a line, by its indentation."""
        if number not in self._ends:
            self._ends[number] = self._search_end(number)
        return self._ends[number]

    def _search_end(self, number: int) -> int:
        first = self._lines[number - 1]
        indent = len(first) - len(first.lstrip(" "))
        is_entry = first[indent : indent + 2] in ("- ", "-")
        last = number
        for position in range(bisect_right(self._content, number), len(self._content)):
            line = self._lines[self._content[position] - 1]
            deep = len(line) - len(line.lstrip(" "))
            beside = deep == indent and not _BORDER.match(line)
            closing = beside and line[indent] in "]}"
            items = beside and not is_entry and (line[indent : indent + 2] in ("- ", "-"))
            if not (deep > indent or closing or items):
                break
            last = self._content[position]
        return last


def _is_content(line: str) -> bool:
    """Return whether a line holds more than white space and a comment."""
    bare = line.lstrip()
    return bool(bare) and bare[0] != "#"
