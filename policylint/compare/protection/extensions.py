"""GWP304 for objects that act through others: a GatewayExtension that TrafficPolicies name, a filter that rules name.

Such an object is weaker for whoever names it before and after.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.checks.kit.locations import path, value_at, written
from policylint.compare.protection.cause import Cause, Path, Weaker
from policylint.compare.protection.spec import Weakened, weakened
from policylint.compare.sides import Sides
from policylint.documents import Pointer
from policylint.model import Location, Node, PolicyKind, Resource, ResourceKey, mapping, sequence, text
from policylint.policy.results import Group
from policylint.simulation import Simulation
from policylint.topology.routes import rules

_FIELD = "extensionRef"


def named_weakened(sides: Sides) -> Iterator[Weaker]:
    """Causes with the contexts, or rules of routes, that name what is weaker."""
    before, after, pairing = sides
    for kind in _kinds(after):
        for was in before.world.of_kind(kind.group, kind.kind):
            now = after.world.get(pairing.key(was.key))
            if now is None or now.body is was.body or now.spec == was.spec:
                continue
            found = list(weakened(kind.weaker, was.spec, now.spec))
            if not found:
                continue
            former = set(map(pairing.path, _naming(before, was.key)))
            ways = [each for each in _naming(after, now.key) if each in former]
            for each in found:
                cause = _cause(each, was, now)
                yield from ((cause, "", way) for way in ways)


def _kinds(side: Simulation) -> list[PolicyKind]:
    """Kinds without contexts of their own that can become weaker, of those in the world."""
    known = (side.catalog.get(*each) for each in side.world.kinds())
    return [each for each in known if each is not None and each.weaker and each.policy_class == "Other"]


def _cause(each: Weakened, was: Resource, now: Resource) -> Cause:
    field = ("spec", *each.after)
    return Cause(
        path(field),
        each.change,
        each.weak.says,
        (now.key,),
        location=_nearest(now, field),
        before=_nearest(was, ("spec", *each.before)),
        fix=f"keep `{path(field)}` as it was, or give those who need it an object of their own",
        severity=each.weak.severity,
    )


def _nearest(resource: Resource, pointer: Pointer) -> Location:
    pointer = written(resource.body, pointer)
    return resource.location(*pointer, key=bool(pointer) and isinstance(pointer[-1], str))


def _naming(side: Simulation, key: ResourceKey) -> Iterator[Path]:
    """Contexts whose effective policy names an object, and rules of routes with a filter that does."""
    for group in side.groups:
        if any(_is(each, key, namespace) for each, namespace in _references(group)):
            yield from group.contexts()
    for state in side.topology.routes:
        bodies = sequence(state.route.spec.get("rules"))
        for rule in rules(state.route):
            filters = map(mapping, sequence(mapping(bodies[rule.number]).get("filters")))
            if any(_is(mapping(each.get(_FIELD)), key, state.route.key.namespace) for each in filters):
                yield (Node(state.route.key, "", state.route.key.kind), rule.node)


def _references(group: Group) -> Iterator[tuple[Any, str]]:
    """The references of an effective policy, each with the namespace of the policy it came from."""
    for pointer, owner in group.effective.owners.items():
        if _FIELD in pointer:
            at = pointer[: pointer.index(_FIELD) + 1]
            yield mapping(value_at(group.effective.spec, at)), owner.namespace


def _is(reference: Any, key: ResourceKey, namespace: str) -> bool:
    return (
        text(reference.get("name")) == key.name
        and (text(reference.get("namespace")) or namespace) == key.namespace
        and (text(reference.get("kind")) or key.kind) == key.kind
        and (text(reference.get("group")) or key.group) == key.group
    )
