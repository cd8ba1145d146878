"""How identities of one side read on the other: objects by identity, else as a rename; sections by what they say.

A route's unnamed rules are known by their number, so inserting a rule before them renumbers the rest: they are paired
by their matches and backends instead (docs/design/interfaces.md §2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from itertools import groupby, product
from typing import Any

from policylint.catalog.kinds import Catalog
from policylint.compare.sameness import encoded
from policylint.doors.peculiar import ENTRIES
from policylint.model import GATEWAY_GROUP, ROUTE_KINDS, Node, Resource, ResourceKey, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import KINDS as NETWORK_POLICIES
from policylint.policy.units import leaves
from policylint.simulation import Simulation

_LIKENESS = 0.5
"""As in git: two objects with half of their settings in common may be one that was renamed."""
_MOST_COMPARED = 10_000
"""Pairs of objects of one kind; beyond, none of the kind counts as renamed."""
_TEXTUAL = ("annotations", "labels", "managedFields", "creationTimestamp", "uid", "resourceVersion", "generation")


_Rules = Mapping[ResourceKey, Mapping[str, Mapping[str, Any]]]
"""The rules of doors' objects, by object and name."""


class Pairing:
    """The mapping from the identities of the side before to those of the side after.

    Attributes:
        renamed: old → new identity of objects that have another name or namespace.
        back: the same, new → old.
        added, removed: identities that only one side has, renames left out.
    """

    __slots__ = (
        "_after",
        "_before",
        "_edited",
        "_of_doors",
        "_opened",
        "_sections",
        "added",
        "back",
        "removed",
        "renamed",
    )

    def __init__(self, before: Simulation, after: Simulation) -> None:
        self._before = before
        self._after = after
        old, new = before.world.resources, after.world.resources
        departed = [old[key] for key in sorted(old.keys() - new.keys())]
        arrived = [new[key] for key in sorted(new.keys() - old.keys())]
        self.renamed = _renames(departed, arrived, before, after) if departed and arrived else {}
        self.back = {new_key: key for key, new_key in self.renamed.items()}
        self.removed = frozenset(resource.key for resource in departed) - self.renamed.keys()
        self.added = frozenset(resource.key for resource in arrived) - self.back.keys()
        self._sections: dict[ResourceKey, Mapping[str, str | None]] = {}
        self._opened: tuple[Simulation, Simulation] | None = None
        self._of_doors: tuple[_Rules, _Rules] | None = None
        self._edited: dict[tuple[str, str], list[tuple[Resource, Resource]]] = {}

    @property
    def new(self) -> frozenset[ResourceKey]:
        """The objects that the change creates: one under another name or in another namespace is a new one, too."""
        return self.added | self.back.keys()

    @property
    def gone(self) -> frozenset[ResourceKey]:
        """The identities that only the side before has: of objects that are gone, or have another name or namespace."""
        return self.removed | self.renamed.keys()

    @property
    def moved(self) -> Mapping[ResourceKey, ResourceKey]:
        """The objects that are in another namespace, by what they are now, but for those that went with all that was in
        theirs: who reads them hangs on where they are."""
        if not self.renamed:
            return {}
        lived_in, lives_in = ({key.namespace for key in side.world.resources} for side in (self._before, self._after))
        return {
            new: old
            for old, new in sorted(self.renamed.items())
            if old.namespace != new.namespace and (old.namespace in lives_in or new.namespace in lived_in)
        }

    def of_rules(self, before: Simulation, after: Simulation) -> Pairing:
        """Return the same mapping for sides with doors, whose objects have rules, too."""
        opened = copy(self)
        opened._opened, opened._sections = (before, after), {}
        return opened

    def key(self, key: ResourceKey) -> ResourceKey:
        """Return an identity of before as it is after."""
        return self.renamed.get(key, key) if self.renamed else key

    def was(self, key: ResourceKey) -> ResourceKey:
        """Return an identity of after as it was before."""
        return self.back.get(key, key)

    def node(self, node: Node) -> Node:
        """Return a node of before as it is after.

        A section that is gone keeps its name with a mark, so that it equals no section that is there.
        """
        key = self.key(node.key)
        if not node.section:
            return node if key is node.key else node._replace(key=key)
        sections = self.sections(node.key)
        if not sections and key is node.key:
            return node
        section = sections.get(node.section, node.section)
        return Node(key, f"{node.section} (gone)" if section is None else section, node.role)

    def origin(self, node: Node) -> Node:
        """Return a node of after as it was before, with a mark where its section is new."""
        key = self.was(node.key)
        if not node.section:
            return node if key is node.key else node._replace(key=key)
        sections = self.sections(key)
        for old, new in sections.items():
            if new == node.section:
                return Node(key, old, node.role)
        return Node(key, f"{node.section} (new)" if node.section in sections else node.section, node.role)

    def sections(self, key: ResourceKey) -> Mapping[str, str | None]:
        """Return old name → new name of an object's sections that have another name; None for those that are gone."""
        paired = self._sections.get(key)
        if paired is None:
            paired = self._sections[key] = self._paired_sections(key, self.key(key))
        return paired

    def edited(self, group: str, kind: str) -> list[tuple[Resource, Resource]]:
        """Return the objects of a kind that both sides have and that say something else, as they were and are."""
        found = self._edited.get((group, kind))
        if found is None:
            found = []
            for old in self._before.world.of_kind(group, kind):
                new = self._after.world.get(self.key(old.key))
                # What is rendered is made anew where anything beside it changes.
                if new is not None and new.body is not old.body and encoded(new.body) != encoded(old.body):
                    found.append((old, new))
            self._edited[group, kind] = found
        return found

    def path(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """Return a path of before as it is after."""
        return tuple(map(self.node, nodes))

    def _paired_sections(self, old_key: ResourceKey, new_key: ResourceKey) -> Mapping[str, str | None]:
        old, new = self._before.world.get(old_key), self._after.world.get(new_key)
        if old is None or new is None or old.body is new.body:
            return {}
        if old_key.kind in ROUTE_KINDS:
            if old.spec.get("rules") == new.spec.get("rules"):
                return {}
            return _paired_rules(_named(old, "rules", "rule-"), _named(new, "rules", "rule-"))
        if old_key.group == GATEWAY_GROUP and "listeners" in old.spec:
            return _paired_listeners(old, new)
        if self._opened is None or old_key[:2] not in ENTRIES:
            return {}
        if self._of_doors is None:
            self._of_doors = _of_doors(self._opened[0]), _of_doors(self._opened[1])
        before, after = self._of_doors
        return _paired_rules(before.get(old_key, {}), after.get(new_key, {}))


class Sides(NamedTuple):
    """Both sides of an environment, and how their identities pair up."""

    before: Simulation
    after: Simulation
    pairing: Pairing

    def edited(self, group: str, kind: str) -> list[tuple[Resource, Resource]]:
        """Return the objects of a kind that both sides have and that say something else, as they were and are."""
        return self.pairing.edited(group, kind)


def _of_doors(side: Simulation) -> dict[ResourceKey, dict[str, Mapping[str, Any]]]:
    """Return the rules of the objects of doors by name, each with its hosts: nobody wrote the names, nor the ranks."""
    found: dict[ResourceKey, dict[str, dict[str, Any]]] = {}
    for state in side.topology.routes:
        if state.route.key[:2] not in ENTRIES:
            continue
        own = found.setdefault(state.route.key, {})
        places = [str(candidate.node) for parent in state.parents for candidate in parent.candidates]
        for body in filter(None, map(mapping, sequence(state.route.spec.get("rules")))):
            plain = {field: value for field, value in body.items() if field not in ("name", "precedence")}
            rule = own.setdefault(text(body.get("name")), {**plain, "matches": [body.get("matches")]})
            rule["matches"] += [*state.hostnames, *places]
    return {key: dict(own) for key, own in found.items()}


def _paired_rules(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]
) -> dict[str, str | None]:
    """Return old name → new name of the rules that have another name, None for those that are gone."""
    pairs: dict[str, str | None] = {}
    unpaired, available = dict(before), dict(after)

    def pair(old_name: str, new_name: str) -> None:
        pairs[old_name] = new_name
        del unpaired[old_name], available[new_name]

    for name in list(unpaired):  # a name that both sides state is the same rule
        if name in available and text(unpaired[name].get("name")) and text(available[name].get("name")):
            pair(name, name)
    for same in (_content, _matches):
        alike: dict[str, list[str]] = {}
        for name, body in available.items():
            alike.setdefault(same(body), []).append(name)
        for name in list(unpaired):
            candidates = alike.get(same(unpaired[name]), ()) if same(unpaired[name]) else ()
            # The same number first: of two equal rules neither has moved.
            partner = name if name in candidates and name in available else None
            partner = partner or next((each for each in candidates if each in available), None)
            if partner is not None:
                pair(name, partner)
    for name in list(unpaired):  # the rest has changed in place
        if name in available:
            pair(name, name)
        else:
            pairs[name] = None
    return {old_name: new_name for old_name, new_name in pairs.items() if old_name != new_name}


