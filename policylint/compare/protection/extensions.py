"""GWP304 for objects that act through others: a GatewayExtension that TrafficPolicies name, a filter that rules name.

Such an object is weaker for everything that names it before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policylint.checks.kit.locations import deepest_written, path, value_at
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, Path, WeakenedWay
from policylint.compare.protection.spec import Weakening, weakenings
from policylint.documents import Pointer
from policylint.model import Location, Node, PolicyKind, Resource, ResourceKey, mapping, text
from policylint.policy.asking import asked, strongest
from policylint.policy.results import Group
from policylint.simulation import Simulation

_FIELD = "extensionRef"


def extension_weakened(sides: Sides, others: Callable[[Path, PolicyKind, str], bool]) -> Iterator[WeakenedWay]:
    """Yield causes with the contexts, or rules of routes, that name the weaker object on both sides.

    Args:
        others: whether another kind of policy serves a purpose on a way.
    """
    before, after, pairing = sides
    for group, name in after.world.kinds():
        kind = after.catalog.get(group, name)
        if kind is None or not kind.weaker or kind.policy_class != "Other":
            continue  # kinds with contexts of their own are compared by their settings
        for old in before.world.of_kind(kind.group, kind.kind):
            new = after.world.get(pairing.key(old.key))
            if new is None or new.body is old.body or _said(new) == _said(old):
                continue
            changes = list(weakenings(kind.weaker, _said(old), _said(new)))
            if not changes:
                continue
            former = {pairing.path(way) for way, _ in _naming(before, old.key)}
            ways = [(way, by) for way, by in _naming(after, new.key) if way in former]
            for weakening in changes:
                field = path((*_place(new), *weakening.after))
                fix = f"keep `{field}` as it was, or give those who need it an object of their own"
                cause = weakened(weakening, old, new, fix)
                purpose = weakening.weak.opens if weakening.opens else ""
                for way, by in ways:
                    served = by is None or _served(after, by, purpose) or others(way, by.kind, purpose)
                    yield cause, "" if served else purpose, way


def weakened(weakening: Weakening, old: Resource, new: Resource, fix: str) -> Cause:
    """Return the cause for a weakening of an object."""
    field = (*_place(new), *weakening.after)
    return Cause(
        path(field),
        weakening.change,
        weakening.weak.says,
        (new.key,),
        location=nearest(new, field),
        before=nearest(old, (*_place(old), *weakening.before)),
        fix=fix,
        severity=weakening.weak.severity,
    )


def _place(resource: Resource) -> Pointer:
    """Return where an object says what it does: Kong's have no spec."""
    return ("spec",) if "spec" in resource.body else ()


def _said(resource: Resource) -> Mapping[str, Any]:
    return resource.spec if _place(resource) else {**resource.body, "metadata": None}


def nearest(resource: Resource, pointer: Pointer) -> Location:
    """Return the location of a field, or of the nearest one above it that is written."""
    pointer = deepest_written(resource.body, pointer)
    return resource.location(*pointer, key=bool(pointer) and isinstance(pointer[-1], str))


def _served(side: Simulation, group: Group, purpose: str) -> bool:
    """Return whether an effective policy turns away who comes without what it asks for a purpose."""
    asking = asked(group.kind, group.effective, side.world, side.catalog)
    return strongest(ask for ask in asking if ask.purpose == purpose) == "without"


def _naming(side: Simulation, key: ResourceKey) -> Iterator[tuple[Path, Group | None]]:
    """Yield the contexts whose effective policy names an object, and what names it by a filter or an annotation."""
    for group in side.groups:
        if any(_is(reference, key, namespace) for reference, namespace in _references(group)):
            yield from ((way, group) for way in group.contexts())
    for binding in side.bindings:
        if binding.wanted == key and not binding.foreign:
            holder = binding.holder.key
            yield tuple(dict.fromkeys((Node(holder, "", holder.kind), binding.node))), None


def _references(group: Group) -> Iterator[tuple[Any, str]]:
    """Yield the references of an effective policy, each with the namespace of the policy that it came from."""
    for pointer, owner in group.effective.owners.items():
        if _FIELD in pointer:
            reference_pointer = pointer[: pointer.index(_FIELD) + 1]
            yield mapping(value_at(group.effective.spec, reference_pointer)), owner.namespace


def _is(reference: Any, key: ResourceKey, namespace: str) -> bool:
    """Return whether a reference from a namespace names an object."""
    return (
        text(reference.get("name")) == key.name
        and (text(reference.get("namespace")) or namespace) == key.namespace
        and (text(reference.get("kind")) or key.kind) == key.kind
        and (text(reference.get("group")) or key.group) == key.group
    )
