"""GWP304 for objects that act through others: a GatewayExtension that TrafficPolicies name, a filter, a Backend.

Such an object is weaker for everything that names it before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policylint.catalog.content import known_object
from policylint.catalog.weakenings import common_weaknesses, deciding
from policylint.checks.kit.locations import deepest_written, path, value_at
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, Path, WeakenedWay
from policylint.compare.protection.spec import Weakening, weakenings
from policylint.compare.unknown import is_of_unseen
from policylint.documents import Pointer
from policylint.model import Location, Node, PolicyKind, Resource, ResourceKey, mapping, text
from policylint.model.weakness import Weakness
from policylint.network.kinds import EVALUATED as NETWORK_POLICIES
from policylint.policy.asking import asked, strongest
from policylint.policy.results import Group, PolicyState
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.routes import rules

_FIELD = "extensionRef"


def extension_weakened(sides: Sides, others: Callable[[Path, PolicyKind, str], bool]) -> Iterator[WeakenedWay]:
    """Yield causes with the contexts, or rules of routes, that name the weaker object on both sides.

    What nothing names acts by itself, as a DestinationRule does on a host.

    Args:
        others: whether another kind of policy serves a purpose on a way.
    """
    before, after, pairing = sides
    for old in _gone(sides):
        for weakening in weakenings(_weaknesses(after, old, {}), said_by(old), {}):
            cause = weakened(weakening, old, old, f"keep {old.key}, or say what takes its place")
            yield cause._replace(own=True, location=None), "", (whole(old.key),)
    for old, new in edited(sides):
        said = said_by(old), said_by(new)
        changes = list(weakenings(_weaknesses(after, old, said[1]), *said))
        if not changes:
            continue
        former = {pairing.path(way) for way, _ in _naming(before, old.key)}
        nowhere = stands_nowhere(sides, new)
        ways = [(way, by) for way, by in _naming(after, new.key) if way in former and not nowhere]
        alone = _is_alone(after, new)
        for weakening in changes:
            field = path((*_place(new), *weakening.after))
            fix = f"keep `{field}` as it was, or give those who need it an object of their own"
            cause = weakened(weakening, old, new, fix)
            purpose = weakening.weak.opens if weakening.opens else ""
            for way, by in ways:
                served = by is None or _served(after, by, purpose) or others(way, by.kind, purpose)
                yield cause, "" if served else purpose, way
            if not ways and (alone or _guards_where_named(after, new)):
                severity = cause.severity if alone else "note"
                yield cause._replace(own=True, severity=severity), "", (whole(new.key),)


def _weaknesses(side: Simulation, old: Resource, said: Mapping[str, Any]) -> Iterator[Weakness]:
    """Yield what fields of an object mean where it says something else now, nothing if it is gone."""
    kind = side.catalog.get(*old.key[:2])
    yield from () if kind is None else kind.weaker
    if not _is_listed(side, old):  # of the others requests tell
        yield from common_weaknesses(old.key.kind, said_by(old), said, kind)


def _is_alone(side: Simulation, resource: Resource) -> bool:
    """Tell whether an object acts without any that names it: on a host, on the workloads of its namespace."""
    kind = side.catalog.get(*resource.key[:2])
    if kind is not None and kind.policy_class != "Other":
        return False
    if kind is None:
        return not {"alone", "generates"}.isdisjoint(known_object(*resource.key[:2]) or {})
    return kind.bound_by in ("none", "reference")


def acts_alone(side: Simulation, resource: Resource) -> bool:
    """Tell whether a new object acts on what was there: by itself, or as one of those that decide."""
    group, name = resource.key[:2]
    return _is_alone(side, resource) if side.catalog.get(group, name) is not None else known_object(group, name) is None


def _guards_where_named(side: Simulation, resource: Resource) -> bool:
    """Tell whether objects of a kind protect whatever names them: what is not in effect today, or a door."""
    kind = side.catalog.get(*resource.key[:2])
    return kind is not None and bool(kind.weaker)


def _gone(sides: Sides) -> Iterator[Resource]:
    """Yield the objects that acted by themselves and are gone."""
    for key in sides.pairing.removed:
        old = sides.before.world.get(key)
        if old is not None and _is_alone(sides.before, old):
            yield old


def is_by_words(side: Simulation, group: str, name: str) -> bool:
    """Tell whether objects of a kind are compared by words alone: of a door the catalog may know what it refers to."""
    if not side.catalog.is_unstated(group, name):
        return False
    entry = known_object(group, name)
    return entry is None or (deciding(group, name) is not None and {"alone", "generates"}.isdisjoint(entry))


def edited(sides: Sides) -> Iterator[tuple[Resource, Resource]]:
    """Yield the objects of implementations that are no attached policies and say something else than before."""
    after = sides.after
    for group, name in after.world.kinds():
        kind = after.catalog.get(group, name)
        if is_by_words(after, group, name):
            continue
        own = kind is not None and kind.policy_class != "Other" and not _is_whole(kind)
        for old, new in sides.edited(group, name):
            if own and not (_is_listed(after, new) or stands_nowhere(sides, new)):
                continue  # kinds with contexts of their own are compared by their settings
            if said_by(new) != said_by(old):
                yield old, new


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


def acts_beside(sides: Sides) -> bool:
    """Tell whether a change touches what acts beside requests, or on them in a way that is not evaluated."""
    return any(not _is_compared(sides.after, new) for _, new in edited(sides)) or any(
        known is not None and _is_alone(side, known) and known.key[:2] not in NETWORK_POLICIES
        for side, keys in ((sides.before, sides.pairing.removed), (sides.after, sides.pairing.added))
        for known in map(side.world.get, keys)
    )


def edited_unevaluated(sides: Sides) -> Iterator[tuple[Resource, Resource]]:
    """Yield those of which requests or connections are not compared with all that they say."""
    for old, new in edited(sides):
        if new.key[:2] in NETWORK_POLICIES or "gateway.networking" in new.key.group or _is_listed(sides.after, new):
            continue
        kind = sides.after.catalog.get(*new.key[:2])
        named = kind is not None and kind.bound_by in (
            "extension-ref",
            "annotation",
        )  # by doors, too, which see no more
        if named or stands_nowhere(sides, new) or not _is_compared(sides.after, new):
            yield old, new


def stands_nowhere(sides: Sides, new: Resource) -> bool:
    """Tell whether a policy sets nothing in any context on either side: it is refused, or has no target, or none that
    what it says is for. What its change would do no answer tells, and a cluster may have what it lacks here. Targets
    that were not seen are told apart."""
    states = sides.before.policies.get(sides.pairing.was(new.key)), sides.after.policies.get(new.key)
    return all(
        state is not None and not any(group.effective.spec for group in state.groups) and not _may_act(state, side)
        for state, side in zip(states, sides[:2], strict=True)
    )


def _may_act(state: PolicyState, side: Simulation) -> bool:
    return not state.invalid_code and any(
        target.resolution.unknown or is_of_unseen(target, state, side) for target in state.targets
    )


def _is_listed(side: Simulation, resource: Resource) -> bool:
    """Tell whether effective policies list a policy by its name, and hold nothing of what it says."""
    state, kind = side.policies.get(resource.key), side.catalog.get(*resource.key[:2])
    specs = [group.effective.spec for group in state.groups] if state is not None else []
    return bool(specs and kind and not _is_whole(kind)) and all(
        spec and spec.keys().isdisjoint(resource.spec) for spec in specs
    )


def _is_compared(side: Simulation, resource: Resource) -> bool:
    """Tell whether requests are compared with what objects of a kind do: they are policies that come into it, routes
    name them, or they rule connections."""
    if resource.key[:2] in NETWORK_POLICIES:
        return True
    kind = side.catalog.get(*resource.key[:2])
    own = kind is not None and kind.policy_class != "Other" and not _is_whole(kind)
    return own or (kind is not None and kind.bound_by in ("extension-ref", "annotation"))


def _is_whole(kind: PolicyKind) -> bool:
    """Tell whether objects of a kind act as a whole, so that effective policies hold none of their fields."""
    return "*" in kind.settings.code or "*" in kind.settings.raw


def _place(resource: Resource) -> Pointer:
    """Return where an object says what it does: Kong's have no spec."""
    return ("spec",) if "spec" in resource.body else ()


