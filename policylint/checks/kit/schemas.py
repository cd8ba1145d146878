"""Scalars as files have them and as the cluster reads them: for GWP501 and GWP505."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from policylint.documents import Pointer
from policylint.model import Location, Resource, mapping
from policylint.simulation import Simulation

if TYPE_CHECKING:
    from policylint.schema.explain import Violation

_TEXTS = ("labels", "annotations")
"""Maps from string to string in the metadata of every kind."""
_SELECTOR: Pointer = ("spec", "selector")


def written_text(simulation: Simulation, location: Location) -> str:
    """Return the text of a plain scalar or key as its file has it, "" for a quoted one or where it cannot be read."""
    from policylint.documents.tokens import token_at

    lines = simulation.world.lines(location.file)
    token = token_at("\n".join(lines), *location.at()) if lines else None
    return token.value if token is not None and token.form == "scalar" and not token.style else ""


def read_as(value: object) -> str:
    """Return a scalar as the cluster reads it, in JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def is_surprising(text: str, value: object) -> bool:
    """Return whether a plain scalar says one thing to people and another to the cluster: `on`, `010`, `1e3`, `1.10`."""
    return isinstance(value, (bool, int, float)) and bool(text) and text != read_as(value)


def is_of_texts(resource: Resource, violation: Violation) -> bool:
    """Return whether a violation is about one of the maps of which each value is looked at, whatever it is."""
    return any(violation.pointer[:-1] == pointer for pointer, _ in maps_of_texts(resource))


def maps_of_texts(resource: Resource) -> list[tuple[Pointer, Mapping[str, Any]]]:
    """Return the maps from string to string of an object that matter to selectors, and its annotations."""
    maps: list[tuple[Pointer, Mapping[str, Any]]]
    maps = [(("metadata", name), mapping(resource.metadata.get(name))) for name in _TEXTS]
    if resource.key.kind == "Service" and not resource.key.group:
        maps.append((_SELECTOR, mapping(resource.spec.get("selector"))))
    return maps
