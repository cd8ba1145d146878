"""Which object of one side is which of the other: by identity, else as a rename; rules and listeners by what they say.

A route's unnamed rules are known by their number, so one that is put in before them renumbers the rest: they are
paired by their matches and backends instead (docs/design/interfaces.md §2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from policylint.model import GATEWAY_GROUP, ROUTE_KINDS, Node, Resource, ResourceKey, mapping, sequence, text
from policylint.policy.units import leaves
from policylint.simulation import Simulation

_LIKENESS = 0.5
"""As git: objects that have half of their settings in common may be one that was renamed."""
_MOST_COMPARED = 10_000
_TEXTUAL = ("annotations", "labels", "managedFields", "creationTimestamp", "uid", "resourceVersion", "generation")


class Pairing:
    """How identities of the side before read on the side after.

    Attributes:
        renamed: old → new identity of objects that have another name or namespace.
        added, removed: identities that only one side has, renames left out.
    """

    __slots__ = ("_after", "_before", "_sections", "added", "back", "removed", "renamed")

    def __init__(self, before: Simulation, after: Simulation) -> None:
        self._before = before
        self._after = after
        old, new = before.world.resources, after.world.resources
        gone = [old[key] for key in sorted(old.keys() - new.keys())]
        come = [new[key] for key in sorted(new.keys() - old.keys())]
        self.renamed = _renames(gone, come, before, after) if gone and come else {}
        self.back = {new_key: key for key, new_key in self.renamed.items()}
        self.removed = frozenset(each.key for each in gone) - self.renamed.keys()
        self.added = frozenset(each.key for each in come) - self.back.keys()
        self._sections: dict[ResourceKey, Mapping[str, str | None]] = {}

    def key(self, key: ResourceKey) -> ResourceKey:
        """An identity of before as it is after."""
        return self.renamed.get(key, key) if self.renamed else key

    def was(self, key: ResourceKey) -> ResourceKey:
        """An identity of after as it was before."""
        return self.back.get(key, key)

    def node(self, node: Node) -> Node:
        """A node of before as it is after. A section that is gone keeps its name with a mark, so that it equals none
        of those that are there."""
        key = self.key(node.key)
        if not node.section:
            return node if key is node.key else node._replace(key=key)
        sections = self.sections(node.key)
        if not sections and key is node.key:
            return node
        section = sections.get(node.section, node.section)
        return Node(key, f"{node.section} (gone)" if section is None else section, node.role)

    def origin(self, node: Node) -> Node:
        """A node of after as it was before, marked likewise where it is new."""
        key = self.was(node.key)
        if not node.section:
            return node if key is node.key else node._replace(key=key)
        sections = self.sections(key)
        for old, new in sections.items():
            if new == node.section:
                return Node(key, old, node.role)
        return Node(key, f"{node.section} (new)" if node.section in sections else node.section, node.role)

    def sections(self, key: ResourceKey) -> Mapping[str, str | None]:
        """Old name → new name of an object's sections that have another one; None for those that are gone."""
        found = self._sections.get(key)
        if found is None:
            found = self._sections[key] = self._paired_sections(key, self.key(key))
        return found

    def path(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        return tuple(map(self.node, nodes))

    def _paired_sections(self, old_key: ResourceKey, new_key: ResourceKey) -> Mapping[str, str | None]:
        old, new = self._before.world.get(old_key), self._after.world.get(new_key)
        if old is None or new is None or old.body is new.body:
            return {}
        if old_key.kind in ROUTE_KINDS:
            return {} if old.spec.get("rules") == new.spec.get("rules") else _paired_rules(old, new)
        if old_key.group == GATEWAY_GROUP and "listeners" in old.spec:
            return _paired_listeners(old, new)
        return {}


def _paired_rules(old: Resource, new: Resource) -> dict[str, str | None]:
    """Old name → new name of the rules that have another one, None for those that are gone."""
    before, after = _named(old, "rules", "rule-"), _named(new, "rules", "rule-")
    pairs: dict[str, str | None] = {}
    left, free = dict(before), dict(after)

    def pair(one: str, other: str) -> None:
        pairs[one] = other
        del left[one], free[other]

    for name in list(left):  # a name is a name
        if name in free and text(left[name].get("name")) and text(free[name].get("name")):
            pair(name, name)
    for same in (_content, _matches):
        for name in list(left):
            # its own number first: of two equal rules neither has moved
            candidates = sorted(free, key=lambda other, own=name: other != own)  # type: ignore[misc]
            found = next((other for other in candidates if same(left[name]) == same(free[other])), None)
            if found is not None:
                pair(name, found)
    for name in list(left):  # the rest has changed in place
        if name in free:
            pair(name, name)
        else:
            pairs[name] = None
    return {one: other for one, other in pairs.items() if one != other}


def _paired_listeners(old: Resource, new: Resource) -> dict[str, str | None]:
    """Listeners by name; one whose name alone is new by its port, protocol and hostname."""
    before, after = _named(old, "listeners", ""), _named(new, "listeners", "")
    free = {name: body for name, body in after.items() if name not in before}
    pairs: dict[str, str | None] = {}
    for name, body in before.items():
        if name not in after:
            found = next((other for other, like in free.items() if _content(body) == _content(like)), None)
            pairs[name] = found
            if found is not None:
                del free[found]
    return pairs


def _named(resource: Resource, field: str, synthetic: str) -> dict[str, Mapping[str, Any]]:
    bodies = [mapping(each) for each in sequence(resource.spec.get(field))]
    return {text(each.get("name")) or f"{synthetic}{number}": each for number, each in enumerate(bodies, 1)}


def _content(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "name"}


def _matches(body: Mapping[str, Any]) -> Any:
    """What a rule answers to; without matches every rule answers to everything, and nothing can be said."""
    return body.get("matches") or object()


def _renames(
    gone: list[Resource], come: list[Resource], before: Simulation, after: Simulation
) -> dict[ResourceKey, ResourceKey]:
    """Pairs of one kind whose settings are the same, else alike; the likest first."""
    found: dict[ResourceKey, ResourceKey] = {}
    arrivals: dict[tuple[str, str], list[Resource]] = defaultdict(list)
    for each in come:
        arrivals[each.key.group, each.key.kind].append(each)
    departures: dict[tuple[str, str], list[Resource]] = defaultdict(list)
    for each in gone:
        departures[each.key.group, each.key.kind].append(each)
    for kind, old in departures.items():
        new = arrivals.get(kind, [])
        if not new or len(old) * len(new) > _MOST_COMPARED:
            continue
        facts_before = {each.key: _facts(each, before) for each in old}
        facts_after = {each.key: _facts(each, after) for each in new}
        scored = []
        for one, facts in facts_before.items():
            for other, others in facts_after.items():
                likeness = _likeness(facts, others)
                same_name, same_namespace = one.name == other.name, one.namespace == other.namespace
                if likeness >= _LIKENESS and (likeness == 1 or same_name or same_namespace):
                    scored.append((-likeness, not same_name, not same_namespace, one, other))
        for *_, one, other in sorted(scored):
            if one not in found and other not in found.values():
                found[one] = other
    return found


def _facts(resource: Resource, simulation: Simulation) -> frozenset[tuple[str, str]]:
    """What an object says, its name and the targets of a policy left out: those follow other renames."""
    state = simulation.policies.get(resource.key)
    ignored = {"apiVersion", "kind", "metadata", "status"}
    body = {name: value for name, value in resource.body.items() if name not in ignored}
    if state is not None:
        spec = {name: value for name, value in resource.spec.items() if name not in state.kind.target_fields}
        body["spec"] = spec
    return frozenset((str(unit.pointer), repr(unit.value)) for unit in leaves(body) if unit.value not in ({}, None))


def _likeness(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> float:
    if not one or not other:
        return 0.0
    return len(one & other) / len(one | other)


def differs(one: Resource, other: Resource) -> bool:
    """Whether two states of an object differ in more than text: labels count, as selectors read them."""
    if one.body is other.body:
        return False
    return _meaning(one) != _meaning(other)


def _meaning(resource: Resource) -> dict[str, Any]:
    metadata = {name: value for name, value in resource.metadata.items() if name not in _TEXTUAL}
    return {**resource.body, "metadata": metadata, "status": None} | {"labels": dict(resource.labels)}
