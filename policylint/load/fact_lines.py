"""The facts of a file as one line of JSON, and back: for packs, and for what one process hands to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final

from policylint.documents import MAX_DEPTH, FileReading
from policylint.documents.serialize import is_deep, plain, restored
from policylint.load.facts import Facts, Kinds

_NONE: Final[Kinds] = frozenset()
_NO_OPENINGS: Final = bytes(set(range(256)) - set(b"[{"))


@cache
def encoder() -> Callable[[Any], str]:
    """JSON in as few bytes as can be. `JSONEncoder.encode` makes the encoder in C anew for every value, which takes as
    long as encoding most of them; where there is none (PyPy) it does the work itself."""
    from json import encoder as json_encoder

    made = json_encoder.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))
    make: Any = getattr(json_encoder, "c_make_encoder", None)
    if make is None:
        return made.encode
    encode = make(None, made.default, json_encoder.encode_basestring, None, ":", ",", False, False, True)
    return lambda value: "".join(encode(value, 0))


def content_of(facts: Facts) -> list[Any] | None:
    """What a line says of a file; None where that would be too much. What most files lack is left out together."""
    reading = FileReading(facts.form)
    reading.documents, reading.problems = [*facts.documents], [*facts.problems]
    reading.unread = [*facts.unread]
    content = plain(reading)
    if content is None:
        return None
    rest = [
        facts.idle,
        facts.with_variables,
        facts.mentioning,
        sorted(facts.variable_maps),
        sorted(facts.cluster_scoped),
        [[number, sorted(names)] for number, names in facts.names.items()],
    ]
    return [content, sorted(facts.referred), rest if any(rest) else []]


def decoded(lines: Sequence[bytes]) -> list[Any]:
    """The values of lines, decoded together, none of them deeper than `is_deep` allows and all of them UTF-8.

    Raises:
        ValueError: one of them is none of that.
    """
    from json import loads

    joined = b"[%b]" % b",".join(lines)
    try:
        values = loads(joined.decode())
        if b"\\" in joined and (b"\\ud" in joined or b"\\uD" in joined):  # half a character cannot be written again
            encoder()(values).encode()
    except RecursionError as error:
        raise ValueError from error
    if type(values) is not list or len(values) != len(lines):
        raise ValueError
    for line, value in zip(lines, values, strict=True):
        if len(line.translate(None, _NO_OPENINGS)) > MAX_DEPTH and is_deep(value):
            raise ValueError("too deep")
    return values


def facts_from(contents: Sequence[Any], files: Sequence[str]) -> list[Facts]:
    """The facts that `content_of` made lines of, of files as shown, one each.

    Raises:
        TypeError, ValueError: one of them is none.
    """
    if not contents:
        return []
    readings, referred, rest = zip(*contents, strict=True)
    return [
        _facts(each, _kinds(kinds), *more)
        if more
        else Facts(each.form, each.documents, 0, each.problems, each.unread, referred=_kinds(kinds) if kinds else _NONE)
        for each, kinds, more in zip(restored(readings, files), referred, rest, strict=True)
    ]


def _facts(
    reading: FileReading,
    referred: Kinds,
    idle: Any,
    with_variables: Any,
    mentioning: Any,
    variable_maps: Any,
    cluster_scoped: Any,
    names: Any,
) -> Facts:
    if type(idle) is not int or type(with_variables) is not bool or type(mentioning) is not bool:
        raise TypeError
    return Facts(
        reading.form,
        reading.documents,
        idle,
        reading.problems,
        reading.unread,
        with_variables,
        mentioning,
        _texts(variable_maps),
        _kinds(cluster_scoped),
        referred,
        dict(map(_names, names)),
    )


def _names(value: Any) -> tuple[int, frozenset[str]]:
    number, names = value
    if type(number) is not int:
        raise TypeError
    return number, _texts(names)


def _texts(value: Iterable[Any]) -> frozenset[str]:
    found = frozenset(value)
    if not all(type(each) is str for each in found):
        raise TypeError
    return found


def _kinds(value: Iterable[Any]) -> Kinds:
    if not value:
        return _NONE
    found = frozenset((group, kind) for group, kind in value)
    if not all(type(group) is str and type(kind) is str for group, kind in found):
        raise TypeError
    return found
