"""Readings as plain JSON values and back, for the cache: values, packed positions, problems, documents left unread.

What comes back is checked as if anybody could have written it: it has the shape of a reading, or there is none.
"""

from __future__ import annotations

import sys
from array import array
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, repeat
from operator import le
from typing import Any, Final, TypeVar

from policylint.documents.position import Document
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


_MOST: Final = 2 * MAX_BYTES  # of any number


_Made = TypeVar("_Made")


class StoredError(ValueError):
    """Something that is no reading."""


def plain(reading: Reading) -> list[Any] | None:
    """A reading as lists, strings and numbers; None where it would be too much to keep."""
    parts: list[str] = []
    documents = []
    for each in reading.documents:
        again = each.again
        where: str | list[int]
        if again is None:
            where = _packed(*each.positions())
        else:
            if not isinstance(again, Again) or not _is_light(each.value):
                return None
            part = again.part.decode()
            if not parts or parts[-1] != part:
                parts.append(part)
            where = [len(parts) - 1, again.number]
        documents.append([each.number, each.base, each.line, each.value, where])
    unread = [[each.line, each.api_version, each.kind, each.start, each.end, each.number] for each in reading.unread]
    problems = [[each.code, each.message, each.line, each.column, each.pointer] for each in reading.problems]
    return [reading.form, documents, unread, [problems, parts] if problems or parts else []]


def restored(values: Sequence[Any], files: Sequence[str]) -> list[Reading]:
    """The readings that `plain` made, of files as shown, one each.

    What all of them have in common is checked column by column: a check for each number would cost more than the rest.

    Raises:
        StoredError: one of them is none.
    """
    try:
        forms, documents, unread, rest = _columns(values, 4)
        _lists(documents, unread, rest)
        if not _FORMS.issuperset(forms):
            raise StoredError
        readings = list(map(Reading, forms))
        parts: dict[int, list[bytes]] = {}
        for at, each in enumerate(rest):
            if each:
                problems, texts = each
                parts[at] = [text_in(text).encode() for text in texts]
                readings[at].problems = [_problem(problem, files[at]) for problem in problems]
        for reading, these, those in zip(
            readings, _documents(documents, files, parts), _unread(unread, files), strict=True
        ):
            reading.documents, reading.unread = these, those
    except (TypeError, ValueError, IndexError, KeyError, OverflowError) as error:
        raise StoredError from error
    return readings


def is_deep(value: Any) -> bool:
    """Whether what `plain` made is nested deeper than a document that `read` allows, in the lists around it."""
    level = [value]
    for _ in range(MAX_DEPTH + 6):
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
    """One byte a number, two behind a `:`, or four behind an `!`."""
    packed = lines.tobytes() + columns.tobytes()
    if lines.itemsize == 1:
        return b64encode(packed).decode()
    if lines.itemsize != 2:
        return "!" + b64encode(packed).decode()
    little = sys.byteorder == "little"
    if packed[little::2].strip(b"\0"):
        return ":" + b64encode(packed).decode()
    return b64encode(packed[not little :: 2]).decode()


def _documents(
    rows: Sequence[list[Any]], files: Sequence[str], parts: Mapping[int, list[bytes]]
) -> Iterator[list[Document]]:
    """Of every file its documents; `parts` are the texts of those that are irregular, by the number of the file."""
    numbers, bases, lines, values, places = _columns([*chain.from_iterable(rows)], 5)
    _numbers(numbers, bases, lines)
    if type(None) in set(map(type, values)):
        raise StoredError
    if _are(str, places):
        nothing = repeat(None)
        return _dealt(map(Document, _files(files, rows), numbers, values, bases, places, nothing, nothing, lines), rows)
    found = []
    ats = chain.from_iterable(map(repeat, range(len(rows)), map(len, rows)))
    for at, number, base, line, value, place in zip(ats, numbers, bases, lines, values, places, strict=True):
        if type(place) is str:
            found.append(Document(files[at], number, value, base, place, None, None, line))
        else:
            part, index = place
            again = Again(parts[at][number_in(part)], number_in(index))
            found.append(Document(files[at], number, value, base, None, None, again, line - base - 1))
    return _dealt(iter(found), rows)


def _unread(rows: Sequence[list[Any]], files: Sequence[str]) -> Iterator[list[Unread]]:
    """Of every file what was left unread in it."""
    columns = _columns([*chain.from_iterable(rows)], 6)
    lines, api_versions, kinds, starts, ends, numbers = columns
    _numbers(lines, starts, ends, numbers)
    if not _are(str, api_versions, kinds) or not all(map(le, starts, ends)):
        raise StoredError
    # As Unread(*each) would, without a call of Python's own for each
    return _dealt(map(partial(tuple.__new__, Unread), zip(_files(files, rows), *columns, strict=True)), rows)


def _files(files: Sequence[str], rows: Sequence[list[Any]]) -> Iterator[str]:
    """Of every row the file that it is of."""
    return chain.from_iterable(map(repeat, files, map(len, rows)))


def _dealt(made: Iterator[_Made], rows: Sequence[list[Any]]) -> Iterator[list[_Made]]:
    """What was made of rows, for every file as many as it has."""
    return (list(islice(made, count)) if count else [] for count in map(len, rows))


def _columns(rows: Sequence[Any], count: int) -> Sequence[tuple[Any, ...]]:
    """Rows that are lists of so many, turned."""
    if not _are(list, rows):
        raise StoredError
    if not rows:
        return [()] * count
    columns = [*zip(*rows, strict=True)]
    if len(columns) != count:
        raise StoredError
    return columns


def _lists(*columns: Iterable[Any]) -> None:
    if not _are(list, *columns):
        raise StoredError


def _are(kind: type, *columns: Iterable[Any]) -> bool:
    """Whether all that stands in the columns is of that very type."""
    return set(map(type, chain(*columns))) <= {kind}


def _numbers(*columns: Sequence[Any]) -> None:
    if not _are(int, *columns) or any(each and (min(each) < 0 or max(each) > _MOST) for each in columns):
        raise StoredError


def _problem(value: Any, file: str) -> Problem:
    code, message, line, column, pointer = value
    if code not in _CODES:
        raise StoredError
    steps = None if pointer is None else tuple(each if type(each) is int else text_in(each) for each in pointer)
    return Problem(code, text_in(message), file, number_in(line), number_in(column), steps)


def number_in(value: Any) -> int:
    """The value, which must be a number that a file can have: of a line, of documents.

    Raises:
        StoredError: it is none.
    """
    if type(value) is not int or not 0 <= value <= _MOST:
        raise StoredError
    return value


def text_in(value: Any) -> str:
    """The value, which must be a text.

    Raises:
        StoredError: it is none.
    """
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
