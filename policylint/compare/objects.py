"""Changed objects and their blast radius: what each of them changes for whom.

A change is put down to the policies of its stacks if one of them changed, else to the objects of its path, and to what
lets the path be (Namespaces with their labels, ReferenceGrants).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from policylint.compare.change import ContextChange, ObjectChange, Subject, Touched
from policylint.compare.pairing import differs
from policylint.compare.sides import Sides
from policylint.compare.subjects import subject_of
from policylint.model import GATEWAY_GROUP, Node, ResourceKey
from policylint.policy.results import Effective


class _Radius:
    __slots__ = ("rules", "subjects")

    def __init__(self) -> None:
        self.subjects: set[ResourceKey] = set()
        self.rules: set[Node] = set()


def touched(sides: Sides, contexts: Iterable[ContextChange], subjects: Iterable[Subject]) -> list[Touched]:
    """Objects that are added, removed, renamed or changed and matter to routes or policies, sorted."""
    changed = _changed(sides)
    radius: dict[ResourceKey, _Radius] = defaultdict(_Radius)
    causes: dict[tuple[int, int, tuple[Node, ...]], frozenset[ResourceKey]] = {}
    for each in contexts:
        objects = tuple(node for node in each.path if not node.section)
        place = (id(each.before), id(each.after), objects)
        if place not in causes:
            causes[place] = frozenset(_causes(sides, each, changed))
        subject = subject_of(each.path)
        for key in causes[place]:
            radius[key].subjects.add(subject)
            radius[key].rules.update(node for node in each.path if node.role.endswith("Rule") and node.key == subject)
    for subject_change in subjects:
        if subject_change.reach or subject_change.change in ("added", "removed"):
            for key in _causes_of_reach(sides, subject_change, changed):
                radius[key].subjects.add(subject_change.key)
    found = []
    for key, change in sorted(changed.items()):
        if key in radius or (change != "changed" and _matters(sides, key)):
            found.append(_touched(sides, key, change, radius.get(key, _Radius())))
    return found


def _changed(sides: Sides) -> dict[ResourceKey, ObjectChange]:
    """By the identity after, or before where it is gone."""
    before, after, pairing = sides
    found: dict[ResourceKey, ObjectChange] = dict.fromkeys(pairing.removed, "removed")
    found.update(dict.fromkeys(pairing.added, "added"))
    found.update(dict.fromkeys(pairing.back, "renamed"))
    for key, resource in after.world.resources.items():
        was = before.world.resources.get(key)
        if was is not None and key not in found and differs(was, resource):
            found[key] = "changed"
    return found


def _matters(sides: Sides, key: ResourceKey) -> bool:
    if key.group == GATEWAY_GROUP:
        return True
    return key in sides.after.policies or key in sides.before.policies


def _causes(sides: Sides, change: ContextChange, changed: dict[ResourceKey, ObjectChange]) -> Iterator[ResourceKey]:
    stacks = {*_stack(change.before, sides), *_stack(change.after, None)}
    policies = stacks & changed.keys()
    if policies:
        yield from policies
        return
    on_path = {
        each for node in change.path for each in (node.key, ResourceKey("", "Namespace", "", node.key.namespace))
    }
    found = on_path & changed.keys()
    yield from found
    if not found:
        namespaces = {node.key.namespace for node in change.path} | {key.namespace for key in stacks}
        yield from _grants(changed, namespaces)


def _stack(effective: Effective | None, sides: Sides | None) -> set[ResourceKey]:
    if effective is None:
        return set()
    return {each.key if sides is None else sides.pairing.key(each.key) for each in effective.stack}


def _causes_of_reach(sides: Sides, subject: Subject, changed: dict[ResourceKey, ObjectChange]) -> Iterator[ResourceKey]:
    """The route itself, its parents, what it sends to, and the Namespaces and grants between them."""
    near = {subject.key}
    for simulation, key in ((sides.before, subject.was or subject.key), (sides.after, subject.key)):
        state = simulation.topology.route(key)
        if state is not None:
            near |= {parent.wanted for parent in state.parents} | {each.wanted for each in state.backends}
            near |= {parent.gateway for parent in state.parents if parent.gateway is not None}
    near |= {ResourceKey("", "Namespace", "", key.namespace) for key in tuple(near)}
    found = near & changed.keys()
    yield from found
    if not found:
        yield from _grants(changed, {key.namespace for key in near})


def _grants(changed: dict[ResourceKey, ObjectChange], namespaces: set[str]) -> Iterator[ResourceKey]:
    for key in changed:
        if key.kind == "ReferenceGrant" and key.namespace in namespaces:
            yield key


def _touched(sides: Sides, key: ResourceKey, change: ObjectChange, radius: _Radius) -> Touched:
    routes = sorted(each for each in radius.subjects if each.kind.endswith("Route"))
    hostnames: set[str] = set()
    for route in routes:
        state = sides.after.topology.route(route) or sides.before.topology.route(sides.pairing.was(route))
        hostnames.update(() if state is None else state.hostnames)
    namespaces = {each.namespace for each in radius.subjects if each.namespace}
    was = sides.pairing.was(key) if change == "renamed" else None
    return Touched(
        sides.after.world.name,
        key,
        change,
        tuple(routes),
        tuple(sorted(radius.rules)),
        tuple(sorted(each for each in hostnames if each)),
        tuple(sorted(namespaces)),
        was,
    )
