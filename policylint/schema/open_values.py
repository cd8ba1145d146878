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
    body = {name: value for name, value in resource.body.items() if name not in _OF_OTHERS}
    if not any(_variables(body)):
        return None
    found = (_structures(known.schema, body, ()) for known in schemas.of(resource))
    kind = resource.key[:2]
    fields = [*found, _structures(types_of(*kind), body, ()), _shapes(resource)]
    return next((pointer for each in fields for pointer in each), None)


def _variables(value: Any) -> Iterator[str]:
    """Yield the texts in a value that are variables as a whole, or hold one."""
    if isinstance(value, str):
        if is_symbolic(value):
            yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _variables(inner)


def _structures(schema: Any, value: Any, pointer: Pointer) -> Iterator[Pointer]:
    """Yield the places of variables where a schema has a list or an object, and no text."""
    schema = mapping(schema)
    if isinstance(value, str):
        if schema.get("type") in ("array", "object") and is_symbolic(value):
            yield pointer
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _structures(schema.get("items"), item, (*pointer, number))
    elif isinstance(value, dict):
        fields: Mapping[str, Any] = mapping(schema.get("properties"))
        for name, inner in value.items():
            below = fields.get(name, schema.get("additionalProperties"))
            if isinstance(below, Mapping):
                yield from _structures(below, inner, (*pointer, name))


def _shapes(resource: Resource) -> Iterator[Pointer]:
    """Yield the places of variables where a network policy has a list or an object."""
    return (pointer for pointer, value in shaped_fields(resource) if isinstance(value, str) and is_symbolic(value))
