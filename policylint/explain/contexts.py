"""The contexts through an object, folded: contexts with the same effective policies share one answer.

The effective policies are the Simulation's own; this module only puts them beside the paths they belong to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice, product, takewhile

from policylint.explain.settings import settings
from policylint.model import Node, Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.level import level
from policylint.policy.paths import Path
from policylint.policy.results import Group
from policylint.simulation import Simulation
from policylint.simulation.acting import MOST_PATHS, leads_down
from policylint.topology import Topology, whole


class ContextAnswer(NamedTuple):
    """The policies that act in some of the contexts through an object.

    Args:
        groups: the effective policies, sorted by kind.
        paths: the contexts, without Namespaces.
        partly: those of the groups that only some requests of these contexts meet.
    """

    groups: tuple[Group, ...]
    paths: tuple[Path, ...]
    partly: tuple[Group, ...] = ()

    def meets_some(self, group: Group) -> bool:
        """Return whether only some requests of these contexts meet one of the groups."""
        return any(each is group for each in self.partly)


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
    acting, subjects = simulation.acting, set(nodes)
    base, truncated = _paths(simulation.topology, nodes)
    covered = {part for path in base for part in _parts(path, acting.starts)}
    # A Gateway is acted on from its level and above; routes, rules and Services by all that a request there meets.
    leads = any(map(leads_down, nodes))
    behind = {} if leads else _by_backend(filter(acting.is_open, base))
    passed = {node for path in base for node in (_down_to(path, subjects) if leads else path)}
    numbers_by_path: dict[Path, list[int]] = defaultdict(list)
    numbers_behind: dict[Path, list[int]] = defaultdict(list)
    by_all: set[tuple[Path, int]] = set()
    for number in sorted(acting.at(subjects | passed, behind)):
        seen, group = 0, acting.groups[number]
        # What is attached to the object acts there, also where contexts begin below it, as those of a mesh do; not
        # where a proxy makes it act besides.
        itself = group.contexts is simulation.groups[number].contexts
        attached = itself and any(attachment.node in subjects for attachment in group.effective.stack)
        for context in filter(acting.is_open, group.contexts()):
            path = _without_namespaces(context, subjects)
            if path not in covered and not attached and subjects.isdisjoint(context):
                for backend in acting.backends(path) & behind.keys():
                    for way in behind[backend]:
                        if acting.passes(path, backend, _sender(simulation, way)):
                            numbers_behind[way].append(number)
                continue
            seen += 1
            if seen > MOST_PATHS:
                truncated = True
                break
            numbers_by_path[path].append(number)
            if context not in group.partly:
                by_all.add((path, number))
    uncovered = {path for path in numbers_by_path if path not in covered}
    # Contexts that are no path of the topology: of those that begin alike, the longest stands for all.
    base |= uncovered - {path[:length] for path in uncovered for length in range(len(path))}
    paths_by_numbers: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Path]] = defaultdict(list)
    for path in sorted(base):
        passed_part = acting.open_part(path)
        parts = (
            [] if subjects.isdisjoint(passed_part) and passed_part != path else [*_parts(passed_part, acting.starts)]
        )
        numbers = {number for part in parts for number in numbers_by_path.get(part, ())}
        some = numbers.difference(
            numbers_behind.get(path, ()), (number for number in numbers for part in parts if (part, number) in by_all)
        )
        all_numbers = numbers.union(numbers_behind.get(path, ()))
        paths_by_numbers[tuple(sorted(all_numbers)), tuple(sorted(some))].append(path)
    listed = _merge_equal(
        ContextAnswer(
            tuple(simulation.groups[number] for number in numbers),
            tuple(paths),
            tuple(simulation.groups[number] for number in some),
        )
        for (numbers, some), paths in paths_by_numbers.items()
    )
    acted_on = any(answer.groups for answer in listed)
    if len(subjects) > 1 and acted_on:  # what leads to a stand-in of the object, or to its port, is no way of its own
        keys = {node.key for node in subjects}
        own = [all(node.key in keys for path in answer.paths for node in path) for answer in listed]
        listed = [answer for answer, is_own in zip(listed, own, strict=True) if answer.groups or not is_own]
    if leads:  # nor is a listener of a proxy that Services have before them
        proxies = {node for path in uncovered for node in path}
        listed = [answer for answer in listed if answer.groups or any(map(proxies.isdisjoint, answer.paths))]
    listed.sort(key=lambda answer: (not answer.groups, -len(answer.paths), answer.paths))
    return ContextAnswers(tuple(listed), truncated)


def _down_to(path: Path, subjects: Container[Node]) -> Iterator[Node]:
    """Yield the nodes of a path above the first of some nodes."""
    return takewhile(lambda node: node not in subjects, path)


def _parts(path: Path, starts: Container[Node]) -> Iterator[Path]:
    """Yield the parts of a path that contexts may be: from where one begins to any node after it."""
    for start, node in enumerate(path):
        if not start or node in starts:
            yield from (path[start:end] for end in range(start + 1, len(path) + 1))


def _by_backend(paths: Iterable[Path]) -> dict[ResourceKey, list[Path]]:
    """Return the paths that lead to a backend, by that backend."""
    by_backend: dict[ResourceKey, list[Path]] = defaultdict(list)
    for path in paths:
        by_backend[path[-1].key].append(path)
    return by_backend


def _sender(simulation: Simulation, path: Path) -> Resource | None:
    """Return the Gateway that sends requests along a path, None for those of a mesh."""
    return next((simulation.world.get(node.key) for node in path if node.role == "Gateway"), None)


def _merge_equal(unmerged: Iterable[ContextAnswer]) -> list[ContextAnswer]:
    """Merge answers that read the same: a policy on two Gateways says the same about the routes of both."""
    merged: dict[object, ContextAnswer] = {}
    for answer in unmerged:
        signature = tuple(map(_signature, answer.groups)), tuple(map(_signature, answer.partly))
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

    A Gateway is its listeners, each with policies of its own. A workload is reached through the Services that select
    it, and Linkerd's Servers with their routes say who may do so; requests to a Service come to the workloads behind.
    """
    from policylint.topology.workloads import (
        is_workload,
        server_routes,
        servers_behind,
        servers_selecting,
        services_selecting,
    )

    world, resource = simulation.world, simulation.world.get(node.key)
    gateway = simulation.topology.gateway(node.key)
    if gateway is not None and not node.section:
        return [node, *(listener.node for listener in gateway.listeners)]
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


def _without_namespaces(context: Path, subjects: set[Node]) -> Path:
    """Return a context without its Namespaces, except one that the question is about."""
    return tuple(node for node in context if node.key.kind != "Namespace" or node.key.group or node in subjects)
