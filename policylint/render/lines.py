"""The facts of a file as one line of JSON, and back: for packs, and for what one process hands to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from policylint.documents import Reading
from policylint.render.facts import Facts


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
    """What a line says of a file; None where that would be too much."""
    from policylint.documents.stored import plain

    reading = Reading(facts.form)
    reading.documents, reading.problems = [*facts.documents], [*facts.problems]
    reading.unread = [*facts.unread]
    content = plain(reading)
    return None if content is None else [content, *_plain(facts)]


def _plain(facts: Facts) -> list[Any]:
    return [
        facts.idle,
        facts.with_variables,
        facts.mentioning,
        sorted(facts.variable_maps) if facts.variable_maps else [],
        sorted(facts.cluster_scoped) if facts.cluster_scoped else [],
        sorted(facts.referred) if facts.referred else [],
        [[number, sorted(names)] for number, names in facts.names.items()] if facts.names else [],
    ]


def facts_from(reading: Reading, rest: Sequence[Any]) -> Facts:
    """The facts that `_plain` made.

    Raises:
        TypeError, ValueError: these are none.
    """
    idle, with_variables, mentioning, variable_maps, cluster_scoped, referred, names = rest
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
        _kinds(referred),
        {int(number): _texts(each) for number, each in names} if names else {},
    )


def _texts(value: Iterable[Any]) -> frozenset[str]:
    found = frozenset(value)
    if not all(type(each) is str for each in found):
        raise TypeError
    return found


def _kinds(value: Iterable[Any]) -> frozenset[tuple[str, str]]:
    if not value:
        return frozenset()
    found = frozenset((group, kind) for group, kind in value)
    if not all(type(group) is str and type(kind) is str for group, kind in found):
        raise TypeError
    return found
