"""Changed objects and their blast radius: what each of them changes, and for which subjects.

A change is attributed to the policies of its stacks if one of them changed, else to the objects of its path, and to
what lets the path be (Namespaces with their labels, ReferenceGrants).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from policylint.catalog.kinds import Catalog
from policylint.compare.change import ContextChange, ObjectChange, ObjectChangeKind, SubjectChange
from policylint.compare.pairing import Sides, differs
from policylint.compare.subjects import subject_of
from policylint.model import GATEWAY_GROUP, Node, Resource, ResourceKey
from policylint.model.kinds import OPENSHIFT_ROUTE
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Effective


class _Radius(NamedTuple):
    """The subjects that an object changes, and their rules."""

    subjects: set[ResourceKey]
    rules: set[Node]


def object_changes(
    sides: Sides,
    changed: dict[ResourceKey, ObjectChangeKind],
    contexts: Iterable[ContextChange],
    subjects: Iterable[SubjectChange],
) -> list[ObjectChange]:
    """Return the objects that are added, removed, renamed or changed and matter to routes or policies, sorted."""
    radius: dict[ResourceKey, _Radius] = defaultdict(lambda: _Radius(set(), set()))
    causes: dict[tuple[int, int, tuple[Node, ...]], frozenset[ResourceKey]] = {}
    for context in contexts:
        objects = tuple(node for node in context.path if not node.section)
        place = (id(context.before), id(context.after), objects)
        if place not in causes:
            causes[place] = frozenset(_causes(sides, context, changed))
        subject = subject_of(context.path)
        for key in causes[place]:
            radius[key].subjects.add(subject)
            radius[key].rules.update(
                node for node in context.path if node.role.endswith("Rule") and node.key == subject
            )
    for subject_change in subjects:
        if subject_change.reach or subject_change.change in ("added", "removed"):
            for key in _causes_of_reach(sides, subject_change, changed):
                radius[key].subjects.add(subject_change.key)
    policies = sides.after.policies.keys() | sides.before.policies.keys()
    return [
        _object_change(sides, key, change, radius[key])
        for key, change in sorted(changed.items())
        # What policies and Gateway API add or take away matters even if it changes nothing for a subject.
        if key in radius or (change != "changed" and (key.group == GATEWAY_GROUP or key in policies))
    ]


def changed_keys(sides: Sides) -> dict[ResourceKey, ObjectChangeKind]:
    """Return the changed objects by their identity after, or before where they are gone."""
    before, after, pairing = sides
    changes: dict[ResourceKey, ObjectChangeKind] = dict.fromkeys(pairing.removed, "removed")
    changes.update(dict.fromkeys(pairing.added, "added"))
    changes.update(dict.fromkeys(pairing.back, "renamed"))
    for key, resource in after.world.resources.items():
        was = before.world.resources.get(key)
        if was is None or was.body is resource.body or key in changes:
            continue
        if differs(was, resource, after.catalog) or _is_annotated_otherwise(was, resource, after.catalog):
            changes[key] = "changed"
    return changes


def _is_annotated_otherwise(left: Resource, right: Resource, catalog: Catalog) -> bool:
    """Return whether annotations differ that a controller may read: all others are text, but those of an Ingress."""
    if left.annotations == right.annotations:
        return False
    if left.key.kind in ("Ingress", "IngressClass") or left.key[:2] == OPENSHIFT_ROUTE:
        return True
    both = {**left.annotations, **right.annotations}
    return any(
        left.annotations.get(name) != right.annotations.get(name) and catalog.may_be_read(str(name)) for name in both
    )


def _causes(sides: Sides, change: ContextChange, changed: dict[ResourceKey, ObjectChangeKind]) -> Iterator[ResourceKey]:
    """Yield the changed objects that a change of a context comes from."""
    stacks = {*_stack(change.before, sides), *_stack(change.after, None)}
    policies = stacks & changed.keys()
    if policies:
        yield from policies
        return
    on_path = {node.key for node in change.path}
    on_path |= {ResourceKey("", "Namespace", "", key.namespace) for key in tuple(on_path)}
    near = on_path & changed.keys()
    yield from near
    if not near:
        namespaces = {node.key.namespace for node in change.path} | {key.namespace for key in stacks}
        yield from _grants(changed, namespaces)


def _stack(effective: Effective | None, sides: Sides | None) -> set[ResourceKey]:
    """Return the policies of a stack, those of the side before by their identity after."""
    if effective is None:
        return set()
    return {attachment.key if sides is None else sides.pairing.key(attachment.key) for attachment in effective.stack}


def _causes_of_reach(
    sides: Sides, subject: SubjectChange, changed: dict[ResourceKey, ObjectChangeKind]
) -> Iterator[ResourceKey]:
    """Yield the changed objects that a change of a route's attachment comes from.

    These are the route itself, its parents, its backends, and the Namespaces and grants between them.
    """
    near = {subject.key}
    for simulation, key in ((sides.before, subject.was or subject.key), (sides.after, subject.key)):
        state = simulation.topology.route(key)
        if state is not None:
            near |= {parent.wanted for parent in state.parents} | {backend.wanted for backend in state.backends}
            near |= {parent.gateway for parent in state.parents if parent.gateway is not None}
    near |= {ResourceKey("", "Namespace", "", key.namespace) for key in tuple(near)}
    causes = near & changed.keys()
    yield from causes
    if not causes:
        yield from _grants(changed, {key.namespace for key in near})


def _grants(changed: dict[ResourceKey, ObjectChangeKind], namespaces: set[str]) -> Iterator[ResourceKey]:
    """Yield the changed ReferenceGrants in any of the namespaces."""
    for key in changed:
        if key.kind == "ReferenceGrant" and key.namespace in namespaces:
            yield key


def _object_change(sides: Sides, key: ResourceKey, change: ObjectChangeKind, radius: _Radius) -> ObjectChange:
    """Return a changed object with its blast radius."""
    routes = sorted(subject for subject in radius.subjects if subject.kind.endswith("Route"))
    hostnames: set[str] = set()
    for route in routes:
        state = sides.after.topology.route(route) or sides.before.topology.route(sides.pairing.was(route))
        hostnames.update(() if state is None else state.hostnames)
    namespaces = {subject.namespace for subject in radius.subjects if subject.namespace}
    was = sides.pairing.was(key) if change == "renamed" else None
    return ObjectChange(
        sides.after.world.name,
        key,
        change,
        tuple(routes),
        tuple(sorted(radius.rules)),
        tuple(sorted(filter(None, hostnames))),
        tuple(sorted(namespaces)),
        was,
    )
