"""Contexts whose effective policy changes. Whole groups are set aside first; paths are spelled out only for the rest.

A GatewayClass and a Namespace are no part of what makes two contexts the same: a Gateway that changes its class, or a
Namespace that is targeted for the first time, would make every path another one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, Literal

from policylint.compare.change import ContextChange
from policylint.compare.pairing import Pairing
from policylint.model import GATEWAY_GROUP, Node
from policylint.namedtuple import NamedTuple
from policylint.policy.paths import Paths
from policylint.policy.results import Effective, Group
from policylint.simulation import Simulation
from policylint.topology import Topology

MOST_CONTEXTS = 200_000
"""Per kind and side; beyond, a route stands for all its contexts."""
_BACKDROP = frozenset({("", "Namespace"), (GATEWAY_GROUP, "GatewayClass")})
Path = tuple[Node, ...]


class Contexts(NamedTuple):
    """What changed, and whether paths were too many to look at one by one."""

    changes: tuple[ContextChange, ...]
    truncated: bool


def changed_contexts(before: Simulation, after: Simulation, pairing: Pairing) -> Contexts:
    """Every context that is not the same on both sides, sorted by path and kind."""
    old, new = _by_kind(before.groups), _by_kind(after.groups)
    ways = Ways(before.topology, after.topology, pairing)
    changes: list[ContextChange] = []
    truncated = False
    for kind in sorted(old.keys() | new.keys()):
        left, right = _unequal(old.get(kind, []), new.get(kind, []), pairing, ways)
        if not left and not right:
            continue
        mine, whole = _paths(left)
        theirs, all_of_them = _paths(right)
        if not whole or not all_of_them:
            truncated = ways.loose = True
            mine, theirs = _routes_for_paths(left), _routes_for_paths(right)
        changes += _compare(before, mine, theirs, pairing, ways)
    changes.sort(key=lambda each: (each.path, each.kind.group, each.kind.kind, each.standing == "gone"))
    return Contexts(tuple(changes), truncated)


def _compare(
    before: Simulation,
    mine: dict[Path, tuple[Path, Group]],
    theirs: dict[Path, tuple[Path, Group]],
    pairing: Pairing,
    ways: Ways,
) -> Iterator[ContextChange]:
    same: dict[tuple[int, int], bool] = {}
    translated = {ways.forward(identity): found for identity, found in mine.items()}
    for identity in (*translated, *(each for each in theirs if each not in translated)):
        was, now = translated.get(identity), theirs.get(identity)
        if was is not None and now is not None:
            pair = (id(was[1]), id(now[1]))
            if pair not in same:
                same[pair] = equal(was[1].effective, now[1].effective, pairing)
            if same[pair]:
                continue
        one = None if was is None else was[1].effective
        other = None if now is None else now[1].effective
        if not (one and one.spec) and not (other and other.spec):
            continue
        standing: Literal["both", "gone", "new"] = "both"
        if now is None and not ways.stands_after(identity):
            standing = "gone"
        elif was is None and not ways.stood_before(identity):
            standing = "new"
        group = (now or was)[1]  # type: ignore[index]
        if now is not None:
            path = now[0]
        else:
            assert was is not None
            path = pairing.path(was[0]) if standing == "both" else was[0]
        yield ContextChange(before.world.name, group.kind, path, standing, one, other)


def equal(before: Effective, after: Effective, pairing: Pairing) -> bool:
    """Whether two effective policies are the same, who owns what included."""
    if before.spec is after.spec and before.owners is after.owners and not pairing.renamed:
        return True
    owners = {pointer: pairing.key(owner) for pointer, owner in before.owners.items()}
    return owners == dict(after.owners) and same_value(before.spec, after.spec)


def same_value(one: Any, other: Any) -> bool:
    """Equality as JSON has it: `1` is not `true`."""
    return bool(one == other) and _text(one) == _text(other)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _by_kind(groups: Sequence[Group]) -> dict[tuple[str, str], list[Group]]:
    found: dict[tuple[str, str], list[Group]] = defaultdict(list)
    for group in groups:
        found[group.kind.group, group.kind.kind].append(group)
    return found


def _unequal(old: list[Group], new: list[Group], pairing: Pairing, ways: Ways) -> tuple[list[Group], list[Group]]:
    """The groups that have not the same paths and the same result on both sides."""
    by_stack: dict[Any, list[Group]] = defaultdict(list)
    for group in new:
        by_stack[tuple((each.key, each.node) for each in group.effective.stack)].append(group)
    left = []
    for group in old:
        stack = tuple((pairing.key(each.key), pairing.node(each.node)) for each in group.effective.stack)
        twins = by_stack.get(stack, [])
        twin = next((each for each in twins if _is_twin(group, each, pairing, ways)), None)
        if twin is None:
            left.append(group)
        else:
            twins.remove(twin)
    return left, [group for twins in by_stack.values() for group in twins]


def _is_twin(before: Group, after: Group, pairing: Pairing, ways: Ways) -> bool:
    if not equal(before.effective, after.effective, pairing):
        return False
    one, other = before.contexts, after.contexts
    if isinstance(one, Paths) and isinstance(other, Paths):
        return one.equals(other, ways.counterparts)
    return list(map(ways.forward, one())) == list(other())


class _Counterparts(dict[int, int]):
    """Which vertex of after is which of before, -1 where none is; looked up when asked for."""

    def __init__(self, before: Topology, after: Topology, pairing: Pairing) -> None:
        super().__init__()
        self._before = before
        self._after = after
        self._pairing = pairing

    def __missing__(self, vertex: int) -> int:
        nodes, vertices = self._pairing.path(self._before.vertices[vertex].nodes), self._after.vertices
        if vertex < len(vertices) and vertices[vertex].nodes == nodes:  # as nearly all are that have the same number
            number = vertex
        else:
            number = next((each for each in self._after.vertices_of(nodes[0]) if vertices[each].nodes == nodes), -1)
        self[vertex] = number
        return number


def identity(path: Path) -> Path:
    """What of a path makes it the same context on both sides."""
    return tuple([node for node in path if node.key[:2] not in _BACKDROP])


def _paths(groups: list[Group]) -> tuple[dict[Path, tuple[Path, Group]], bool]:
    found: dict[Path, tuple[Path, Group]] = {}
    room = MOST_CONTEXTS
    for group in groups:
        for path in islice(group.contexts(), room + 1):
            found[identity(path)] = (path, group)
            room -= 1
        if room < 0:
            return found, False
    return found, True


def _routes_for_paths(groups: list[Group]) -> dict[Path, tuple[Path, Group]]:
    """Where the policies are attached, and the route: one entry per route and stack."""
    found: dict[Path, tuple[Path, Group]] = {}
    for group in groups:
        targets = tuple(dict.fromkeys(each.node for each in group.effective.stack))
        for node in sorted(group.nodes):
            if node.key.kind.endswith("Route") and not node.section:
                path = (*(each for each in targets if each != node), node)
                found[identity(path)] = (path, group)
    return found


class Ways:
    """The two topologies, to tell a path that is gone from one whose policy is.

    Attributes:
        loose: paths leave steps out: the last one decides.
        counterparts: which vertex of after is which of before, by their ids.
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
        """Whether every name means on one side what it means on the other."""
        if self._same_names is None:
            holders = [each.route.key for each in self._before.routes]
            holders += [each.gateway.key for each in self._before.gateways]
            holders += [each.listener_set.key for each in self._before.listener_sets]
            self._same_names = not self._pairing.renamed and not any(map(self._pairing.sections, holders))
        return self._same_names

    def forward(self, path: Path) -> Path:
        """A path of before as it is after."""
        return path if self.same_names else self._pairing.path(path)

    def stands_after(self, path: Path) -> bool:
        """Whether a path of before, as it is after, is still there."""
        return self._stands(self._after, path)

    def stood_before(self, path: Path) -> bool:
        """Whether a path of after was there before."""
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
    """Whether one node stands directly above another one, or beside it in one vertex."""
    uppers, lowers = topology.vertices_of(above), set(topology.vertices_of(below))
    if lowers.intersection(uppers):
        return True
    if not uppers or not lowers:
        return False
    children = sum(len(topology.children[each]) for each in uppers)
    parents = sum(len(topology.parents[each]) for each in lowers)
    if children <= parents:
        return any(child in lowers for each in uppers for child in topology.children[each])
    higher = set(uppers)
    return any(parent in higher for each in lowers for parent in topology.parents[each])
