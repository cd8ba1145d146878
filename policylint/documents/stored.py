"""Readings as plain JSON values and back, for the cache: values, packed positions, problems, documents left unread.

What comes back is checked as if anybody could have written it: it has the shape of a reading, or there is none.
"""

from __future__ import annotations

from array import array
from base64 import b64encode
from typing import Any, Final

from policylint.documents.position import Document, Packed
from policylint.documents.problem import (
    ALIAS_BOMB,
    BINARY,
    DUPLICATE_KEY,
    MAX_BYTES,
    MAX_DEPTH,
    NOT_UTF8,
    TOO_DEEP,
    TOO_LARGE,
    YAML_SYNTAX,
    Problem,
    Reading,
    Unread,
)
from policylint.documents.reading import Again

MAX_WEIGHT: Final = 4 * 1024 * 1024
"""Of a document with aliases, written out: more is not kept."""
_CODES: Final = frozenset((YAML_SYNTAX, DUPLICATE_KEY, TOO_LARGE, TOO_DEEP, ALIAS_BOMB, NOT_UTF8, BINARY))
_FORMS: Final = frozenset(("yaml", "json", "empty", "helm-template", "jinja", "terraform-template", "erb-template"))


class StoredError(ValueError):
    """Something that is no reading."""


def plain(reading: Reading) -> list[Any] | None:
    """A reading as lists, strings and numbers; None where it would be too much to keep."""
    parts: list[str] = []
    documents = []
    for each in reading.documents:
        again = each.again
        if again is None:
            documents.append([each.number, each.base, each.line, each.value, _packed(*each.positions())])
            continue
        if not isinstance(again, Again) or not _is_light(each.value):
            return None
        part = again.part.decode()
        if not parts or parts[-1] != part:
            parts.append(part)
        documents.append([each.number, each.base, each.line, each.value, "", len(parts) - 1, again.number])
    problems = [[each.code, each.message, each.line, each.column, each.pointer] for each in reading.problems]
    unread = [[each.line, each.api_version, each.kind, each.start, each.end, each.number] for each in reading.unread]
    return [reading.form, documents, problems, unread, parts]


def restored(value: Any, file: str) -> Reading:
    """The reading that `plain` made, of a file as shown.

    Raises:
        StoredError: it is none.
    """
    try:
        form, documents, problems, unread, parts = value
        if form not in _FORMS:
            raise StoredError
        reading = Reading(form)
        contents = [_text(each).encode() for each in parts]
        reading.documents = [_document(each, file, contents) for each in documents]
        reading.problems = [_problem(each, file) for each in problems]
        reading.unread = [_unread(each, file) for each in unread]
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise StoredError from error
    return reading


def is_deep(value: Any) -> bool:
    """Whether data are nested deeper than `read` would have allowed."""
    level = [value]
    for _ in range(MAX_DEPTH + 2):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _packed(lines: array[int], columns: array[int]) -> str:
    """Two bytes a number, or four behind an `!`."""
    mark = "" if lines.typecode == "H" else "!"
    return mark + b64encode(lines.tobytes() + columns.tobytes()).decode()


def _document(value: Any, file: str, parts: list[bytes]) -> Document:
    number, base, line, content, packed, *rest = value
    if content is None:
        raise StoredError
    base, line = _number(base), _number(line)
    if not rest:
        return Document(file, _number(number), content, base, Packed(_text(packed), line), None)
    part, index = rest
    again = Again(parts[_number(part)], _number(index))
    return Document(file, _number(number), content, base, None, None, again, line - base - 1)


def _problem(value: Any, file: str) -> Problem:
    code, message, line, column, pointer = value
    if code not in _CODES:
        raise StoredError
    steps = None if pointer is None else tuple(each if type(each) is int else _text(each) for each in pointer)
    return Problem(code, _text(message), file, _number(line), _number(column), steps)


def _unread(value: Any, file: str) -> Unread:
    line, api_version, kind, start, end, number = value
    if not _number(start) <= _number(end):
        raise StoredError
    return Unread(file, _number(line), _text(api_version), _text(kind), start, end, _number(number))


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= 2 * MAX_BYTES:
        raise StoredError
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise StoredError
    return value


def _is_light(value: Any) -> bool:
    """Whether a document stays within MAX_WEIGHT once all that its aliases stand for is written out."""
    weight = 0
    pending = [value]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            weight += sum(map(len, here)) + 4 * len(here)
            pending += here.values()
        elif isinstance(here, list):
            pending += here
            weight += 2 * len(here)
        else:
            weight += len(here) + 2 if isinstance(here, str) else 8
        if weight > MAX_WEIGHT:
            return False
    return True
