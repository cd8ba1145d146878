"""Contexts whose effective policy changes; equal groups are set aside, and paths are enumerated only for the rest.

GatewayClasses and Namespaces are ignored in the identity of a context: otherwise every path would be another one when
a Gateway changes its class, or a Namespace is targeted for the first time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, Literal

from policylint.compare.change import ContextChange
from policylint.compare.pairing import Pairing
from policylint.compare.sameness import encoded, same_value
from policylint.model import GATEWAY_GROUP, Node, ResourceKey, value_at
from policylint.namedtuple import NamedTuple
from policylint.policy.effective import ContextPaths
from policylint.policy.results import Effective, Group
from policylint.simulation import Simulation
from policylint.topology import Topology

MOST_CONTEXTS = 200_000
"""Most contexts per kind and side; beyond, a route stands for all its contexts."""
_BACKDROP = frozenset({("", "Namespace"), (GATEWAY_GROUP, "GatewayClass")})
Path = tuple[Node, ...]


class ContextChanges(NamedTuple):
    """The contexts that changed, and whether paths were too many to look at one by one."""

    changes: tuple[ContextChange, ...]
    truncated: bool


def changed_contexts(before: Simulation, after: Simulation, pairing: Pairing) -> ContextChanges:
    """Return every context that is not the same on both sides, sorted by path and kind."""
    old, new = _by_kind(before.acting.groups), _by_kind(after.acting.groups)
    ways = Ways(before.topology, after.topology, pairing)
    changes: list[ContextChange] = []
    truncated = False
    for kind in sorted(old.keys() | new.keys()):
        old_groups, new_groups = _unequal(old.get(kind, []), new.get(kind, []), pairing, ways)
        if not old_groups and not new_groups:
            continue
        old_paths, all_before = _paths(old_groups)
        new_paths, all_after = _paths(new_groups)
        if not all_before or not all_after:
            truncated = ways.loose = True
            old_paths, new_paths = _routes_for_paths(old_groups), _routes_for_paths(new_groups)
        changes += _compare(before, old_paths, new_paths, pairing, ways)
    changes.sort(key=lambda change: (change.path, change.kind.group, change.kind.kind, change.standing == "gone"))
    return ContextChanges(tuple(changes), truncated)


def _compare(
    before: Simulation,
    old_paths: dict[Path, tuple[Path, Group]],
    new_paths: dict[Path, tuple[Path, Group]],
    pairing: Pairing,
    ways: Ways,
) -> Iterator[ContextChange]:
    """Yield the paths of one kind whose effective policy changes, or that only one side has."""
    same: dict[tuple[int, int], bool] = {}
    translated = {ways.forward(identity): entry for identity, entry in old_paths.items()}
    for identity in (*translated, *(unmatched for unmatched in new_paths if unmatched not in translated)):
        was, now = translated.get(identity), new_paths.get(identity)
        if was is not None and now is not None:
            pair = (id(was[1]), id(now[1]))
            if pair not in same:
                same[pair] = equal(was[1].effective, now[1].effective, pairing)
            if same[pair]:
                continue
        effective_before = None if was is None else was[1].effective
        effective_after = None if now is None else now[1].effective
        if not (effective_before and effective_before.spec) and not (effective_after and effective_after.spec):
            continue
        group = (now or was)[1]  # type: ignore[index]
        path = (now or was)[0]  # type: ignore[index]
        standing: Literal["both", "gone", "new"] = "both"
        if now is None and not ways.stands_after(identity):
            standing = "gone"
        elif was is None and not ways.stood_before(identity):
            standing = "new"
        elif now is None:
            path = pairing.path(path)
        yield ContextChange(before.world.name, group.kind, path, standing, effective_before, effective_after)


def equal(before: Effective, after: Effective, pairing: Pairing) -> bool:
    """Return whether two effective policies are the same, the owner of each leaf and what fails included."""
    if {at: failure.status for at, failure in before.failing.items()} != {
        at: failure.status for at, failure in after.failing.items()
    }:
        return False
    if before.spec is after.spec and before.owners is after.owners and not pairing.renamed:
        return True
    owners = {pointer: pairing.key(owner) for pointer, owner in before.owners.items()}
    if owners == dict(after.owners) and same_value(before.spec, after.spec):
        return True
    # Where every policy counts, the names of all of them are what is set, in their order.
    return bool(pairing.renamed) and _leaves(before, pairing.key) == _leaves(after, lambda owner: owner)


def _leaves(effective: Effective, now: Callable[[ResourceKey], ResourceKey]) -> list[tuple[str, str, str]]:
    """Return what is set, sorted: where, by which policy as it is called now, and to what; in a list of policies none
    has a place."""
    found = []
    for pointer, owner in effective.owners.items():
        value = value_at(effective.spec, pointer)
        itself = value == str(owner)
        found.append((str(pointer[:-1] if itself else pointer), str(now(owner)), "" if itself else encoded(value)))
    return sorted(found)


def _by_kind(groups: Sequence[Group]) -> dict[tuple[str, str], list[Group]]:
    by_kind: dict[tuple[str, str], list[Group]] = defaultdict(list)
    for group in groups:
        by_kind[group.kind.group, group.kind.kind].append(group)
    return by_kind


def _unequal(old: list[Group], new: list[Group], pairing: Pairing, ways: Ways) -> tuple[list[Group], list[Group]]:
    """Return the groups of each side that have no group with the same paths and the same result on the other."""
    by_stack: dict[Any, list[Group]] = defaultdict(list)
    for group in new:
        by_stack[tuple((attachment.key, attachment.node) for attachment in group.effective.stack)].append(group)
    left = []
    for group in old:
        stack = tuple(
            (pairing.key(attachment.key), pairing.node(attachment.node)) for attachment in group.effective.stack
        )
        twins = by_stack.get(stack, [])
        twin = next((candidate for candidate in twins if _is_twin(group, candidate, pairing, ways)), None)
        if twin is None:
            left.append(group)
        else:
            twins.remove(twin)
    return left, [group for twins in by_stack.values() for group in twins]


def _is_twin(before: Group, after: Group, pairing: Pairing, ways: Ways) -> bool:
    """Return whether two groups have the same result and the same contexts."""
    if not equal(before.effective, after.effective, pairing):
        return False
    old_contexts, new_contexts = before.contexts, after.contexts
    if isinstance(old_contexts, ContextPaths) and isinstance(new_contexts, ContextPaths):
        return old_contexts.equals(new_contexts, ways.counterparts)
    return list(map(ways.forward, old_contexts())) == list(new_contexts())


class _Counterparts(dict[int, int]):
    """The vertex of after for each vertex of before, -1 where there is none; looked up on demand."""

    def __init__(self, before: Topology, after: Topology, pairing: Pairing) -> None:
        super().__init__()
        self._before = before
        self._after = after
        self._pairing = pairing

    def __missing__(self, vertex: int) -> int:
        nodes, vertices = self._pairing.path(self._before.vertices[vertex].nodes), self._after.vertices
        if vertex < len(vertices) and vertices[vertex].nodes == nodes:  # most vertices keep their number
            number = vertex
        else:
            number = next(
                (candidate for candidate in self._after.vertices_of(nodes[0]) if vertices[candidate].nodes == nodes), -1
            )
        self[vertex] = number
        return number


def identity(path: Path) -> Path:
    """Return the nodes of a path that make it the same context on both sides."""
    return tuple([node for node in path if node.key[:2] not in _BACKDROP])


def _paths(groups: list[Group]) -> tuple[dict[Path, tuple[Path, Group]], bool]:
    """Return the contexts of groups by identity, and whether these are all; at most MOST_CONTEXTS."""
    by_identity: dict[Path, tuple[Path, Group]] = {}
    room = MOST_CONTEXTS
    for group in groups:
        for path in islice(group.contexts(), room + 1):
            by_identity[identity(path)] = (path, group)
            room -= 1
        if room < 0:
            return by_identity, False
    return by_identity, True


def _routes_for_paths(groups: list[Group]) -> dict[Path, tuple[Path, Group]]:
    """Return one entry per route and stack: the nodes that the policies are attached to, and the route."""
    by_identity: dict[Path, tuple[Path, Group]] = {}
    for group in groups:
        targets = tuple(dict.fromkeys(attachment.node for attachment in group.effective.stack))
        for node in sorted(group.nodes):
            if node.key.kind.endswith("Route") and not node.section:
                path = (*(target for target in targets if target != node), node)
                by_identity[identity(path)] = (path, group)
    return by_identity


class Ways:
    """The paths of the two topologies, to tell a path that is gone from one whose policy is gone.

    Attributes:
        loose: paths leave steps out, and only their last node is looked up.
        counterparts: the id of the vertex of after for that of before.
    """

    __slots__ = ("_after", "_before", "_links", "_pairing", "_same_names", "counterparts", "loose")

    def __init__(self, before: Topology, after: Topology, pairing: Pairing) -> None:
        self._before = before
        self._after = after
        self._pairing = pairing
        self._links: dict[tuple[int, Node, Node], bool] = {}
        self.loose = False
        self.counterparts = _Counterparts(before, after, pairing)
        self._same_names: bool | None = None

    @property
    def same_names(self) -> bool:
        """Whether every name means the same on both sides."""
        if self._same_names is None:
            holders = [state.route.key for state in self._before.routes]
            holders += [state.gateway.key for state in self._before.gateways]
            holders += [state.listener_set.key for state in self._before.listener_sets]
            self._same_names = not self._pairing.renamed and not any(map(self._pairing.sections, holders))
        return self._same_names

    def forward(self, path: Path) -> Path:
        """Return a path of before as it is after."""
        return path if self.same_names else self._pairing.path(path)

    def stands_after(self, path: Path) -> bool:
        """Return whether a path of before, as it is after, is still there."""
        return self._stands(self._after, path)

    def stood_before(self, path: Path) -> bool:
        """Return whether a path of after was there before."""
        return self._stands(self._before, path if self.same_names else tuple(map(self._pairing.origin, path)))

    def _stands(self, topology: Topology, path: Path) -> bool:
        if len(path) == 1 or (path and self.loose):
            return bool(topology.vertices_of(path[-1])) or topology.world.get(path[-1].key) is not None
        return bool(path) and all(self._linked(topology, *pair) for pair in pairwise(path))

    def _linked(self, topology: Topology, above: Node, below: Node) -> bool:
        place = (id(topology), above, below)
        if place not in self._links:
            self._links[place] = linked(topology, above, below)
        return self._links[place]


def linked(topology: Topology, above: Node, below: Node) -> bool:
    """Return whether a node stands directly above another one, or beside it in one vertex."""
    uppers, lowers = topology.vertices_of(above), set(topology.vertices_of(below))
    if lowers.intersection(uppers):
        return True
    if not uppers or not lowers:
        return False
    children = sum(len(topology.children[upper]) for upper in uppers)
    parents = sum(len(topology.parents[lower]) for lower in lowers)
    if children <= parents:
        return any(child in lowers for upper in uppers for child in topology.children[upper])
    higher = set(uppers)
    return any(parent in higher for lower in lowers for parent in topology.parents[lower])
