"""Fields of network policies that their kinds do not have: schemas/network-policies.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from policylint.documents import Pointer, read
from policylint.model import Resource, is_symbolic, mapping, text
from policylint.model.shipped import shipped_data
from policylint.namedtuple import NamedTuple

Around = tuple[tuple[Pointer, str], ...]
"""The objects around a value, each with its shape, the outermost first."""


class StrangeField(NamedTuple):
    """A field that is none where it stands.

    Args:
        pointer: of it.
        belongs: of the object around it, at whatever distance, that has a field of its name; None without one.
        known: the fields that may stand in its place.
    """

    pointer: Pointer
    belongs: Pointer | None
    known: tuple[str, ...]


def strange_fields(policy: Resource) -> Sequence[StrangeField]:
    """Return the fields of a network policy that the API server drops; none for kinds of which the file is silent."""
    return policy.once(_strange_fields)


def _strange_fields(policy: Resource) -> Sequence[StrangeField]:
    shapes = mapping(mapping(_table().get("kinds")).get(f"{policy.key.group}/{policy.key.kind}"))
    return [
        strange
        for field, shape in shapes.items()
        for strange in _strange(policy.body.get(field), text(shape), (field,), ())
    ]


def shaped_fields(policy: Resource) -> Iterator[tuple[Pointer, Any]]:
    """Yield the fields of a network policy that are objects or lists of them, with what stands there."""
    shapes = mapping(mapping(_table().get("kinds")).get(f"{policy.key.group}/{policy.key.kind}"))
    for field, shape in shapes.items():
        yield from _shaped(policy.body.get(field), text(shape), (field,))


def _shaped(value: Any, shape: str, pointer: Pointer) -> Iterator[tuple[Pointer, Any]]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _shaped(item, shape, (*pointer, number))
        return
    yield pointer, value
    fields = mapping(mapping(_table().get("shapes")).get(shape))
    for name, inner in value.items() if isinstance(value, dict) else ():
        if fields.get(name):
            yield from _shaped(inner, text(fields[name]), (*pointer, name))


def _strange(value: Any, shape: str, pointer: Pointer, around: Around) -> Iterator[StrangeField]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strange(item, shape, (*pointer, index), around)
        return
    fields = mapping(mapping(_table().get("shapes")).get(shape))
    within = (*around, (pointer, shape))
    for name, inner in value.items() if fields and isinstance(value, dict) else ():
        if name in fields:
            yield from _strange(inner, text(fields[name]), (*pointer, name), within) if fields[name] else ()
        elif not str(name).startswith("$") and not is_symbolic(str(name)):
            yield StrangeField((*pointer, name), _holder(str(name), around), tuple(fields))


def _holder(name: str, around: Around) -> Pointer | None:
    """Return the nearest object around a field that has one of its name."""
    shapes = mapping(_table().get("shapes"))
    return next((place for place, shape in reversed(around) if name in mapping(shapes.get(shape))), None)


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    return mapping(read(shipped_data("schemas", "network-policies.yaml"), "network-policies.yaml").documents[0].value)
