"""What the API server adds to an object: the fields with a default that it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping
from policylint.namedtuple import NamedTuple


class DefaultedField(NamedTuple):
    """One field that the API server fills in.

    Args:
        pointer: of the mapping that lacks it.
        listed: whether the mapping is in a list, of which others than the API server compare the whole.
    """

    pointer: Pointer
    field: str
    value: Any
    listed: bool


def left_out(
    schema: Mapping[str, Any], value: Any, pointer: Pointer = (), *, listed: bool = False
) -> Iterator[DefaultedField]:
    """Yield the fields that an object leaves out and that have a default, in the order of the object."""
    if isinstance(value, list):
        items = mapping(schema.get("items"))
        for index, entry in enumerate(value if items else ()):
            yield from left_out(items, entry, (*pointer, index), listed=True)
    if not isinstance(value, dict):
        return
    if values := mapping(schema.get("additionalProperties")):
        for name, inner in value.items():
            yield from left_out(values, inner, (*pointer, name), listed=listed)
    for field, inner in (schema.get("properties") or {}).items():
        if field in value:
            yield from left_out(inner, value[field], (*pointer, field), listed=listed)
        elif "default" in inner:
            yield DefaultedField(pointer, field, inner["default"], listed)
