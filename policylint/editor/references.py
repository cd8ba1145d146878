"""The references in an object: every mapping that names another one, by the kind it states or that its field means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from policylint.documents import Pointer
from policylint.model import Location, Resource, ResourceKey, World, mapping, sequence, text
from policylint.model.keys import GATEWAY_GROUP
from policylint.model.resource import value_at
from policylint.namedtuple import NamedTuple

MEANT: Final = {
    "parentRef": (GATEWAY_GROUP, "Gateway"),
    "parentRefs": (GATEWAY_GROUP, "Gateway"),
    "backendRef": ("", "Service"),
    "backendRefs": ("", "Service"),
    "certificateRefs": ("", "Secret"),
}
"""Field → group and kind of what it names where it states none (Gateway API v1)."""
_CLASS: Final = ("spec", "gatewayClassName")
SECTIONS: Final = ("listeners", "rules", "ports")


class NamedPlace(NamedTuple):
    """A place that names an object.

    Args:
        pointer: of the mapping, or of the name where there is no more than that.
        name: of the name.
        section: the listener, rule or port that is named with it, "" for none.
    """

    pointer: Pointer
    name: Pointer
    key: ResourceKey
    section: str = ""


def references(resource: Resource, world: World) -> Iterator[NamedPlace]:
    """Yield the references of an object to objects that are there."""
    waiting: list[tuple[Pointer, Any]] = [(("spec",), resource.spec)]
    while waiting:
        pointer, value = waiting.pop()
        if (reference := reference_at(resource, pointer, world)) is not None:
            yield reference
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        waiting += [
            ((*pointer, step), inner)
            for step, inner in items
            if isinstance(inner, (dict, list)) or (*pointer, step) == _CLASS
        ]


def reference_at(resource: Resource, pointer: Pointer, world: World) -> NamedPlace | None:
    """Return the reference that a value of an object is; None where it is none, or names what is not there."""
    value = value_at(resource.body, pointer)
    if pointer == _CLASS and isinstance(value, str):
        key = ResourceKey(GATEWAY_GROUP, "GatewayClass", "", value)
        return NamedPlace(pointer, pointer, key) if world.get(key) is not None else None
    name = text(mapping(value).get("name"))
    if not name or pointer == ("metadata",):
        return None
    field = next((step for step in reversed(pointer) if isinstance(step, str)), "")
    group, kind = MEANT.get(field, (None, ""))
    kind = text(value.get("kind")) or kind
    if isinstance(version := value.get("apiVersion"), str):
        group = version.rpartition("/")[0]
    elif "group" in value:
        group = text(value["group"])
    elif value.get("kind") and kind != MEANT.get(field, ("", ""))[1]:
        group = None  # not stated: whichever has such an object
    if not kind:
        return None
    namespace = text(value.get("namespace")) or resource.key.namespace
    named = _existing(world, group, kind, namespace, name)
    return None if named is None else NamedPlace(pointer, (*pointer, "name"), named, text(value.get("sectionName")))


def _existing(world: World, group: str | None, kind: str, namespace: str, name: str) -> ResourceKey | None:
    """Return the object of a name that is there, in the namespace or of the cluster; any group's where it is None."""
    groups = {key.group for key in world.resources if key.kind == kind} if group is None else {group}
    for place in (namespace, ""):
        for candidate in sorted(groups):
            key = ResourceKey(candidate, kind, place, name)
            if world.get(key) is not None:
                return key
    return None


def sections(resource: Resource) -> Iterator[tuple[str, Location]]:
    """Yield the listeners, rules and ports of an object that have a name, with where they begin."""
    for field in SECTIONS:
        for number, entry in enumerate(sequence(resource.spec.get(field))):
            if name := text(mapping(entry).get("name")):
                yield name, resource.location("spec", field, number, "name")


def section_of(resource: Resource, name: str) -> Location:
    """Return where a listener, rule or port of that name begins; the object's name where there is none."""
    return dict(sections(resource)).get(name, resource.name_location)