def _paired_listeners(old: Resource, new: Resource) -> dict[str, str | None]:
    """Pair listeners by name; one of which only the name is new by its port, protocol and hostname."""
    before, after = _named(old, "listeners", ""), _named(new, "listeners", "")
    available = {name: body for name, body in after.items() if name not in before}
    pairs: dict[str, str | None] = {}
    for name, body in before.items():
        if name not in after:
            content = _content(body)
            partner = next((candidate for candidate in available if _content(available[candidate]) == content), None)
            pairs[name] = partner
            if partner is not None:
                del available[partner]
    return pairs


def _named(resource: Resource, field: str, synthetic: str) -> dict[str, Mapping[str, Any]]:
    """Return the entries of a list field by name, unnamed ones by number from 1."""
    bodies = [mapping(entry) for entry in sequence(resource.spec.get(field))]
    return {text(body.get("name")) or f"{synthetic}{number}": body for number, body in enumerate(bodies, 1)}


def _content(body: Mapping[str, Any]) -> str:
    """Return an entry without its name."""
    return encoded({name: value for name, value in body.items() if name != "name"})


def _matches(body: Mapping[str, Any]) -> str:
    """Return the matches of a rule; "" for a rule without any, which matches everything and equals no other."""
    return encoded(body["matches"]) if body.get("matches") else ""


