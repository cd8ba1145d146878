"""The reach of a policy: the objects that it acts on, those where it does not and who prevails there."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import Literal

from policylint.explain.contexts import MOST_PATHS, leads_down
from policylint.implementations import implementation
from policylint.model import Node, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.level import level
from policylint.policy.results import Group, PolicyState
from policylint.simulation import Simulation
from policylint.topology.ancestry import gateways_above
from policylint.topology.graph import walk
from policylint.topology.workloads import is_workload, servers_behind

Extent = Literal["whole", "part", "none"]


class ReachedObject(NamedTuple):
    """An object at or below a target.

    Args:
        extent: whether all of the policy, part of it or nothing acts there.
        lost: the names of the settings that do not act there.
        by: the policies that prevail there.
    """

    key: ResourceKey
    extent: Extent
    lost: tuple[str, ...] = ()
    by: tuple[ResourceKey, ...] = ()


class PolicyReach(NamedTuple):
    """The reach of a policy: every object at or below its targets, sorted, and the namespaces of those it acts on."""

    objects: tuple[ReachedObject, ...]
    namespaces: tuple[str, ...]

    def of(self, *kinds: str) -> list[ReachedObject]:
        """Return the objects of any of the kinds."""
        return [reached for reached in self.objects if reached.key.kind in kinds]

    @property
    def routes(self) -> list[ReachedObject]:
        """The routes."""
        return [reached for reached in self.objects if reached.key.kind.endswith("Route")]

    @property
    def others(self) -> dict[str, list[ReachedObject]]:
        """The objects that are no routes, by kind, sorted."""
        by_kind: dict[str, list[ReachedObject]] = defaultdict(list)
        for reached in self.objects:
            if not reached.key.kind.endswith("Route"):
                by_kind[reached.key.kind].append(reached)
        return dict(sorted(by_kind.items()))


def reach(simulation: Simulation, state: PolicyState) -> PolicyReach:
    """Return the reach of a policy, from the groups that it takes part in, and workloads through their Services."""
    survival: dict[ResourceKey, set[bool]] = defaultdict(set)
    lost_settings: dict[ResourceKey, set[str]] = defaultdict(set)
    prevailing: dict[ResourceKey, set[ResourceKey]] = defaultdict(set)
    policy = state.key
    for group in state.groups:
        effective = group.effective
        losses = effective.lost_by(policy)
        # A policy that sets nothing acts by being there.
        survives = policy in effective.owners.values() or not losses
        for node, above in group.nodes.items():
            if policy not in above:
                continue
            for key in {node.key, *_routes_through(simulation, group, node)}:
                survival[key].add(survives)
                for loss in losses:
                    lost_settings[key].add(str(loss.pointer[0]) if loss.pointer else "")
                    prevailing[key].update(loss.by)
    world = simulation.world
    for key in list(survival):
        resource = world.get(key) if (key.group, key.kind) == ("", "Service") else None
        for workload in servers_behind(world, resource) if resource is not None else ():
            survival[workload.key] |= survival[key]
            lost_settings[workload.key] |= lost_settings[key]
            prevailing[workload.key] |= prevailing[key]
    objects = []
    for key in sorted(survival):
        extent: Extent = "whole"
        if survival[key] == {False}:
            extent = "none"
        elif False in survival[key] or lost_settings[key]:
            extent = "part"
        objects.append(ReachedObject(key, extent, tuple(sorted(lost_settings[key])), tuple(sorted(prevailing[key]))))
    acted_on = [reached.key for reached in objects if reached.extent != "none"]
    namespaces = {key.namespace for key in acted_on if _ends_traffic(key)}
    return PolicyReach(tuple(objects), tuple(sorted(filter(None, namespaces))))


def _routes_through(simulation: Simulation, group: Group, node: Node) -> set[ResourceKey]:
    """Return the routes whose requests meet a policy of a kind that knows no routes.

    These are the routes of its listeners, and those that lead to its backends through the proxy before these, if any.
    """
    topology = simulation.topology
    node_level = level((node,))
    if node_level in ("service", "port", "workload") and node.key.kind != "Namespace":
        edges = topology.parents
    elif node_level == "listener" or (node_level == "gateway" and _ends_at_gateways(group)):
        edges = topology.children
    else:
        return set()
    if any(member.key.kind.endswith("Route") for member in group.nodes):
        return set()
    reached = (vertex for vertex in walk(edges, topology.vertices_of(node)) if topology.reachable[vertex])
    routes = {key for vertex in reached if (key := topology.vertices[vertex].key).kind.endswith("Route")}
    paths = [path for path in islice(group.contexts(), MOST_PATHS) if path[-1].key == node.key]
    behind = bool(paths) and all(len(path) > 1 and path[0].key.kind == "Gateway" for path in paths)
    return {route for route in routes if not behind or _passes_front(simulation, group, route, node.key)}


def _passes_front(simulation: Simulation, group: Group, route: ResourceKey, backend: ResourceKey) -> bool:
    """Return whether requests of a route may pass the proxy in front of a Service: those of the mesh do."""
    name, world = group.kind.implementation, simulation.world
    behaviour = implementation(name, simulation.catalog.settings(name))
    state, service = simulation.topology.route(route), world.get(backend)
    if service is None or state is None or any(parent.mesh for parent in state.parents):
        return True
    gateways = map(world.get, gateways_above(simulation.topology, route))
    return any(behaviour.fronts(service, gateway, world) is not None for gateway in gateways)


def _ends_at_gateways(group: Group) -> bool:
    """Return whether the contexts of a group hold no listener."""
    return not any(level((node,)) == "listener" for node in group.nodes)


def _ends_traffic(key: ResourceKey) -> bool:
    """Return whether a policy acts in an object's namespace: where traffic ends, not where it comes in."""
    return key.kind.endswith("Route") or key.kind == "Service" or is_workload(key.group, key.kind)


def affected_nodes(simulation: Simulation, group: Group) -> set[Node]:
    """Return the objects and sections of which `explain` says that an effective policy acts on them.

    These are the nodes at or below a target, and the routes, rules and backends whose requests meet the policy all the
    same. The reverse of `contexts.answers`, for reports about all objects at once.
    """
    return group.nodes.keys() | _nodes_below(simulation, group) | _routes_above(group)


def _routes_above(group: Group) -> set[Node]:
    """Return the routes and rules whose requests meet a policy further down, at a rule or a backend."""
    if any(leads_down(attachment.node) for attachment in group.effective.stack):
        return set()  # what lies below those is in `group.nodes`
    paths = islice(group.contexts(), MOST_PATHS)
    return {node for path in paths for node in path if not leads_down(node) and node.key.kind != "Namespace"}


def _nodes_below(simulation: Simulation, group: Group) -> set[Node]:
    """Return the nodes below the contexts of a group that end early.

    A kind that knows listeners and no routes acts on the requests of the routes below all the same.
    """
    topology, inside = simulation.topology, group.nodes.keys()

    def goes_on(vertex: int) -> bool:
        return any(not inside.isdisjoint(topology.vertices[child].nodes) for child in topology.children[vertex])

    vertices = {vertex for node in group.nodes for vertex in topology.vertices_of(node)}
    below = (child for vertex in vertices if not goes_on(vertex) for child in topology.children[vertex])
    reached = (vertex for vertex in walk(topology.children, below) if topology.reachable[vertex])
    return {node for vertex in reached for node in topology.vertices[vertex].nodes}
