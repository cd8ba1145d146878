"""Find where an unknown field belongs: fields that YAML's indentation put one or two levels too high or too low."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.schema.checker import Checker, without_nulls

_DEEPEST = 2
"""The most levels that a field is looked for below what stands beside it."""


def belonging(schema: Mapping[str, Any], body: Any, pointer: Pointer) -> Pointer:
    """Return the one place for which a field was meant, by its name and the form of its value; () where none is.

    It is in what stands beside the field (the field is indented too little), or in what the field is in (too much).
    """
    name, levels = str(pointer[-1]), _levels(schema, body, pointer[:-1])
    if levels is None:
        return ()
    *above, (place, holder_schema, holder) = levels
    written = holder[name]
    beside = list(_below(holder_schema, holder, name, written, place, holder))
    certain = [found for found, is_spelt_out in beside if is_spelt_out] or [found for found, _ in beside]
    if len(certain) == 1:
        return certain[0]
    for place, outer_schema, outer in reversed(above[1:]):  # the object itself has the same few fields always
        if isinstance(outer, dict) and _takes(outer_schema, outer, name, written):
            return (*place, name)
    return ()


def _levels(
    schema: Mapping[str, Any], body: Any, pointer: Pointer
) -> list[tuple[Pointer, Mapping[str, Any], Any]] | None:
    """Return the places on the way down to a mapping, each with its schema and value; None where a schema has none."""
    levels: list[tuple[Pointer, Mapping[str, Any], Any]] = [((), schema, body)]
    for depth, step in enumerate(pointer):
        extra = schema.get("additionalProperties")
        inner = schema.get("items") if isinstance(step, int) else schema.get("properties", {}).get(step, extra)
        if not isinstance(inner, Mapping):
            return None
        schema, body = inner, body[step]
        levels.append((pointer[: depth + 1], schema, body))
    return levels if isinstance(body, dict) else None


def _below(
    schema: Mapping[str, Any],
    holder: Any,
    name: str,
    written: Any,
    place: Pointer,
    beside: Collection[str],
    level: int = 1,
) -> Iterator[tuple[Pointer, bool]]:
    """Yield the places below a mapping's fields that take a field, and whether all fields on the way are written."""
    for field, inner in schema.get("properties", {}).items():
        if field == name or (level == 1 and field not in beside):
            continue
        below, at = (holder or {}).get(field), (*place, field)
        if isinstance(below, list) and below and isinstance(inner.get("items"), Mapping):
            inner, at, below = inner["items"], (*at, len(below) - 1), below[-1]
        if below is not None and not isinstance(below, dict):
            continue
        if _takes(inner, below or {}, name, written):
            yield (*at, name), field in beside
        elif level < _DEEPEST:
            yield from _below(inner, below, name, written, at, beside, level + 1)


def _takes(schema: Mapping[str, Any], holder: Mapping[str, Any], name: str, written: Any) -> bool:
    """Return whether a mapping has no such field yet, and its schema one that a value fits."""
    field = schema.get("properties", {}).get(name)
    if field is None or name in holder:
        return False
    return written is None or Checker(field).is_valid(without_nulls(written, field))
