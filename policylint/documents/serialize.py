"""Turn readings into plain JSON values and back, for the cache.

The values are checked when read back as if anybody could have written them: without the shape of a reading they are
refused.
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
    FileReading,
    Problem,
    Unread,
)
from policylint.documents.reading import Rereader

MAX_WEIGHT: Final = 4 * 1024 * 1024
"""The largest document with aliases that is kept, in characters once the aliases are expanded."""
_CODES: Final = frozenset((YAML_SYNTAX, DUPLICATE_KEY, TOO_LARGE, TOO_DEEP, ALIAS_BOMB, NOT_UTF8, BINARY))
_FORMS: Final = frozenset(("yaml", "json", "empty", "helm-template", "jinja", "terraform-template", "erb-template"))


_MOST: Final = 2 * MAX_BYTES  # of any number


_Made = TypeVar("_Made")


class StoredError(ValueError):
    """A stored value that is not what it should be."""


def plain(reading: FileReading) -> list[Any] | None:
    """Return a reading as lists, strings and numbers; None where it would be too large to keep."""
    parts: list[str] = []
    documents = []
    for document in reading.documents:
        reread = document.reread
        positions: str | list[int]
        if reread is None:
            positions = _packed(*document.positions())
        else:
            if not isinstance(reread, Rereader) or not _is_light(document.value):
                return None
            part = reread.part.decode()
            if not parts or parts[-1] != part:
                parts.append(part)
            positions = [len(parts) - 1, reread.number]
        documents.append([document.number, document.base, document.line, document.value, positions])
    unread = [
        [skipped.line, skipped.api_version, skipped.kind, skipped.start, skipped.end, skipped.number]
        for skipped in reading.unread
    ]
    problems = [
        [problem.code, problem.message, problem.line, problem.column, problem.pointer] for problem in reading.problems
    ]
    return [reading.form, documents, unread, [problems, parts] if problems or parts else []]


def restored(values: Sequence[Any], files: Sequence[str]) -> list[FileReading]:
    """Return the readings that `plain` made, one for each of the files as shown.

    The values are checked column by column: a check for each number would cost more than the rest.

    Raises:
        StoredError: one of them has not the shape of a reading.
    """
    try:
        forms, documents, unread, rest = _columns(values, 4)
        _lists(documents, unread, rest)
        if not _FORMS.issuperset(forms):
            raise StoredError
        readings = list(map(FileReading, forms))
        parts: dict[int, list[bytes]] = {}
        for index, row in enumerate(rest):
            if row:
                problems, texts = row
                parts[index] = [text_in(text).encode() for text in texts]
                readings[index].problems = [_problem(problem, files[index]) for problem in problems]
        for reading, file_documents, file_unread in zip(
            readings, _documents(documents, files, parts), _unread(unread, files), strict=True
        ):
            reading.documents, reading.unread = file_documents, file_unread
    except (TypeError, ValueError, IndexError, KeyError, OverflowError) as error:
        raise StoredError from error
    return readings


def is_deep(value: Any) -> bool:
    """Return whether the lists of `plain` are nested deeper than a document that `read` allows would make them."""
    level = [value]
    for _ in range(MAX_DEPTH + 6):
        level = [
            inner
            for container in level
            for inner in (container.values() if isinstance(container, dict) else container)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _packed(lines: array[int], columns: array[int]) -> str:
    """Return positions as text: one byte a number, two after a `:`, or four after a `!`."""
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
    """Yield the documents of every file; `parts` are the texts of irregular ones, by the index of the file."""
    numbers, bases, lines, values, places = _columns([*chain.from_iterable(rows)], 5)
    _numbers(numbers, bases, lines)
    if type(None) in set(map(type, values)):
        raise StoredError
    if _all_of(str, places):
        nothing = repeat(None)
        return _per_file(
            map(Document, _files(files, rows), numbers, values, bases, places, nothing, nothing, lines), rows
        )
    documents = []
    file_indexes = chain.from_iterable(map(repeat, range(len(rows)), map(len, rows)))
    for file_index, number, base, line, value, place in zip(
        file_indexes, numbers, bases, lines, values, places, strict=True
    ):
        if type(place) is str:
            documents.append(Document(files[file_index], number, value, base, place, None, None, line))
        else:
            part, index = place
            reread = Rereader(parts[file_index][number_in(part)], number_in(index))
            documents.append(Document(files[file_index], number, value, base, None, None, reread, line - base - 1))
    return _per_file(iter(documents), rows)


def _unread(rows: Sequence[list[Any]], files: Sequence[str]) -> Iterator[list[Unread]]:
    """Yield the unread documents of every file."""
    columns = _columns([*chain.from_iterable(rows)], 6)
    lines, api_versions, kinds, starts, ends, numbers = columns
    _numbers(lines, starts, ends, numbers)
    if not _all_of(str, api_versions, kinds) or not all(map(le, starts, ends)):
        raise StoredError
    # As Unread(*each) would, without a call of Python's own for each
    return _per_file(map(partial(tuple.__new__, Unread), zip(_files(files, rows), *columns, strict=True)), rows)


def _files(files: Sequence[str], rows: Sequence[list[Any]]) -> Iterator[str]:
    """Yield the file of every row."""
    return chain.from_iterable(map(repeat, files, map(len, rows)))


def _per_file(values: Iterator[_Made], rows: Sequence[list[Any]]) -> Iterator[list[_Made]]:
    """Yield the values of every file: as many as it has rows."""
    return (list(islice(values, count)) if count else [] for count in map(len, rows))


def _columns(rows: Sequence[Any], count: int) -> Sequence[tuple[Any, ...]]:
    """Return rows, lists of `count` values each, as columns.

    Raises:
        StoredError: they are not such lists.
    """
    if not _all_of(list, rows):
        raise StoredError
    if not rows:
        return [()] * count
    columns = [*zip(*rows, strict=True)]
    if len(columns) != count:
        raise StoredError
    return columns


def _lists(*columns: Iterable[Any]) -> None:
    if not _all_of(list, *columns):
        raise StoredError


def _all_of(type_: type, *columns: Iterable[Any]) -> bool:
    """Return whether all values in the columns are of exactly this type."""
    return set(map(type, chain(*columns))) <= {type_}


def _numbers(*columns: Sequence[Any]) -> None:
    if not _all_of(int, *columns) or any(column and (min(column) < 0 or max(column) > _MOST) for column in columns):
        raise StoredError


def _problem(value: Any, file: str) -> Problem:
    code, message, line, column, pointer = value
    if code not in _CODES:
        raise StoredError
    steps = None if pointer is None else tuple(step if type(step) is int else text_in(step) for step in pointer)
    return Problem(code, text_in(message), file, number_in(line), number_in(column), steps)


def number_in(value: Any) -> int:
    """Return the value if it is a number that a file can have: of a line, of documents.

    Raises:
        StoredError: it is not.
    """
    if type(value) is not int or not 0 <= value <= _MOST:
        raise StoredError
    return value


def text_in(value: Any) -> str:
    """Return the value if it is text.

    Raises:
        StoredError: it is not.
    """
    if type(value) is not str:
        raise StoredError
    return value


def _is_light(value: Any) -> bool:
    """Return whether a document stays within MAX_WEIGHT with its aliases expanded."""
    weight = 0
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            weight += sum(map(len, node)) + 4 * len(node)
            pending += node.values()
        elif isinstance(node, list):
            pending += node
            weight += 2 * len(node)
        else:
            weight += len(node) + 2 if isinstance(node, str) else 8
        if weight > MAX_WEIGHT:
            return False
    return True
