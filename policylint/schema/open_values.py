"""Fields in which a variable stands for a list or an object: `hosts: ${HOSTS}` is not known, which is not none.

Terraform fills in `jsonencode(…)` so, Flux what a ConfigMap says, scripts whatever they replace. Text in the place of
text is known to be one, and `is_symbolic` says of it that it is open; of these the whole structure is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.catalog.network_fields import shaped_fields
from policylint.documents import Pointer
from policylint.model import Resource, is_symbolic, mapping
from policylint.schema.built_in import types_of
from policylint.schema.known import Schemas

_OF_OTHERS = frozenset({"metadata", "status"})
"""Of which controllers do not read how requests go."""


def open_field(resource: Resource, schemas: Schemas) -> Pointer | None:
    """Return the first field of an object in which a variable stands for a list or an object; None without one."""
    return next(open_fields(resource, schemas), None)


def open_fields(resource: Resource, schemas: Schemas, *, choices: bool = False) -> Iterator[Pointer]:
    """Yield the fields of an object in which a variable stands for a list or an object.

    Args:
        choices: whether those are meant, too, that say which of several things is done: one of listed words, a boolean.
    """
    body = {name: value for name, value in resource.body.items() if name not in _OF_OTHERS}
    if not any(_variables(body)):
        return
    for known in schemas.of(resource):
        yield from _structures(known.schema, body, (), choices=choices)
    yield from _structures(types_of(*resource.key[:2]), body, (), choices=choices)
    yield from _shapes(resource)


def _variables(value: Any) -> Iterator[str]:
    """Yield the texts in a value that are variables as a whole, or hold one."""
    if isinstance(value, str):
        if is_symbolic(value):
            yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _variables(inner)


def _structures(schema: Any, value: Any, pointer: Pointer, *, choices: bool) -> Iterator[Pointer]:
    """Yield the places of variables where a schema has a list or an object, and no text, or a choice."""
    schema = mapping(schema)
    if isinstance(value, str):
        is_choice = choices and (schema.get("type") == "boolean" or ("enum" in schema and value not in schema["enum"]))
        if (is_choice or schema.get("type") in ("array", "object")) and is_symbolic(value):
            yield pointer
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _structures(schema.get("items"), item, (*pointer, number), choices=choices)
    elif isinstance(value, dict):
        fields: Mapping[str, Any] = mapping(schema.get("properties"))
        for name, inner in value.items():
            below = fields.get(name, schema.get("additionalProperties"))
            if isinstance(below, Mapping):
                yield from _structures(below, inner, (*pointer, name), choices=choices)


def _shapes(resource: Resource) -> Iterator[Pointer]:
    """Yield the places of variables where a network policy has a list or an object."""
    return (pointer for pointer, value in shaped_fields(resource) if isinstance(value, str) and is_symbolic(value))
