"""The contexts through an object, folded: those with the same effective policies are one answer.

The effective policies are the Simulation's own; here they are only put beside the paths that they belong to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice

from policylint.explain.settings import settings
from policylint.model import Node
from policylint.namedtuple import NamedTuple
from policylint.policy.level import level
from policylint.policy.results import Group
from policylint.simulation import Simulation
from policylint.topology import Topology, whole

MOST_PATHS = 5_000
"""Paths through one object that are told apart; a Gateway of a large platform has more."""
Path = tuple[Node, ...]


class Answer(NamedTuple):
    """What acts on some of the contexts through an object.

    Args:
        groups: the effective policies, sorted by kind.
        paths: the contexts, without Namespaces.
    """

    groups: tuple[Group, ...]
    paths: tuple[Path, ...]


class Answers(NamedTuple):
    """All contexts through an object; `truncated` if there are more than are told apart."""

    listed: tuple[Answer, ...]
    truncated: bool

    @property
    def paths(self) -> list[Path]:
        return [path for each in self.listed for path in each.paths]


def answers(simulation: Simulation, nodes: Sequence[Node]) -> Answers:
    """The contexts through any of the nodes, folded by what acts on them; those with most contexts first."""
    topology = simulation.topology
    wanted = set(nodes)
    base, truncated = _paths(topology, nodes)
    covered = {path[:length] for path in base for length in range(1, len(path) + 1)}
    # A Gateway is acted on from its level and above; routes, rules and Services by all that a request there meets.
    relevant = wanted if any(map(leads_down, nodes)) else wanted.union(*base)
    own: dict[Path, list[int]] = defaultdict(list)
    for number, group in enumerate(simulation.groups):
        if relevant.isdisjoint(group.nodes):
            continue
        seen = 0
        for context in group.contexts():
            path = _bare(context, wanted)
            if path not in covered and wanted.isdisjoint(context):
                continue
            seen += 1
            if seen > MOST_PATHS:
                truncated = True
                break
            own[path].append(number)
    alone = {path for path in own if path not in covered}
    base |= {path for path in alone if not any(other != path and other[: len(path)] == path for other in alone)}
    folded: dict[tuple[int, ...], list[Path]] = defaultdict(list)
    for path in sorted(base):
        found = {number for length in range(1, len(path) + 1) for number in own.get(path[:length], ())}
        folded[tuple(sorted(found))].append(path)
    listed = _alike(Answer(tuple(simulation.groups[each] for each in n), tuple(p)) for n, p in folded.items())
    listed.sort(key=lambda each: (not each.groups, -len(each.paths), each.paths))
    return Answers(tuple(listed), truncated)


def _alike(found: Iterable[Answer]) -> list[Answer]:
    """Answers that read the same as one: a policy on two Gateways says of the routes of both the same."""
    alike: dict[object, Answer] = {}
    for each in found:
        words = tuple(map(_signature, each.groups))
        before = alike.get(words)
        alike[words] = each if before is None else before._replace(paths=tuple(sorted((*before.paths, *each.paths))))
    return list(alike.values())


def _signature(group: Group) -> object:
    """All that explain shows of a group: values, policies, places, levels, losses."""
    rows = (
        (each.pointer, repr(each.value), each.policy, each.location, each.state, each.by)
        + (() if each.node is None else (level((each.node,)), each.node.key.kind))
        for each in settings(group)
    )
    return (group.kind.group, group.kind.kind, tuple(rows))


def nodes_of(simulation: Simulation, node: Node) -> list[Node]:
    """The nodes that stand for an object: a workload is reached through the Services that select it."""
    from policylint.topology.workloads import is_workload, services_selecting

    if not is_workload(node.key.group, node.key.kind):
        return [node]
    resource = simulation.world.get(node.key)
    services = [] if resource is None else services_selecting(simulation.world, resource)
    return [node, *(whole(each.key) for each in services)]


def _paths(topology: Topology, nodes: Sequence[Node]) -> tuple[set[Path], bool]:
    """All paths from a root through the nodes to where the topology ends."""
    found: set[Path] = set()
    for node in nodes:
        for vertex in topology.vertices_of(node):
            if not topology.reachable[vertex]:
                continue
            ups = list(islice(_ups(topology, vertex), MOST_PATHS))
            downs = list(islice(_downs(topology, vertex), MOST_PATHS))
            for up in ups:
                for down in downs:
                    if len(found) >= MOST_PATHS:
                        return found, True
                    found.add((*up, *topology.vertices[vertex].nodes, *down))
    return found, False


def _ups(topology: Topology, vertex: int) -> Iterable[Path]:
    roots = set(topology.roots)
    pending: list[tuple[int, Path]] = [(vertex, ())]
    while pending:
        here, below = pending.pop()
        if here in roots:
            yield below
        for parent in reversed(topology.parents[here]):
            if topology.reachable[parent]:
                pending.append((parent, (*topology.vertices[parent].nodes, *below)))


def _downs(topology: Topology, vertex: int) -> Iterable[Path]:
    pending: list[tuple[int, Path]] = [(vertex, ())]
    while pending:
        here, above = pending.pop()
        if not topology.children[here]:
            yield above
        for child in reversed(topology.children[here]):
            pending.append((child, (*above, *topology.vertices[child].nodes)))


def leads_down(node: Node) -> bool:
    """Whether routes lie below a node: a class, a Gateway, a listener, a Namespace."""
    return level((node,)) in ("gatewayclass", "gateway", "listener") or node.key.kind == "Namespace"


def _bare(context: Path, wanted: set[Node]) -> Path:
    """A context without the Namespaces in it, unless it is about one."""
    return tuple(node for node in context if node.key.kind != "Namespace" or node.key.group or node in wanted)
