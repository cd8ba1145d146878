"""The objects that ExtensionRef filters of a route name: whether they are there.

A filter that cannot be resolved must not be skipped: its requests get an error (HTTPRouteFilter.ExtensionRef).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import GATEWAY_GROUP, Resolution, Resource, ResourceKey, World, mapping, sequence, text
from policylint.namedtuple import NamedTuple


class FilterExtension(NamedTuple):
    """One ExtensionRef.

    Args:
        pointer: of `extensionRef` below the route.
        wanted: the object that it names.
    """

    pointer: Pointer
    wanted: ResourceKey
    resolution: Resolution


def extensions(world: World, route: Resource) -> Iterator[FilterExtension]:
    """Yield the extensions of a route's rules and of their backends, in written order."""
    for filters, pointer in route.once(_lists):
        yield from extensions_of(world, route, filters, pointer)


def _lists(route: Resource) -> list[tuple[Any, Pointer]]:
    """Return the lists of filters of a route's rules and of their backends, with their places."""
    found: list[tuple[Any, Pointer]] = []
    for index, rule in enumerate(map(mapping, sequence(route.spec.get("rules")))):
        place: Pointer = ("spec", "rules", index)
        found.append((rule.get("filters"), (*place, "filters")))
        for number, backend in enumerate(map(mapping, sequence(rule.get("backendRefs")))):
            found.append((backend.get("filters"), (*place, "backendRefs", number, "filters")))
    return [(filters, pointer) for filters, pointer in found if filters]


def extensions_of(world: World, route: Resource, filters: Any, pointer: Pointer) -> Iterator[FilterExtension]:
    """Yield the extensions that a list of filters at a pointer names."""
    for position, route_filter in enumerate(map(mapping, sequence(filters))):
        key = named_extension(route, route_filter)
        if key is not None:
            yield FilterExtension((*pointer, position, "extensionRef"), key, world.resolve_inner(key))


def named_extension(route: Resource, route_filter: Mapping[str, Any]) -> ResourceKey | None:
    """Return the object that a filter names by an ExtensionRef, None where it names none.

    It is in the route's namespace (LocalObjectReference); rules that a door is read as may name others.
    """
    reference = mapping(route_filter.get("extensionRef"))
    name = text(reference.get("name"))
    if text(route_filter.get("type")) != "ExtensionRef" or not name:
        return None
    elsewhere = "" if route.key.group == GATEWAY_GROUP else text(reference.get("namespace"))
    namespace = elsewhere or route.key.namespace
    return ResourceKey(text(reference.get("group")), text(reference.get("kind")), namespace, name)
