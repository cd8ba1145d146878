"""The contexts through an object, folded: contexts with the same effective policies share one answer.

The effective policies are the Simulation's own; this module only puts them beside the paths they belong to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice, product

from policylint.explain.settings import settings
from policylint.model import Node
from policylint.namedtuple import NamedTuple
from policylint.policy.level import level
from policylint.policy.results import Group
from policylint.simulation import Simulation
from policylint.topology import Topology, whole

MOST_PATHS = 5_000
"""Most paths through one object that are listed; a Gateway of a large platform has more."""
Path = tuple[Node, ...]


class ContextAnswer(NamedTuple):
    """The policies that act in some of the contexts through an object.

    Args:
        groups: the effective policies, sorted by kind.
        paths: the contexts, without Namespaces.
    """

    groups: tuple[Group, ...]
    paths: tuple[Path, ...]


class ContextAnswers(NamedTuple):
    """All contexts through an object; `truncated` if there are more than MOST_PATHS."""

    listed: tuple[ContextAnswer, ...]
    truncated: bool

    @property
    def paths(self) -> list[Path]:
        """The contexts of all answers, in the order of the answers."""
        return [path for answer in self.listed for path in answer.paths]


def answers(simulation: Simulation, nodes: Sequence[Node]) -> ContextAnswers:
    """Return the contexts through any of the nodes, folded by what acts on them; answers with most contexts first."""
    topology = simulation.topology
    subjects = set(nodes)
    base, truncated = _paths(topology, nodes)
    covered = {path[:length] for path in base for length in range(1, len(path) + 1)}
    # A Gateway is acted on from its level and above; routes, rules and Services by all that a request there meets.
    relevant = subjects if any(map(leads_down, nodes)) else subjects.union(*base)
    numbers_by_path: dict[Path, list[int]] = defaultdict(list)
    for number, group in enumerate(simulation.groups):
        if relevant.isdisjoint(group.nodes):
            continue
        seen = 0
        for context in group.contexts():
            path = _without_namespaces(context, subjects)
            if path not in covered and subjects.isdisjoint(context):
                continue
            seen += 1
            if seen > MOST_PATHS:
                truncated = True
                break
            numbers_by_path[path].append(number)
    uncovered = {path for path in numbers_by_path if path not in covered}
    # Contexts that are no path of the topology: of those that begin alike, the longest stands for all.
    base |= uncovered - {path[:length] for path in uncovered for length in range(len(path))}
    paths_by_numbers: dict[tuple[int, ...], list[Path]] = defaultdict(list)
    for path in sorted(base):
        acting = {number for length in range(1, len(path) + 1) for number in numbers_by_path.get(path[:length], ())}
        paths_by_numbers[tuple(sorted(acting))].append(path)
    listed = _merge_equal(
        ContextAnswer(tuple(simulation.groups[number] for number in numbers), tuple(paths))
        for numbers, paths in paths_by_numbers.items()
    )
    acted_on = any(answer.groups for answer in listed)
    if len(subjects) > 1 and acted_on:  # what leads to a stand-in of the object is no way of its own
        listed = [answer for answer in listed if answer.groups or not all(map(subjects.issuperset, answer.paths))]
    listed.sort(key=lambda answer: (not answer.groups, -len(answer.paths), answer.paths))
    return ContextAnswers(tuple(listed), truncated)


def _merge_equal(unmerged: Iterable[ContextAnswer]) -> list[ContextAnswer]:
    """Merge answers that read the same: a policy on two Gateways says the same about the routes of both."""
    merged: dict[object, ContextAnswer] = {}
    for answer in unmerged:
        signature = tuple(map(_signature, answer.groups))
        earlier = merged.get(signature)
        if earlier is not None:
            answer = earlier._replace(paths=tuple(sorted((*earlier.paths, *answer.paths))))
        merged[signature] = answer
    return list(merged.values())


def _signature(group: Group) -> object:
    """Return everything that explain shows of a group: values, policies, places, levels, losses."""
    rows = (
        (setting.pointer, repr(setting.value), setting.policy, setting.location, setting.state, setting.by)
        + (() if setting.node is None else (level((setting.node,)), setting.node.key.kind))
        for setting in settings(group)
    )
    return (group.kind.group, group.kind.kind, tuple(rows))


def nodes_of(simulation: Simulation, node: Node) -> list[Node]:
    """Return the nodes that stand for an object.

    A workload is reached through the Services that select it, and Linkerd's Servers with their routes say who may do
    so; requests to a Service come to the workloads behind it.
    """
    from policylint.topology.workloads import (
        is_workload,
        server_routes,
        servers_behind,
        servers_selecting,
        services_selecting,
    )

    world, resource = simulation.world, simulation.world.get(node.key)
    if resource is None or node.section:
        return [node]
    if is_workload(node.key.group, node.key.kind):
        workloads, others = [resource], services_selecting(world, resource)
    elif (node.key.group, node.key.kind) == ("", "Service"):
        workloads, others = servers_behind(world, resource), []
    else:
        return [node]
    for workload in workloads:
        servers = servers_selecting(world, workload)
        others += [workload, *servers, *(route for server in servers for route in server_routes(world, server))]
    return list(dict.fromkeys((node, *(whole(each.key) for each in others))))


def _paths(topology: Topology, nodes: Sequence[Node]) -> tuple[set[Path], bool]:
    """Return all paths from a root through the nodes to a leaf of the topology, and whether some were left out."""
    paths: set[Path] = set()
    for node in nodes:
        for vertex in topology.vertices_of(node):
            if not topology.reachable[vertex]:
                continue
            ups = list(islice(_ups(topology, vertex), MOST_PATHS))
            downs = list(islice(_downs(topology, vertex), MOST_PATHS))
            for up, down in product(ups, downs):
                if len(paths) >= MOST_PATHS:
                    return paths, True
                paths.add((*up, *topology.vertices[vertex].nodes, *down))
    return paths, False


def _ups(topology: Topology, vertex: int) -> Iterable[Path]:
    """Yield the paths from a root down to a vertex, the vertex left out."""
    roots = set(topology.roots)
    pending: list[tuple[int, Path]] = [(vertex, ())]
    while pending:
        current, below = pending.pop()
        if current in roots:
            yield below
        for parent in reversed(topology.parents[current]):
            if topology.reachable[parent]:
                pending.append((parent, (*topology.vertices[parent].nodes, *below)))


def _downs(topology: Topology, vertex: int) -> Iterable[Path]:
    """Yield the paths from a vertex down to a leaf, the vertex left out."""
    pending: list[tuple[int, Path]] = [(vertex, ())]
    while pending:
        current, above = pending.pop()
        if not topology.children[current]:
            yield above
        for child in reversed(topology.children[current]):
            pending.append((child, (*above, *topology.vertices[child].nodes)))


def leads_down(node: Node) -> bool:
    """Return whether routes lie below a node: a class, a Gateway, a listener, a Namespace."""
    return level((node,)) in ("gatewayclass", "gateway", "listener") or node.key.kind == "Namespace"


def _without_namespaces(context: Path, subjects: set[Node]) -> Path:
    """Return a context without its Namespaces, except one that the question is about."""
    return tuple(node for node in context if node.key.kind != "Namespace" or node.key.group or node in subjects)
