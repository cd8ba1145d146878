"""What surrounds a place in YAML that is being written: read from the lines, since half a line is no document yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from policylint.namedtuple import NamedTuple

_FIELD: Final = re.compile(r"^( *)((?:- +)*)(?:([\w./-]+|\"[^\"]*\"|'[^']*')\s*:(?: +|$))?(.*)$")
_ENTRY: Final = re.compile(r"^\s*([\w./-]+)\s*:\s*[\"']?([^\"']*?)[\"']?\s*$")
_COMMENT: Final = re.compile(r"(?:^|\s)#.*$")


class Surroundings(NamedTuple):
    """Where something is being written.

    Args:
        path: the fields from the top of the document to the mapping around the place; lists are passed over.
        key: the field whose value is being written; "" where a field itself is.
        prefix: what of it stands before the place.
        siblings: the other fields of the same mapping, with the values that stand on their line.
        top: the fields of the document, `metadata.name` and `metadata.namespace` among them.
    """

    path: tuple[str, ...]
    key: str
    prefix: str
    siblings: Mapping[str, str]
    top: Mapping[str, str]


class _Line(NamedTuple):
    """A line of block style: the columns of its dash and of its field."""

    dash: int
    column: int
    key: str
    value: str


def surroundings(lines: Sequence[str], line: int, column: int) -> Surroundings | None:
    """Return what surrounds a place, None in a comment.

    Args:
        line, column: of the place, from 0, in code points.
    """
    if line >= len(lines):  # after the last line break
        lines, line = [*lines, ""], len(lines)
    head = lines[line][:column]
    if _COMMENT.search(head):
        return None
    first = next((at for at in range(line, 0, -1) if lines[at].startswith("---")), 0)
    last = next((at for at in range(line + 1, len(lines)) if lines[at].startswith("---")), len(lines))
    top = _top(lines[first:last])
    own = _parsed(head)
    if "{" in own.value and own.value.count("{") > own.value.count("}"):
        inside, siblings = own.value.rpartition("{")[2], {}
        for part in (inside.rpartition(",")[0] + lines[line][column:].partition("}")[0]).split(","):
            if entry := _ENTRY.match(part):
                siblings[entry[1]] = entry[2]
        path = (*_above(lines, first, line, own)[0], *([own.key] if own.key else []))
        key, colon, prefix = inside.rpartition(",")[2].partition(":")
        written = prefix if colon else key
        return Surroundings(path, key.strip() if colon else "", written.lstrip(" \"'"), siblings, top)
    path, siblings = _above(lines, first, line, own)
    siblings |= _below(lines, line, last, own)
    return Surroundings(path, own.key, own.value.lstrip("\"'"), siblings, top)


def _parsed(line: str) -> _Line:
    found = _FIELD.match(line)
    assert found is not None
    spaces, dashes, key, value = len(found[1]), found[2], found[3] or "", found[4]
    return _Line(spaces + len(dashes.rstrip()) - 1 if dashes else -1, spaces + len(dashes), key.strip("\"'"), value)


def _above(lines: Sequence[str], first: int, line: int, own: _Line) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the fields around a line from the top, and those before it in its own mapping."""
    path: list[str] = []
    siblings: dict[str, str] = {}
    column, dash, is_own = own.column, own.dash, True
    for at in range(line - 1, first - 1, -1):
        if not lines[at].strip() or lines[at].startswith("---") or not lines[at].strip().strip("- "):
            continue
        above = _parsed(_COMMENT.sub("", lines[at]))
        if dash >= 0:  # in an entry of a list: what holds the list comes next, other entries are passed over
            holds = above.dash < 0 or above.dash < dash
            if holds and above.key and above.column <= dash:
                path.insert(0, above.key)
                column, dash, is_own = above.column, above.dash, False
        elif above.column == column and above.key:
            if is_own:
                siblings[above.key] = above.value.strip().strip("\"'")
            dash = above.dash
        elif above.column < column and above.key:
            path.insert(0, above.key)
            column, dash, is_own = above.column, above.dash, False
    return tuple(path), siblings


def _below(lines: Sequence[str], line: int, last: int, own: _Line) -> dict[str, str]:
    """Return the fields after a line in its own mapping."""
    siblings: dict[str, str] = {}
    for at in range(line + 1, last):
        below = _parsed(_COMMENT.sub("", lines[at]))
        if not lines[at].strip():
            continue
        if below.column < own.column or (below.dash >= 0 and below.column <= own.column):
            break
        if below.column == own.column and below.key:
            siblings[below.key] = below.value.strip().strip("\"'")
    return siblings


def _top(lines: Sequence[str]) -> dict[str, str]:
    """Return the fields of a document that say what it is."""
    top: dict[str, str] = {}
    section = ""
    for each in lines:
        found = _parsed(_COMMENT.sub("", each))
        if not found.key or found.dash >= 0:
            continue
        if found.column == 0:
            section = found.key
            top[section] = found.value.strip().strip("\"'")
            if entries := re.fullmatch(r"\{(.*)\}", found.value.strip()):
                for part in entries[1].split(","):
                    if entry := _ENTRY.match(part):
                        top[f"{section}.{entry[1]}"] = entry[2]
        elif section == "metadata" and found.column in (2, 4):
            top.setdefault(f"{section}.{found.key}", found.value.strip().strip("\"'"))
    return top
