"""From a World to its Topology: read Gateways, attach routes, judge backends, then draw vertices and edges."""

from __future__ import annotations

from collections.abc import Collection

from policylint.model import GATEWAY_GROUP, Node, Resource, ResourceKey, World
from policylint.topology import routes as reading
from policylint.topology.backends import BACKEND_KINDS, Backends, port_node, ports
from policylint.topology.certificates import Certificates
from policylint.topology.delegation import apart, delegations, without_cycles
from policylint.topology.gateways import Created, Holder, Holders, OwnClass
from policylint.topology.grants import Grants
from policylint.topology.graph import Sections, Topology, whole
from policylint.topology.hostname_conflicts import SharesHostnames, settle
from policylint.topology.parents import Claim, Parents
from policylint.topology.state import (
    BackendState,
    Delegation,
    Detached,
    GatewayState,
    ListenerSetState,
    ParentState,
    RouteState,
)
from policylint.topology.status import Statuses, parent_state, route_resolved


def build(
    world: World,
    *,
    created: Created | None = None,
    backend_kinds: Collection[tuple[str, str]] = BACKEND_KINDS,
    own_class: OwnClass | None = None,
    shares_hostnames: SharesHostnames | None = None,
) -> Topology:
    """The topology of one environment.

    Args:
        world: its objects.
        created: when an object was created; by default `metadata.creationTimestamp`, "" where it is not stated.
        backend_kinds: kinds that a backendRef may name even when no object of them is there.
        own_class: whether a controller makes the GatewayClass of a name itself; by default none does.
        shares_hostnames: whether a controller takes HTTPRoutes and GRPCRoutes with one hostname on a listener; by
            default none does, as the spec has it.
    """
    age = created or _stated
    holders = Holders(world, age, own_class or _nobodys)
    grants = Grants(world)
    routes = _routes(world, holders, Backends(world, grants, backend_kinds), age, shares_hostnames or _strict)
    gateways, listener_sets = _holders(world, holders, Certificates(world, grants), routes)
    rules = {state.route.key: reading.rules(state.route) for state in routes}
    sections, synthetic = _sections(world, holders, rules)
    topology = Topology(world, routes, gateways, listener_sets, delegations(world, routes), sections, synthetic)
    _draw_gateways(topology, holders)
    _draw_routes(topology, rules)
    _draw_roots(topology, holders)
    _draw_backends(topology, backend_kinds)
    return topology


def _stated(resource: Resource) -> str:
    return resource.created


def _nobodys(name: str) -> bool:  # noqa: ARG001 - an OwnClass
    return False


def _strict(controller: str, class_name: str) -> bool:  # noqa: ARG001 - a SharesHostnames
    return False


def _routes(
    world: World, holders: Holders, backends: Backends, age: Created, shares: SharesHostnames
) -> list[RouteState]:
    """Every route with what became of its parentRefs and backendRefs."""
    parents = Parents(world, holders)
    claims: list[tuple[Resource, list[Claim]]] = [(route, parents.claims(route)) for route in reading.of_world(world)]
    settle(claims, age, shares)
    found = []
    for route, of_route in claims:
        judged = backends.of_route(route, [claim.target.key for claim in of_route if claim.mesh])
        resolved = route_resolved(judged)
        faults = reading.faults(route)
        count = len(reading.rules(route)) if faults else 0
        states = tuple(parent_state(claim, faults, count, resolved) for claim in of_route)
        found.append(RouteState(route, reading.hostnames(route), states, judged))
    return found


def _holders(
    world: World, holders: Holders, certificates: Certificates, routes: list[RouteState]
) -> tuple[list[GatewayState], list[ListenerSetState]]:
    """The states of Gateways and ListenerSets; attachedRoutes counts a route once per listener.

    Source: docs/design/request-precedence.md §3.
    """
    attached: dict[Node, int] = {}
    for route in routes:
        nodes = {node for parent in route.parents if parent.accepted for node in parent.attached}
        for node in nodes:
            attached[node] = attached.get(node, 0) + 1
    statuses = Statuses(world, holders, certificates, attached)
    gateways = {each.resource.key: statuses.gateway(each, 0) for each in holders.gateways}
    refused = {key for key, state in gateways.items() if _accepted(state) == "False"}
    sets: list[ListenerSetState] = []
    counts: dict[ResourceKey, int] = {}
    for holder in holders.listener_sets:
        state = statuses.listener_set(holder, holder.parent not in refused)
        sets.append(state)
        if holder.gateway is not None and _accepted(state) == "True":
            counts[holder.gateway.key] = counts.get(holder.gateway.key, 0) + 1
    return [each._replace(attached_listener_sets=counts.get(key, 0)) for key, each in gateways.items()], sets


def _accepted(state: GatewayState | ListenerSetState) -> str:
    return next((each.status for each in state.conditions if each.type == "Accepted"), "Unknown")


def _sections(
    world: World, holders: Holders, rules: dict[ResourceKey, list[reading.Rule]]
) -> tuple[Sections, Sections]:
    """What a sectionName can name, and apart from that the synthetic names of unnamed rules."""
    named: Sections = {
        key: {each.name: each.node for each in holder.listeners.values() if each.name}
        for key, holder in holders.by_key.items()
    }
    synthetic: Sections = {}
    for key, of_route in rules.items():
        for rule in of_route:
            kept = synthetic if rule.synthetic else named
            kept.setdefault(key, {}).setdefault(rule.node.section, rule.node)
    for group, kind in (("", "Service"), ("multicluster.x-k8s.io", "ServiceImport")):
        for service in world.of_kind(group, kind):
            nodes = {each.name: port_node(service.key, each.name) for each in ports(service) if each.name}
            if nodes:
                named[service.key] = nodes
    return named, synthetic


