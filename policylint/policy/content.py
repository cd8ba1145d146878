"""What the content of policies, and of the objects that they or routes name, names in turn: found, missing or unknown.

The catalog declares the fields (`refers`); what becomes of a policy whose reference is missing is its implementation's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.catalog.content import Within, content_of
from policylint.documents import Pointer
from policylint.model import Resolution, Resource, ResourceKey, World, is_symbolic, text
from policylint.model.kinds import CLUSTER_SCOPED, group_of
from policylint.model.policy_kind import ContentField
from policylint.namedtuple import NamedTuple


class ContentReference(NamedTuple):
    """One reference in the content of an object.

    Args:
        pointer: of the reference in the holder.
        field: what the catalog says of it.
    """

    holder: Resource
    pointer: Pointer
    wanted: ResourceKey
    resolution: Resolution
    field: ContentField


def content_references(
    holder: Resource, world: World, fields: Iterable[ContentField] | None = None
) -> Iterator[ContentReference]:
    """Yield what an object names beside its targets; `fields` are by default those of the shipped catalog."""
    place: Pointer = ("spec",) if "spec" in holder.body else ()
    content = Within(holder.spec if place else holder.body, place)
    seen: set[Pointer] = set()
    for field in content_of(*holder.key[:2]) if fields is None else fields:
        if not field.home:
            continue
        for pointer, value in content.places(field.path):
            wanted = _wanted(value, holder.key.namespace, field)
            if wanted is not None and pointer not in seen:
                seen.add(pointer)
                beside = bool(wanted.group) and wanted.group == holder.key.group
                yield ContentReference(holder, pointer, wanted, _resolve(world, wanted, beside=beside), field)


def _resolve(world: World, wanted: ResourceKey, *, beside: bool) -> Resolution:
    """Look an object up that some content names; few manifests hold the Secrets that they name (`World.elsewhere`).

    Args:
        beside: whether it is of the same API as what names it: they are written together.
    """
    resolution = world.resolve_inner(wanted)
    reason = world.elsewhere(wanted) if resolution.missing and not beside and not world.is_near(wanted) else ""
    return Resolution("unknown", reason) if reason else resolution


def _wanted(value: object, namespace: str, field: ContentField) -> ResourceKey | None:
    """Return the object that a reference, or a plain name, stands for; None where no name stands there yet."""
    reference: Mapping[str, Any] = value if isinstance(value, dict) else {"name": value}
    name = text(reference.get("name"))
    if not name or is_symbolic(name):
        return None
    group, kind = field.kinds[0]
    if written := text(reference.get("kind")):
        # Controllers that tell upper from lower case refuse the other spelling before they look for the object.
        spelled = (each for each in field.kinds if each[1].lower() == written.lower())
        group, kind = next(spelled, ("", written))
    if isinstance(reference.get("group"), str):
        group = group_of(reference["group"].lower())
    home = "" if (group, kind) in CLUSTER_SCOPED else text(reference.get("namespace")) or namespace
    return ResourceKey(group, kind, home, name)
