"""Find where a node of a YAML text ends, and how it is written, which positions alone do not tell.

libyaml reads the text again, when a rule needs to know about quotes or an edit about the end of a token.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from policylint.documents.chunks import line_breaks, split
from policylint.documents.events import binding
from policylint.namedtuple import NamedTuple


class Token(NamedTuple):
    """One node as written; lines and columns are 0-based, `end` is after its last character.

    Args:
        form: `scalar`, `mapping`, `sequence` or `alias`.
        style: of a scalar: "" (plain), a quote, `|` or `>`; of a collection `block` or `flow`.
        value: the text of a scalar as YAML reads it, before it is resolved.
        decorated: whether an anchor or a tag stands before it.
    """

    start: tuple[int, int]
    end: tuple[int, int]
    form: str
    style: str
    value: str = ""
    decorated: bool = False


def token_at(text: str, line: int, column: int, *, collection: bool = False) -> Token | None:
    """Return the node that starts at a position (1-based); None where the text has none there.

    Args:
        collection: whether to return the block mapping rather than its first key, as both start at the same place.
    """
    position = (line - 1, column - 1)
    data = text.encode("utf-8", "replace")
    for chunk in split(data):
        part = data[chunk.start : chunk.end]
        if chunk.line <= position[0] <= chunk.line + line_breaks(data, chunk.start, chunk.end):
            token = _in_chunk(part, (position[0] - chunk.line, position[1]), collection)
            if token is not None:
                start, end = token.start, token.end
                return token._replace(start=(start[0] + chunk.line, start[1]), end=(end[0] + chunk.line, end[1]))
    return None


def plain_scalars(text: str, words: Collection[str]) -> dict[tuple[int, int], str]:
    """Return where a text has some words without quotes, as values or keys: line and column (1-based), and the word.

    It is read once, however many there are; what follows an error in it is not.
    """
    events = binding()
    data = text.encode("utf-8", "replace")
    found: dict[tuple[int, int], str] = {}
    for chunk in split(data):
        parser = events.parser(data[chunk.start : chunk.end])
        try:
            while True:
                event = parser.get_event()
                kind = event.__class__
                if kind is events.stream_end:
                    break
                if kind is events.scalar and not event.style and event.value in words:
                    line, column = _mark(event.start_mark)
                    found.setdefault((chunk.line + line + 1, column + 1), event.value)
        except events.error:
            continue
    return found


def _in_chunk(part: bytes, position: tuple[int, int], collection: bool) -> Token | None:
    events = binding()
    parser = events.parser(part)
    token: Token | None = None
    depth = 0
    last = (0, 0)
    try:
        while True:
            event = parser.get_event()
            kind = event.__class__
            if kind is events.stream_end:
                return None
            opens = kind is events.mapping_start or kind is events.sequence_start
            closes = kind is events.mapping_end or kind is events.sequence_end
            if token is not None:
                depth += opens - closes
                if kind is events.scalar or kind is events.alias or (closes and _is_written(event)):
                    last = _mark(event.end_mark)
                if depth == 0:
                    return token._replace(end=max(last, token.end))
                continue
            if _mark(event.start_mark) != position or not (opens or kind is events.scalar or kind is events.alias):
                continue
            if opens and (collection or event.flow_style):
                form = "mapping" if kind is events.mapping_start else "sequence"
                style = "flow" if event.flow_style else "block"
                token = Token(position, position, form, style, decorated=bool(event.anchor or event.tag))
                depth = 1
            elif kind is events.alias:
                return Token(position, _mark(event.end_mark), "alias", "")
            elif kind is events.scalar and not collection:
                end = _mark(event.end_mark)
                decorated = bool(event.anchor or event.tag)
                return Token(position, end, "scalar", event.style or "", event.value, decorated)
    except events.error:
        return None


def _is_written(event: Any) -> bool:
    """Return whether a collection ends with a bracket: a block collection ends where the next token starts."""
    return _mark(event.start_mark) != _mark(event.end_mark)


def _mark(mark: Any) -> tuple[int, int]:
    return mark.line, mark.column
