"""Routes whose weights a controller of releases writes: what files say of them holds between releases alone.

Which fields name these routes is data: schemas/weights.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from policylint.catalog.content import places
from policylint.documents import read
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text, value_at
from policylint.model.shipped import shipped_data


def weighed_by(world: World) -> Mapping[ResourceKey, Resource]:
    """Return the objects that write the weights of routes, by the routes, whether or not these were seen."""
    return world.once(_weighed)


def manager_of(writer: Resource) -> str:
    """Return as which manager of fields (server-side apply) a writer of weights is known to the API server."""
    return text(mapping(mapping(_known().get(writer.key.group)).get(writer.key.kind)).get("manager"))


def makes_routes(writer: Resource) -> bool:
    """Return whether a writer of weights makes the whole objects, which nobody else is to deploy."""
    return mapping(mapping(_known().get(writer.key.group)).get(writer.key.kind)).get("makes") is True


@cache
def _known() -> Mapping[str, Any]:
    return mapping(read(shipped_data("schemas", "weights.yaml"), "weights.yaml").documents[0].value)


def _weighed(world: World) -> Mapping[ResourceKey, Resource]:
    found: dict[ResourceKey, Resource] = {}
    for group, kinds in _known().items():
        for kind, entry in mapping(kinds).items():
            for writer in world.of_kind(group, kind):
                for key in _routes(writer, entry):
                    found.setdefault(key, writer)
    return found


def _routes(writer: Resource, entry: Mapping[str, Any]) -> Iterator[ResourceKey]:
    for field in map(mapping, sequence(entry.get("routes"))):
        named = text(field.get("unless"))
        if named and value_at(writer.spec, tuple(named.split("."))):
            continue
        kind, _, group = text(field.get("kind")).partition(".")
        for pointer, name in places(writer.spec, text(field.get("path")), ()):
            stated = mapping(value_at(writer.spec, pointer[:-1])).get(text(field.get("home")))
            if isinstance(name, str):
                yield ResourceKey(group, kind, text(stated) or writer.key.namespace, name)