def _draw_gateways(topology: Topology, holders: Holders) -> None:
    """GatewayClass > Gateway > Listener, and Gateway > ListenerSet > its listeners."""
    for each in topology.world.of_kind(GATEWAY_GROUP, "GatewayClass"):
        topology.add(whole(each.key))
    for holder in holders.gateways:
        gateway = topology.add(whole(holder.resource.key))
        if holder.resolution.resource is not None:
            topology.link(topology.add(whole(holder.parent)), gateway)
        _draw_listeners(topology, holder, gateway)
        for listener_set in holders.sets_of.get(holder.resource.key, ()):
            child = topology.add(whole(listener_set.resource.key))
            topology.link(gateway, child)
            _draw_listeners(topology, listener_set, child)
    for holder in holders.listener_sets:
        if holder.gateway is None:
            _draw_listeners(topology, holder, topology.add(whole(holder.resource.key)))


def _draw_listeners(topology: Topology, holder: Holder, parent: int) -> None:
    for listener in holder.listeners.values():
        topology.link(parent, topology.add(listener.node))


def _draw_routes(topology: Topology, rules: dict[ResourceKey, list[reading.Rule]]) -> None:
    """Listener > route > rule > backend or delegated route."""
    vertices: dict[tuple[ResourceKey, int], int] = {}
    for state in topology.routes:
        route = topology.add(whole(state.route.key))
        above = dict.fromkeys(node for parent in state.parents for node in parent.attached)
        for listener in above:
            topology.link(topology.add(listener), route)
        for rule in rules[state.route.key]:
            vertex = topology.add(rule.node)
            vertices[state.route.key, rule.number] = vertex
            topology.link(route, vertex)
        for backend in state.backends:
            nodes = _backend_nodes(backend)
            if nodes:
                topology.link(vertices[state.route.key, backend.rule], topology.add(*nodes))
    for hand_over in without_cycles(topology.delegations):
        rule_vertex = vertices.get((hand_over.parent, hand_over.rule))
        if rule_vertex is not None and not _idle(hand_over, topology):
            topology.link(rule_vertex, topology.add(whole(hand_over.child)))


def _idle(hand_over: Delegation, topology: Topology) -> bool:
    parent, child = topology.route(hand_over.parent), topology.route(hand_over.child)
    return parent is not None and child is not None and apart(parent.route, hand_over.rule, child.route)


def _backend_nodes(backend: BackendState) -> tuple[Node, ...]:
    """What a backendRef appends to a path; nothing when it is not there, refused, or a mirror."""
    if backend.role != "backend" or not backend.resolution.found or backend.granted is False:
        return ()
    if backend.reason == "InvalidKind" or backend.wanted.kind == "HTTPRoute" or backend.wanted.kind == "label":
        return ()
    node = whole(backend.wanted)
    return (node, backend.section) if backend.section is not None else (node,)


def _draw_roots(topology: Topology, holders: Holders) -> None:
    """Where contexts begin, and which routes and ListenerSets hang on nothing."""
    for group, kind in ((GATEWAY_GROUP, "GatewayClass"), (GATEWAY_GROUP, "Gateway")):
        for each in topology.world.of_kind(group, kind):
            vertex = topology.add(whole(each.key))
            if not topology.parents[vertex]:
                topology.root(vertex)
    for holder in holders.listener_sets:
        if holder.gateway is None:
            vertex = topology.add(whole(holder.resource.key))
            topology.detached[vertex] = Detached(not holder.refused, holder.refused or holder.unknown)
            if not holder.refused:
                topology.root(vertex)
    handed: dict[ResourceKey, list[Delegation]] = {}
    for hand_over in topology.delegations:
        handed.setdefault(hand_over.child, []).append(hand_over)
    for state in topology.routes:
        vertex = topology.add(whole(state.route.key))
        if any(parent.mesh and parent.section_found is not False for parent in state.parents):
            topology.root(vertex)
        elif not topology.parents[vertex]:
            idle = next((each for each in handed.get(state.route.key, ()) if _idle(each, topology)), None)
            if idle is not None and not state.parents:
                topology.detached[vertex] = Detached(False, f"{idle.parent} hands over no request that it matches")
                continue
            topology.detached[vertex] = why = _why(state.parents)
            if why.unknown:
                topology.root(vertex)


def _why(parents: tuple[ParentState, ...]) -> Detached:
    """Why a route is attached to nothing: no parentRefs, all refused or missing, or some that are not known."""
    if not parents:
        return Detached(False, "it has no parentRefs")
    for parent in parents:
        if parent.resolution.unknown:
            return Detached(True, f"{parent.text}: {parent.resolution.reason}")
        if parent.resolution.found and parent.section_found is None and parent.wanted.kind != "HTTPRoute":
            return Detached(True, f"{parent.text}: its listeners are not known")
    reasons = []
    for parent in parents:
        refusal = parent.conditions[0]
        reasons.append(f"{parent.text}: {refusal.message or 'it does not lead here'}")
    return Detached(False, "; ".join(reasons))


def _draw_backends(topology: Topology, kinds: Collection[tuple[str, str]]) -> None:
    """Backends that no root leads to stand alone: with their named ports, one vertex per port, else as they are."""
    named = {(backend.wanted.group, backend.wanted.kind) for state in topology.routes for backend in state.backends}
    for kind in sorted({*kinds, *named}):
        if kind == (GATEWAY_GROUP, "HTTPRoute"):
            continue
        for resource in topology.world.of_kind(*kind):
            node = whole(resource.key)
            if any(topology.reachable[vertex] for vertex in topology.vertices_of(node)):
                continue
            sections = topology.sections(resource.key)
            for section in sections.values():
                topology.root(topology.add(node, section))
            if not sections:
                topology.root(topology.add(node))