def _renames(
    departed: list[Resource], arrived: list[Resource], before: Simulation, after: Simulation
) -> dict[ResourceKey, ResourceKey]:
    """Return pairs of objects of one kind whose settings are the same or, failing that, alike; the likest first."""
    renames: dict[ResourceKey, ResourceKey] = {}

    def kind_of(resource: Resource) -> tuple[str, ...]:
        return resource.key[:2]

    arrivals = {kind: list(resources) for kind, resources in groupby(arrived, kind_of)}
    for kind, departures in groupby(departed, kind_of):
        old, new = list(departures), arrivals.get(kind, [])
        if not new or len(old) * len(new) > _MOST_COMPARED:
            continue
        facts_before = {resource.key: _facts(resource, before) for resource in old}
        facts_after = {resource.key: _facts(resource, after) for resource in new}
        scored = []
        for (old_key, old_facts), (new_key, new_facts) in product(facts_before.items(), facts_after.items()):
            bare = not old_facts and not new_facts and old_key in before.policies and new_key in after.policies
            likeness = _LIKENESS if bare else _likeness(old_facts, new_facts)  # as `spec: {}`, which denies all
            same_name, same_namespace = old_key.name == new_key.name, old_key.namespace == new_key.namespace
            if likeness >= _LIKENESS and (likeness == 1 or same_name or same_namespace):
                scored.append((-likeness, not same_name, not same_namespace, old_key, new_key))
        for *_, old_key, new_key in sorted(scored):
            if old_key not in renames and new_key not in renames.values():
                renames[old_key] = new_key
    return renames


def _facts(resource: Resource, simulation: Simulation) -> frozenset[tuple[str, str]]:
    """Return what an object says, without its name and a policy's targets: those follow other renames."""
    state = simulation.policies.get(resource.key)
    ignored = {"apiVersion", "kind", "metadata", "status"}
    body = {name: value for name, value in resource.body.items() if name not in ignored}
    if state is not None:
        body["spec"] = {name: value for name, value in resource.spec.items() if name not in state.kind.target_fields}
    return frozenset((str(unit.pointer), repr(unit.value)) for unit in leaves(body) if unit.value not in ({}, None))


def _likeness(left: frozenset[tuple[str, str]], right: frozenset[tuple[str, str]]) -> float:
    """Return the share of facts that two objects have in common, from 0 to 1."""
    if not left or not right:
        return 0.0
    return len(left & right) / len(left | right)


def differs(left: Resource, right: Resource, catalog: Catalog | None = None) -> bool:
    """Return whether two states of an object differ in more than text; labels count, as selectors read them.

    Args:
        catalog: tells policies, whose labels are text where no controller may read them.
    """
    if left.body is right.body:
        return False
    if says_otherwise(left.body, right.body):
        return True
    was, now = left.labels, right.labels
    others = [name for name in {**was, **now} if was.get(name) != now.get(name)]
    if catalog is None or any("/" not in name or catalog.may_be_read(name) for name in others):
        return bool(others)  # a label in nobody's domain may be read, as `global` of a KongClusterPlugin
    return bool(others) and not (is_policy(catalog, *left.key[:2]) and not _is_selected(left.key, catalog))


def says_otherwise(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Return whether two states of an object differ in more than text and labels; `1` is not `true`."""
    before, after = _said(left), _said(right)
    return before != after or encoded(before) != encoded(after)


def _said(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an object says, without the metadata that changes nothing in effect, and without its labels."""
    metadata = {name: value for name, value in mapping(body.get("metadata")).items() if name not in _TEXTUAL}
    return {**body, "metadata": metadata, "status": None}


def is_policy(catalog: Catalog, group: str, kind: str) -> bool:
    """Tell whether objects of a kind are policies of the catalog, or of networks."""
    return (group, kind) in NETWORK_POLICIES or catalog.get(group, kind) is not None


def _is_selected(key: ResourceKey, catalog: Catalog) -> bool:
    """Tell whether policies act on objects of a kind, and may select them by their labels, as Servers of Linkerd."""
    return any(target[:2] == key[:2] for kind in catalog.kinds() for target in kind.targets)
