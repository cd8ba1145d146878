"""GWP505: a plain scalar where a string is wanted, which the cluster reads as something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.checks.kit.fixes import quote
from policylint.checks.kit.locations import path
from policylint.checks.kit.schemas import is_surprising, read_as, written_text
from policylint.documents import Pointer
from policylint.model import Finding, Location, Resource, mapping
from policylint.simulation import Simulation

RULE = "GWP505"
_TEXTS = ("labels", "annotations")
"""Maps from string to string in the metadata of every kind."""
_SELECTOR: Pointer = ("spec", "selector")
_ODD_KEYS = ("true", "false", "null")


def check(simulation: Simulation) -> Iterator[Finding]:
    for broken in simulation.broken:
        for violation in broken.violations:
            if violation.code == "type" and "string" in violation.wanted and len(violation.wanted) == 1:
                text = written_text(simulation, broken.resource.location(*violation.pointer))
                if is_surprising(text, violation.value):
                    finding = _value(broken.resource, violation.pointer, text, violation.value)
                    yield finding._replace(severity="error")  # the schema refuses it; clients mend some metadata
    for resource in simulation.world.resources.values():
        for pointer, values in resource.once(_suspicious_maps):
            yield from _texts(simulation, resource, pointer, values)


def _suspicious_maps(resource: Resource) -> list[tuple[Pointer, Mapping[str, Any]]]:
    """Return the maps of strings of an object in which something is or was no string."""
    maps: list[tuple[Pointer, Mapping[str, Any]]]
    maps = [(("metadata", name), mapping(resource.metadata.get(name))) for name in _TEXTS]
    if resource.key.kind == "Service" and not resource.key.group:
        maps.append((_SELECTOR, mapping(resource.spec.get("selector"))))
    return [(pointer, values) for pointer, values in maps if not all(map(_is_plain, values, values.values()))]


def _is_plain(name: str, value: object) -> bool:
    return value.__class__ is str and name not in _ODD_KEYS and not name[:1].isdigit()


def _texts(
    simulation: Simulation, resource: Resource, pointer: Pointer, values: Mapping[str, Any]
) -> Iterator[Finding]:
    """Yield a finding for each value that is no string: all are refused, so that plain numbers count too."""
    for name, value in values.items():
        place = (*pointer, name)
        if isinstance(value, (bool, int, float)):
            text = written_text(simulation, resource.location(*place))
            if text:
                yield _value(resource, place, text, value)
        if name in _ODD_KEYS or name[:1].isdigit():
            location = resource.location(*place, key=True)
            text = written_text(simulation, location)
            if text and text != name:
                yield _key(resource, place, location, text)


def _value(resource: Resource, pointer: Pointer, text: str, value: object) -> Finding:
    kind = "a boolean" if isinstance(value, bool) else "a number"
    location = resource.location(*pointer)
    reads = f"{read_as(value)}, {kind}" if text != read_as(value) else kind
    return Finding(
        RULE,
        "warning",
        f"{resource.key} has `{text}` in {path(pointer)}, which the cluster reads as {reads}, not a string",
        location,
        resources=(resource.key,),
        label="only a string is allowed here: the API server rejects the object",
        help=(f'fix: write `"{text}"`',),
        field=path(pointer),
        fixes=quote(location, text, value),
    )


def _key(resource: Resource, pointer: Pointer, location: Location, text: str) -> Finding:
    return Finding(
        RULE,
        "warning",
        f"{resource.key} has the key `{text}` in {path(pointer[:-1])}, which the cluster reads as `{pointer[-1]}`",
        location,
        resources=(resource.key,),
        label=f"this sets `{pointer[-1]}`, not `{text}`",
        help=(f'fix: write `"{text}"`',),
        field=path(pointer),
    )
