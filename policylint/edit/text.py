"""Turn a symbolic `Change` into edits of the text: the span to replace, and its replacement."""

from __future__ import annotations

from collections.abc import Callable

from policylint.documents.chunks import line_breaks, split
from policylint.documents.scalars import resolve_plain
from policylint.documents.tokens import Token, token_at
from policylint.model.fix import Change
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_PLAIN = Pattern(r"[A-Za-z0-9_/][A-Za-z0-9_./-]*")
"""Scalars that need no quotes anywhere, if they are read as text."""
EXOTIC_BREAKS = ("\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\ufeff")
"""Line breaks for some readers and not for others (and a byte order mark in the middle): such files are left
alone."""


class Edit(NamedTuple):
    """Replaces the text between two positions by `text`; 1-based, columns in code points, the end excluded."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


def edit_of(change: Change, text: str) -> list[Edit]:
    """Return the edits that make a change in the text of its file; none where it cannot be made exactly.

    `text` is the whole file, with its own line ends.
    """
    if any(exotic_break in text for exotic_break in EXOTIC_BREAKS):
        return []
    return _ACTIONS[change.action](change, text)


def line_end(text: str) -> str:
    """Return the line end that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def _edit(change: Change, start: tuple[int, int], end: tuple[int, int], text: str) -> Edit:
    return Edit(change.location.file, start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1, text)


def _scalar(change: Change, text: str) -> Token | None:
    """Return the token of a change, if it is a scalar on one line with the value that the change replaces."""
    token = token_at(text, *change.location.at())
    if token is None or token.form != "scalar" or token.value != change.old or token.decorated:
        return None
    return token if token.style in ("", "'", '"') and token.start[0] == token.end[0] else None


def _set(change: Change, text: str) -> list[Edit]:
    token = _scalar(change, text)
    if token is None:
        return []
    return [_edit(change, token.start, token.end, _written(change.new, token.style))]


def _number(change: Change, text: str) -> list[Edit]:
    token = _scalar(change, text)
    return [] if token is None or token.style else [_edit(change, token.start, token.end, change.new)]


def _quote(change: Change, text: str) -> list[Edit]:
    token = _scalar(change, text)
    if token is None or token.style:
        return []
    return [_edit(change, token.start, token.end, _written(change.new, '"'))]


def _written(value: str, style: str) -> str:
    """Return a scalar in the style of the one it replaces, in quotes where plain text would be read otherwise."""
    if style == "'":
        return "'" + value.replace("'", "''") + "'"
    if not style and _PLAIN.fullmatch(value) and resolve_plain(value) == value:
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _list(change: Change, text: str) -> list[Edit]:
    key = _scalar(change, text)
    place = change.location._replace(key=False).at()
    value = token_at(text, *place) or token_at(text, *place, collection=True)
    if value is not None and value.form == "scalar":
        value = token_at(text, *place, collection=True)
    if key is None or value is None or value.form != "mapping" or value.decorated:
        return []
    renamed = _edit(change, key.start, key.end, _written(change.new, key.style))
    if value.style == "flow":
        return [renamed, _edit(change, value.start, value.start, "["), _edit(change, value.end, value.end, "]")]
    if value.start[0] == key.start[0]:
        return []
    edits = [renamed, _edit(change, value.start, value.start, "- ")]
    lines = text.splitlines()
    for number in range(value.start[0] + 1, min(value.end[0] + 1, len(lines))):  # one that ends the file ends below it
        if lines[number].strip():
            edits.append(_edit(change, (number, 0), (number, 0), "  "))
    return edits


def _insert(change: Change, text: str) -> list[Edit]:
    token = token_at(text, *change.location.at(), collection=True)
    if token is None or token.form != "mapping" or token.decorated:
        return []
    new = change.new if change.action == "entry" else _written(change.new, "")
    entry = f"{change.old}: {new}"
    if token.style == "flow":
        inside = (token.start[0], token.start[1] + 1)
        line = text.splitlines()[inside[0]]
        empty = line[inside[1] :].lstrip()[:1] == "}"
        return [_edit(change, inside, inside, entry if empty else f"{entry}, ")]
    return [_edit(change, token.start, token.start, f"{entry}{line_end(text)}{' ' * token.start[1]}")]


def _document(change: Change, text: str) -> list[Edit]:
    """Append a document: before the `---` of the next one, or at the end of the file."""
    line = change.location.at()[0] - 1
    data = text.encode()
    for chunk in split(data):
        part = data[chunk.start : chunk.end]
        last = chunk.line + line_breaks(data, chunk.start, chunk.end)
        ends_here = chunk.end == len(data)
        if not chunk.line <= line <= last or (line == last and not ends_here and part.endswith(b"\n")):
            continue
        if part.removeprefix(b"---").lstrip()[:1] in (b"{", b"["):
            return []  # JSON: no second document
        newline = line_end(text)
        appended = f"---{newline}" + change.new.replace("\n", newline)
        if ends_here and not part.endswith(b"\n"):
            column = len(text.splitlines()[-1])
            return [_edit(change, (last, column), (last, column), newline + appended)]
        return [_edit(change, (last, 0), (last, 0), appended)]
    return []


_ACTIONS: dict[str, Callable[[Change, str], list[Edit]]] = {
    "set": _set,
    "number": _number,
    "quote": _quote,
    "rename": _set,
    "list": _list,
    "insert": _insert,
    "entry": _insert,
    "document": _document,
}
