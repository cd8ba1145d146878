"""GWP505: a plain scalar where a string is wanted, which the cluster reads as something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.checks.kit.locations import path
from policylint.checks.kit.schemas import is_of_texts, is_surprising, maps_of_texts, read_as, written_text
from policylint.documents import Pointer
from policylint.model import Finding, Location, Resource, Severity
from policylint.simulation import Simulation

RULE = "GWP505"
_ODD_KEYS = ("true", "false", "null")


def check(simulation: Simulation) -> Iterator[Finding]:
    for broken in simulation.broken:
        for violation in broken.violations:
            if (
                violation.code == "type"
                and violation.wanted == ("string",)
                and not is_of_texts(broken.resource, violation)
            ):
                text = written_text(simulation, broken.resource.location(*violation.pointer))
                if is_surprising(text, violation.value):
                    finding = _value(broken.resource, violation.pointer, text, violation.value)
                    yield finding._replace(severity="error")
    for resource in simulation.world.resources.values():
        for pointer, values in resource.once(_suspicious_maps):
            yield from _texts(simulation, resource, pointer, values)


def _suspicious_maps(resource: Resource) -> list[tuple[Pointer, Mapping[str, Any]]]:
    """Return the maps of strings of an object in which something is or was no string."""
    return [
        (pointer, values)
        for pointer, values in maps_of_texts(resource)
        if not all(map(_is_plain, values, values.values()))
    ]


def _is_plain(name: str, value: object) -> bool:
    return value.__class__ is str and name not in _ODD_KEYS and not name[:1].isdigit()


def _texts(
    simulation: Simulation, resource: Resource, pointer: Pointer, values: Mapping[str, Any]
) -> Iterator[Finding]:
    """Yield a finding for each value that is no string: all are refused, so that plain numbers count too."""
    severity: Severity = "error" if resource.key in simulation.refused else "warning"
    for name, value in values.items():
        place = (*pointer, name)
        if isinstance(value, (bool, int, float)):
            text = written_text(simulation, resource.location(*place))
            if text:
                yield _value(resource, place, text, value)._replace(severity=severity)
        if name in _ODD_KEYS or name[:1].isdigit():
            location = resource.location(*place, key=True)
            text = written_text(simulation, location)
            if text and text != name:
                yield _key(resource, place, location, text)


def _value(resource: Resource, pointer: Pointer, text: str, value: object) -> Finding:
    from policylint.checks.kit.fixes import quote

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
