"""Where every policy acts: the one index, which requests, `explain`, `list`, the graph and editors read.

An effective policy holds for contexts. A request meets it where it passes one of them as a whole, whatever it passes
besides (`along`). It acts at the objects and sections through which such requests go (`places`): at and below a target,
and where routes lead to it from above, through a proxy or to the pods behind a Service as well; nowhere below a
listener that takes none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

from policylint.implementations import implementation
from policylint.implementations.generic.inside import asked_inside
from policylint.model import Node, Resource, ResourceKey
from policylint.model.kinds import SERVER
from policylint.policy.authorizing import Checkpoint, Client
from policylint.policy.effective import ContextPaths
from policylint.policy.level import level
from policylint.policy.paths import Path
from policylint.policy.results import Group
from policylint.simulation.serving import Closed, closed
from policylint.topology import whole
from policylint.topology.ancestry import gateways_above
from policylint.topology.graph import walk
from policylint.topology.workloads import (
    Labels,
    is_meant,
    is_workload,
    server_routes,
    servers_behind,
    servers_selecting,
    workloads_at,
)

if TYPE_CHECKING:
    from policylint.simulation import Simulation

_FEW = 4
"""Effective policies below which all are asked."""
MOST_PATHS = 5_000
"""Most contexts of an effective policy, or paths through an object, that are looked at one by one."""


class ActingIndex:
    """Where the effective policies of an environment act.

    Attributes:
        groups: the effective policies; they are named by their numbers.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._world, self._topology, self._meshes = simulation.world, simulation.topology, simulation.meshes
        self._simulation = simulation
        self._by_end: dict[Node, list[int]] = defaultdict(list)
        self._passing: dict[Node, dict[Node, list[tuple[int, Path]]]] = {}
        self._places: dict[int, Mapping[Node, frozenset[ResourceKey]]] = {}
        self._workloads: dict[ResourceKey, list[Resource]] = {}
        self._beyond: dict[tuple[object, ...], tuple[Node, ...]] = {}
        self.groups = self._taken()
        for number, group in enumerate(self.groups):
            for node in dict.fromkeys(group.contexts.ends()):
                self._by_end[node].append(number)

    def _taken(self) -> Sequence[Group]:
        """Return the effective policies, under their numbers, with the contexts on which proxies make them act."""
        groups: Sequence[Group] = self._simulation.groups
        for name in sorted({group.kind.implementation for group in groups}):
            behaviour = implementation(name, self._simulation.catalog.settings(name))
            groups = behaviour.taken(groups, self._topology, lambda: self.closed.served)
        return groups

    # What a request meets.

    def along(self, path: Path, beyond: Path, *, leads: bool) -> list[int]:
        """Return the effective policies with a context that a request passes as a whole.

        Args:
            path: the nodes that it passes, down to a backend.
            beyond: what it passes beside that backend.
            leads: whether routes lead it there.
        """
        if not self._by_end:
            return []
        namespaces = {node.key.namespace for node in path if node.key.namespace}
        around = {whole(ResourceKey("", "Namespace", "", namespace)) for namespace in namespaces}
        allowed = {*path, *around}
        everywhere = {*allowed, *beyond}
        passed = sorted(self._within(everywhere))
        if leads or self._within(allowed):
            return passed if leads else asked_inside(passed, self._simulation)
        # A backend that routes lead to has no context of its own: what is attached to it applies all the same.
        for number in sorted(self.at(everywhere)):
            group = self.groups[number]
            at_pods = bool(beyond) and group.kind.effective_at == "workload"
            stack = group.effective.stack
            if number not in passed and not at_pods and all(attachment.node in allowed for attachment in stack):
                passed.append(number)
        return asked_inside(passed, self._simulation)

    def _within(self, nodes: set[Node]) -> set[int]:
        """Return the effective policies that have a context within some nodes."""
        return {
            number
            for end in nodes & self._by_end.keys()
            for number in self._near(end, nodes)
            if next(self.groups[number].contexts.ending(end, nodes), None) is not None
        }

    def _near(self, end: Node, nodes: set[Node]) -> Sequence[int]:
        """Return the effective policies with a context that may end with a node and lie within some nodes: of many at
        one backend those of the other listeners and routes are not looked at."""
        numbers = self._by_end[end]
        if len(numbers) < _FEW:
            return numbers
        passing = self._passing.get(end)
        if passing is None:
            passing = self._passing[end] = defaultdict(list)
            for number in numbers:
                common = self.groups[number].contexts.common()
                passing[next((node for node in reversed(common) if node != end), end)].append((number, common))
        met = chain.from_iterable(passing[node] for node in nodes & passing.keys())
        return [number for number, common in met if nodes.issuperset(common)]

    def beyond_for(
        self, client: Client, asked_for: ResourceKey | None, key: ResourceKey, labels: Labels
    ) -> tuple[Node, ...]:
        """Return what a request of a client passes beside a Service (`beyond`), whichever of its workloads sends it."""
        if client.account == "":
            return self.beyond(key, None, asked_for, labels, by_front=False)
        ways = {self.beyond(key, caller, asked_for, labels) for caller in client.callers}
        return ways.pop() if len(ways) == 1 else self.beyond(key, None, asked_for, labels)

    def fronts_for(self, key: ResourceKey, client: Client) -> list[Checkpoint]:
        """Return the waypoints that requests of a client pass, whichever of its workloads sends them."""
        if client.account == "":  # strangers go past waypoints
            return []
        ways = [self.fronts(key, caller) for caller in client.callers]
        return ways[0] if ways and all(way == ways[0] for way in ways) else self.fronts(key, None)

    def beyond(
        self,
        key: ResourceKey,
        caller: Resource | None,
        asked_for: ResourceKey | None = None,
        labels: Labels = (),
        *,
        by_front: bool = True,
    ) -> tuple[Node, ...]:
        """Return the nodes that a request to a Service passes beside it: a waypoint, workloads, what selects them.

        Args:
            caller: the Gateway or the workload that sends it on; None where that is not known.
            asked_for: the Service that a client of the mesh calls, where routes lead from it to this one.
            labels: of its pods that are meant.
            by_front: whether it passes waypoints, as far as its sender does.
        """
        if not self._meshes.all:
            return ()
        place = key, None if caller is None else caller.key, asked_for, labels, by_front
        if place not in self._beyond:
            fronts = self.fronts(asked_for or key, caller) if by_front else ()
            nodes = [front.path[0] for front in fronts]
            self._beyond[place] = tuple(dict.fromkeys([*nodes, *self._at_pods(key, labels)]))
        return self._beyond[place]

    def _at_pods(self, key: ResourceKey, labels: Labels) -> list[Node]:
        nodes: list[Node] = []
        for workload in self.workloads(key, labels):
            nodes.append(whole(workload.key))
            for server in servers_selecting(self._world, workload):
                nodes.append(whole(server.key))
                nodes += [whole(route.key) for route in server_routes(self._world, server)]
        return nodes

    def fronts(self, key: ResourceKey, caller: Resource | None) -> list[Checkpoint]:
        """Return the waypoints that requests of a caller to a Service or a workload pass."""
        backend = self._world.get(key)
        if backend is None:
            return []
        fronts = (mesh.fronts(backend, caller, self._world) for mesh in self._meshes.all)
        return [front for front in fronts if front is not None]

    def workloads(self, key: ResourceKey, labels: Labels = ()) -> list[Resource]:
        """Return the workloads and machines behind a Service, a Server or a route of one; a workload itself: all, or
        those with labels."""
        if key not in self._workloads:
            resource = self._world.get(key)
            found = [] if resource is None or not is_workload(key.group, key.kind) else [resource]
            if resource is not None and (key.group, key.kind) == ("", "Service"):
                found = servers_behind(self._world, resource)
            self._workloads[key] = found or self._at_servers.get(key, [])
        found = self._workloads[key]
        return [each for each in found if is_meant(each, labels)] if labels else found

    @cached_property
    def _at_servers(self) -> Mapping[ResourceKey, list[Resource]]:
        """The workloads that Servers select, by a Server and by each of its routes."""
        found: dict[ResourceKey, list[Resource]] = defaultdict(list)
        for server in self._world.of_kind(*SERVER):
            for each in (server, *server_routes(self._world, server)):
                found[each.key] += workloads_at(self._world, server)
        return found

    # What acts at an object.

    def places(self, number: int) -> Mapping[Node, frozenset[ResourceKey]]:
        """Return the objects and sections where an effective policy acts, each with those of its stack that do.

        At what leads to routes (a class, a Gateway, a listener, a Namespace) these are the policies at it and above it,
        elsewhere all of the stack: a request of a route meets what is attached to the backend as well.
        """
        if number not in self._places:
            group, inside = self.groups[number], self._inside(number)
            stack = frozenset(attachment.key for attachment in group.effective.stack)
            around = self._below(inside) | self._above(group) | self._before(group)
            places = dict.fromkeys((node for node in (*inside, *around) if not leads_down(node)), stack)
            places.update((node, keys) for node, keys in inside.items() if leads_down(node))
            places.update((node, stack) for node in around if leads_down(node) and node not in places)
            self._places[number] = places
        return self._places[number]

    def at(self, nodes: Iterable[Node], backends: Collection[ResourceKey] = ()) -> set[int]:
        """Return the effective policies with a context through any of the nodes, or through what is behind backends."""
        behind = (node for key in backends for node in self._beside.get(key, ()))
        return {number for node in chain(nodes, behind) for number in self._by_node.get(node, ())}

    def open_part(self, context: Path) -> Path:
        """Return the nodes of a context that requests get to; Namespaces, which come in beside it, bar nobody."""
        above: Node | None = None
        for place, node in enumerate(context):
            if node.role != "Namespace":
                if self.closed.bars(above, node):
                    return context[:place]
                above = node
        return context

    def is_open(self, context: Path) -> bool:
        """Return whether requests pass all of a context."""
        return self.open_part(context) == context

    def _inside(self, number: int) -> Mapping[Node, frozenset[ResourceKey]]:
        """Return the nodes of an effective policy that requests get to, with the policies at each or above it."""
        group = self.groups[number]
        if not any(self.closed[:2]):
            return group.nodes
        if isinstance(group.contexts, ContextPaths):  # there may be very many
            inside = group.contexts.open_nodes(self.closed.bars)
            inside |= {node for node in group.nodes if inside and node.role == "Namespace"}
        else:
            inside = {node for path in self._contexts(group) for node in path}
            inside |= group.nodes.keys() - set(chain.from_iterable(group.contexts())) if inside else set()
        return {node: keys for node, keys in group.nodes.items() if node in inside}

    @cached_property
    def closed(self) -> Closed:
        """Where no request goes on."""
        return closed(
            self._simulation, lambda: set(chain.from_iterable(self._beside.values())) if self._meshes.all else ()
        )

    @cached_property
    def _children(self) -> Sequence[Sequence[int]]:
        """By vertex where requests go on to."""
        topology, bars = self._topology, self.closed.bars
        if not any(self.closed[:2]):
            return topology.children
        nodes = [vertex.nodes for vertex in topology.vertices]
        return [
            [child for child in children if not bars(nodes[above][-1], nodes[child][0])]
            for above, children in enumerate(topology.children)
        ]

    def of_policy(self, key: ResourceKey) -> list[int]:
        """Return the effective policies that a policy takes part in."""
        return self._by_policy.get(key, [])

    @cached_property
    def _by_node(self) -> Mapping[Node, list[int]]:
        by_node: dict[Node, list[int]] = defaultdict(list)
        for number, group in enumerate(self.groups):
            for node in group.nodes:
                by_node[node].append(number)
        return by_node

    @cached_property
    def _by_policy(self) -> Mapping[ResourceKey, list[int]]:
        by_policy: dict[ResourceKey, list[int]] = defaultdict(list)
        for number, group in enumerate(self.groups):
            for key in {attachment.key for attachment in group.effective.stack}:
                by_policy[key].append(number)
        return by_policy

    @cached_property
    def owners(self) -> Mapping[ResourceKey, frozenset[ResourceKey]]:
        """The policies of which a setting is in force for requests through each object or a section of it, or that get
        to a workload through a Service or a Server."""
        owners: dict[ResourceKey, set[ResourceKey]] = defaultdict(set)
        for number, group in enumerate(self.groups):
            for node in self.places(number) if group.effective.owners else ():
                owners[node.key].update(group.effective.owners.values())
        for key in list(owners):
            for workload in self.workloads(key):
                owners[workload.key] |= owners[key]
        return {key: frozenset(keys) for key, keys in owners.items()}

    def affected(self) -> dict[Node, tuple[ResourceKey, ...]]:
        """Return, for each node at or below a target, the policies that own a setting in a context through it.

        Further down than contexts go these are the policies of the whole context, unless their kind is Direct.
        """
        affected: dict[Node, set[ResourceKey]] = defaultdict(set)
        for number, group in enumerate(self.groups):
            sources, inside = frozenset(group.effective.owners.values()), self._inside(number)
            for node, above in inside.items():
                affected[node] |= sources & above
            inherited = sources and group.kind.policy_class != "Direct"
            for node in self._below(inside) - inside.keys() if inherited else ():
                affected[node] |= sources
        return {node: tuple(sorted(keys)) for node, keys in sorted(affected.items())}

    @cached_property
    def starts(self) -> frozenset[Node]:
        """Where contexts begin."""
        starts = {self._topology.vertices[root].nodes[0] for root in self._topology.roots}
        for group in self.groups:
            if not isinstance(group.contexts, ContextPaths):
                starts.update(context[0] for context in group.contexts() if context)
        return frozenset(starts)

    def backends(self, context: Path) -> set[ResourceKey]:
        """Return the backends to which requests pass all of a context: a Service, its workloads, a proxy before it."""
        nodes = [node for node in context if node.key.group or node.key.kind != "Namespace"]
        of_node = ({*self._behind.get(_passed(node), ()), *({node.key} & self._backends)} for node in nodes)
        return set.intersection(*of_node) if nodes else set()

    def passes(self, context: Path, backend: ResourceKey, caller: Resource | None) -> bool:
        """Return whether requests that somebody sends on to one of the `backends` of a context pass its proxy."""
        beyond = self.beyond(backend, caller)
        nodes = (node for node in context if node.key.group or node.key.kind != "Namespace")
        return all(node.key == backend or _passed(node) in beyond for node in nodes)

    @cached_property
    def _backends(self) -> frozenset[ResourceKey]:
        """What requests go to: what routes lead to, and Services, which clients of a mesh call by themselves."""
        named = {backend.wanted for state in self._topology.routes for backend in state.backends}
        services = (each.key for each in self._world.of_kind("", "Service")) if self._meshes.all else ()
        return frozenset(named.union(services))

    @cached_property
    def _beside(self) -> Mapping[ResourceKey, tuple[Node, ...]]:
        """By backend the nodes that requests to it pass beside it, whoever sends them."""
        return {key: self.beyond(key, None) for key in sorted(self._backends)}

    @cached_property
    def _behind(self) -> Mapping[Node, list[ResourceKey]]:
        """The same, by such a node."""
        behind: dict[Node, list[ResourceKey]] = defaultdict(list)
        for key, nodes in self._beside.items():
            for node in nodes:
                behind[node].append(key)
        return behind

    def _above(self, group: Group) -> set[Node]:
        """Return the routes and rules on contexts whose policies stand further down, at a rule or a backend."""
        if any(leads_down(attachment.node) for attachment in group.effective.stack):
            return set()  # what lies below those is in `group.nodes`
        return {node for path in self._contexts(group) for node in path if not leads_down(node)}

    def _contexts(self, group: Group) -> Iterator[Path]:
        return filter(self.is_open, islice(group.contexts(), MOST_PATHS))

    def _below(self, inside: Mapping[Node, object]) -> set[Node]:
        """Return what lies below contexts that end early: a kind that knows no routes acts on their requests, too."""
        topology, children = self._topology, self._children

        def goes_on(vertex: int) -> bool:
            return any(node in inside for child in children[vertex] for node in topology.vertices[child].nodes)

        vertices = {vertex for node in inside for vertex in topology.vertices_of(node)}
        below = (child for vertex in vertices if not goes_on(vertex) for child in children[vertex])
        return self._nodes(walk(children, below))

    def _before(self, group: Group) -> set[Node]:
        """Return the routes, rules and Services whose requests pass contexts that begin at a backend or behind one."""
        found: set[Node] = set()
        for context in self._contexts(group):
            for backend in self.backends(context):
                ends = next((node for node in reversed(context) if node.key == backend), whole(backend))
                vertices = self._topology.vertices_of(ends)
                nodes = self._nodes(walk(self._topology.parents, vertices))
                routes = {node.key for node in nodes if self._topology.route(node.key) is not None}
                passing = {route for route in routes if self._sends_past(route, context, backend)}
                found |= {node for node in nodes if node.key in passing}
                if passing or (not routes and self.passes(context, backend, None)):
                    found.add(whole(backend))
        return found

    def _sends_past(self, route: ResourceKey, context: Path, backend: ResourceKey) -> bool:
        """Return whether requests of a route to a backend of a context pass its proxy: those of the mesh do."""
        state = self._topology.route(route)
        if state is None or any(parent.mesh for parent in state.parents):
            return True
        gateways = [*map(self._world.get, gateways_above(self._topology, route))] or [None]  # one that was not seen
        return any(self.passes(context, backend, gateway) for gateway in gateways)

    def _nodes(self, vertices: Iterable[int]) -> set[Node]:
        topology = self._topology
        return {node for vertex in vertices if vertex in self._reached for node in topology.vertices[vertex].nodes}

    @cached_property
    def _reached(self) -> set[int]:
        """The vertices that requests get to."""
        topology = self._topology
        starts = (root for root in topology.roots if not self.closed.bars(None, topology.vertices[root].nodes[0]))
        return walk(self._children, starts)


def _passed(node: Node) -> Node:
    """Return what requests pass of a node beside a path: a route of a Server as a whole, whichever rule takes them."""
    return whole(node.key) if node.key.kind.endswith("Route") else node


def leads_down(node: Node) -> bool:
    """Return whether routes lie below a node: a class, a Gateway, a listener, a Namespace."""
    return level((node,)) in ("gatewayclass", "gateway", "listener") or node.key.kind == "Namespace"
