"""What the CRDs of two releases take: objects that the later one refuses, fields that it drops or fills otherwise; and
with what else releases change, all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.catalog.releases import CHANNELS, ReleasedProduct, Version, kinds, shown
from policylint.documents import Pointer
from policylint.model import Resource, World, mapping
from policylint.model.resource import deepest_written, dotted
from policylint.schema.explain import Violation, explain
from policylint.schema.known import Known
from policylint.schema.released import released_schema, served
from policylint.upgrade import Consequence
from policylint.upgrade.changes import Looking

Channels = tuple[str, str] | None


def consequences(
    looking: Looking, start: Version, end: Version, known: dict[str, Version], channels: Channels = None
) -> list[Consequence]:
    """Return what the releases of a product after one, up to another, make of the objects of an environment; a default
    that a change speaks of is not told twice.

    Args:
        known: the releases of other products that are in use, as far as they are known.
        channels: the one in use and the one to go to; None where none is named.
    """
    told = [*looking.changes(start, end, known)]
    places = {(consequence.subject, consequence.effect, consequence.line) for consequence in told}
    for consequence in of_schemas(looking.product, looking.simulation.world, start, end, channels):
        if (consequence.subject, consequence.effect, consequence.line) not in places:
            told.append(consequence)
    return told


def of_schemas(
    product: ReleasedProduct, world: World, start: Version, end: Version, channels: Channels = None
) -> Iterator[Consequence]:
    """Yield what the releases after one, up to another, make of the objects of a product's kinds."""
    for (group, kind), (name, _) in kinds().items():
        if name == product.name:
            for resource in world.of_kind(group, kind):
                yield from _of_object(product, resource, start, end, channels)


def _of_object(
    product: ReleasedProduct, resource: Resource, start: Version, end: Version, channels: Channels
) -> Iterator[Consequence]:
    """Yield what becomes of one object: what is wrong with it already in the release in use is left out."""
    group, kind = resource.key[:2]
    first = max((release for release in product.with_schemas if release <= start), default=None)
    was_standard, is_standard = (each == CHANNELS[0] for each in channels or ("", ""))
    known = None if first is None else released_schema(group, kind, resource.version, first, standard=was_standard)
    if known is None or resource.provisional:
        return
    before = _violations(known, resource)
    found: dict[tuple[str, Pointer], Consequence] = {}
    filled: dict[Pointer, tuple[Version, Any, Any]] = {}
    unserved = None
    for release in product.between(start, end) or ([end] if channels else []):
        after = released_schema(group, kind, resource.version, release, standard=is_standard)
        if after is None:
            unserved = _unserved(product, resource, release, standard=is_standard)
            break
        violations = _violations(after, resource)
        for key, violation in violations.items():
            if not _is_known(key, before) and all(pointer != violation.pointer for _, pointer in found):
                found[key] = _broken(product, resource, release, violation, standard=is_standard)
        found = {key: told for key, told in found.items() if key in violations}  # a later release may take it again
        for pointer, former, latter in _defaults(known.schema, after.schema, resource.body, ()):
            filled[pointer] = release, filled[pointer][1] if pointer in filled else former, latter
        known = after
    yield from found.values()
    for pointer, (release, former, latter) in filled.items():
        if former != latter and all(pointer != broken for _, broken in found):
            yield _default(product, resource, release, pointer, former, latter)
    if unserved is not None:
        yield unserved


def _is_known(key: tuple[str, Pointer], before: Mapping[tuple[str, Pointer], Violation]) -> bool:
    """Tell whether a violation, or that of something around it, was one before."""
    code, pointer = key
    return any((code, pointer[:depth]) in before for depth in range(len(pointer) + 1))


def _violations(known: Known, resource: Resource) -> dict[tuple[str, Pointer], Violation]:
    if known.checker.is_valid(resource.body):
        return {}
    found = explain(known.schema, resource.body, known.fuel)
    return {(violation.code, violation.pointer): violation for violation in found}


def _unserved(product: ReleasedProduct, resource: Resource, release: Version, *, standard: bool) -> Consequence:
    left = list(served(*resource.key[:2], standard=standard).get(release, {}))
    group, kind = resource.key[:2]
    if not left:
        lacks = _lacking(standard=standard)
        says, todo = f"is of a kind that {product.tag(release)} {lacks}", f"take it out, or say what {kind} said"
    else:
        says = f"is written in {resource.version}, which {product.tag(release)} no longer serves"
        todo = f"write apiVersion: {group}/{left[0]}"
    return _consequence(product, resource, release, "unserved", "served", says, todo, ("apiVersion",))


def _lacking(*, standard: bool) -> str:
    return "does not have in the standard channel" if standard else "no longer has"


def _broken(
    product: ReleasedProduct, resource: Resource, release: Version, violation: Violation, *, standard: bool
) -> Consequence:
    if violation.code == "unknown-field":
        lacks = _lacking(standard=standard)
        says = f"sets {dotted(violation.pointer)}, a field that {product.tag(release)} {lacks}"
        todo = "take it out: it is dropped, and what it asked for with it"
        return _consequence(product, resource, release, "dropped", "field", says, todo, violation.pointer)
    says = f"{violation.says}{_wanted(violation)}"
    todo = f"mend it before the CRDs of {shown(release)} are there: from then on it cannot be applied"
    return _consequence(product, resource, release, "refused", "validation", says, todo, violation.pointer)


def _wanted(violation: Violation) -> str:
    return f" ({violation.label})" if violation.label else ""


def _default(
    product: ReleasedProduct, resource: Resource, release: Version, pointer: Pointer, former: Any, latter: Any
) -> Consequence:
    was = "none was stated" if former is None else f"it was {_value(former)}"
    now = "has no default any more" if latter is None else f"is {_value(latter)} by default"
    says = f"does not set {dotted(pointer)}, which {now} ({was})"
    todo = f"say {pointer[-1]} if it matters"
    if former is not None:
        todo = f"write {pointer[-1]}: {_value(former)} to keep it"
    return _consequence(product, resource, release, "default", "schema-default", says, todo, pointer)


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value) if value == "" else str(value)


def _defaults(
    former: Mapping[str, Any], latter: Mapping[str, Any], value: Any, at: Pointer
) -> Iterator[tuple[Pointer, Any, Any]]:
    """Yield the fields that a value does not set and both schemas know, with the defaults where they differ."""
    if isinstance(value, list):
        for number, entry in enumerate(value):
            yield from _defaults(mapping(former.get("items")), mapping(latter.get("items")), entry, (*at, number))
    elif isinstance(value, dict):
        fields, later_fields = mapping(former.get("properties")), mapping(latter.get("properties"))
        extra, later_extra = mapping(former.get("additionalProperties")), mapping(latter.get("additionalProperties"))
        for name, field in fields.items():
            later = later_fields.get(name)
            if name not in value and later is not None and field.get("default") != later.get("default"):
                yield (*at, name), field.get("default"), later.get("default")
        for name, inner in value.items():
            yield from _defaults(
                mapping(fields.get(name, extra)), mapping(later_fields.get(name, later_extra)), inner, (*at, name)
            )


def _consequence(
    product: ReleasedProduct,
    resource: Resource,
    release: Version,
    effect: str,
    change: str,
    says: str,
    todo: str,
    pointer: Pointer,
) -> Consequence:
    location = resource.location(*deepest_written(resource.body, pointer), key=effect in ("dropped", "default"))
    line = location.at()[0]
    return Consequence(
        product.name, release, effect, change, str(resource.key), says, todo, dotted(pointer), location.file, line
    )