def said_by(resource: Resource) -> Mapping[str, Any]:
    """Return what an object says, below its spec where it has one."""
    return resource.spec if _place(resource) else {**resource.body, "metadata": {"labels": resource.labels}}


def nearest(resource: Resource, pointer: Pointer) -> Location:
    """Return the location of a field, or of the nearest one above it that is written."""
    pointer = deepest_written(resource.body, pointer)
    return resource.location(*pointer, key=bool(pointer) and isinstance(pointer[-1], str))


def _served(side: Simulation, group: Group, purpose: str) -> bool:
    """Return whether an effective policy turns away who comes without what it asks for a purpose."""
    asking = asked(group.kind, group.effective, side.world, side.catalog)
    return strongest(ask for ask in asking if ask.purpose == purpose) == "without"


def _naming(side: Simulation, key: ResourceKey) -> Iterator[tuple[Path, Group | None]]:
    """Yield the contexts whose effective policy names an object, or is one, and what names it otherwise."""
    state = side.policies.get(key)
    for group in () if state is None else state.groups:
        yield from ((way, group) for way in group.contexts())
    for group in side.groups:
        if any(_is(reference, key, namespace) for reference, namespace in _references(group)):
            yield from ((way, group) for way in group.contexts())
    for binding in side.bindings:
        if binding.wanted == key and not binding.foreign:
            holder = binding.holder.key
            yield tuple(dict.fromkeys((Node(holder, "", holder.kind), binding.node))), None
    for route in side.topology.routes:
        for backend in route.backends:
            if backend.wanted == key:
                listed = (rule.node for rule in rules(route.route) if rule.number == backend.rule)
                yield (whole(route.route.key), *listed), None


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
