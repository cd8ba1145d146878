"""What controllers are told in objects: resources of their own, or YAML in a ConfigMap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from policylint.catalog.content import ToldIn, names_with, told_in
from policylint.documents import Pointer, read
from policylint.model import Resource, World, mapping
from policylint.model.resource import value_at
from policylint.namedtuple import NamedTuple


class Told(NamedTuple):
    """What an object tells a controller."""

    holder: Resource
    place: ToldIn
    body: Mapping[str, Any]

    def value(self, *pointer: str) -> Any:
        """Return what it says of a setting, None where it says nothing."""
        return value_at(self.body, pointer)

    def at(self, *pointer: str) -> Pointer:
        """Return where it says so: in a ConfigMap the text as a whole."""
        return ("data", self.place.key) if self.place.key else (*self.place.pointer, *pointer)


def configurations(world: World, implementation: str) -> tuple[Told, ...]:
    """Return what objects tell the controllers of an implementation, those with nothing in particular among them."""
    return world.once(_reading(implementation))


@cache
def _reading(implementation: str) -> Callable[[World], tuple[Told, ...]]:
    """Return what reads them, one for an implementation, so that each world is asked once."""
    return lambda world: tuple(_told(world, implementation))


def _told(world: World, implementation: str) -> Iterator[Told]:
    for place in told_in(implementation):
        for each in world.of_kind(*place.kind):
            body: Any = each.body
            if place.key:
                held = mapping(body.get("data")).get(place.key)
                documents = () if held is None else read(str(held).encode(), place.key).documents
                body = next((one.value for one in documents), None)
                if not body:
                    continue
            yield Told(each, place, mapping(value_at(body, place.pointer)))


def named_only(service: Resource | None, world: World, implementation: str, title: str) -> tuple[str, bool]:
    """Return why controllers send no requests to a Service, and whether that is certain: "" where nothing speaks
    against it, uncertain where their configuration was not seen, or two differ."""
    switch = names_with(implementation)
    if service is None or not switch or service.spec.get("type") != "ExternalName":
        return "", False
    said = {each.value(switch) is True for each in configurations(world, implementation)}
    why = f"{service.key} is of type ExternalName, which {title} takes only with `{switch}`"
    return ("" if said == {True} else why), said == {False}
