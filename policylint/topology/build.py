"""Build the topology of a world: read Gateways, attach routes, resolve backends, then draw vertices and edges."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

from policylint.model import GATEWAY_GROUP, Node, ResourceKey, World
from policylint.model.kinds import BACKEND_KINDS, of_foreign
from policylint.topology import routes as reading
from policylint.topology.backends import Backends
from policylint.topology.certificates import Certificates
from policylint.topology.delegated_matches import carries_nothing
from policylint.topology.delegation import delegations, within_levels, without_cycles
from policylint.topology.gateways import Holder, Holders, OwnClass, OwnProtocols
from policylint.topology.grants import Grants
from policylint.topology.graph import Sections, Topology, whole
from policylint.topology.hostname_conflicts import SharesHostnames, mark_conflicts
from policylint.topology.parents import Parents, asks_for_defaults
from policylint.topology.service_ports import port_node, ports
from policylint.topology.state import BackendState, Delegation, Detached, GatewayState, ListenerSetState, RouteState
from policylint.topology.status import Statuses, parent_state, resolved


def build(
    world: World,
    *,
    own_class: OwnClass | None = None,
    shares_hostnames: SharesHostnames | None = None,
    own_protocols: OwnProtocols | None = None,
    knows_group: Callable[[str], bool] = bool,
) -> Topology:
    """Return the topology of one environment.

    Args:
        own_class: returns whether a controller creates the GatewayClass of that name itself; by default none does.
        shares_hostnames: returns whether a controller accepts HTTPRoutes and GRPCRoutes with one hostname on a
            listener; by default none does, as the spec has it.
        own_protocols: returns what protocols beyond those of Gateway API take; by default as nobody knows them.
        knows_group: returns whether the kinds of an API group are known, so that what is no backend is none for
            certain; by default those of every group are.
    """
    protocols = own_protocols or (lambda controller, class_name, protocol: of_foreign(protocol))  # noqa: ARG005
    holders = Holders(world, own_class or (lambda name: False), protocols)  # noqa: ARG005 - an OwnClass
    grants = Grants(world)
    shares = shares_hostnames or (lambda controller, class_name: False)  # noqa: ARG005 - a SharesHostnames
    routes = _routes(world, holders, Backends(world, grants, knows_group), shares)
    gateways, listener_sets = _holders(world, holders, Certificates(world, grants), routes)
    rules = {state.route.key: reading.rules(state.route) for state in routes}
    sections, synthetic = _sections(world, holders, rules)
    unseen = {parent.unseen.key for state in routes for parent in state.parents if parent.unseen is not None}
    unseen |= {holder.parent for holder in holders.listener_sets if holder.unseen}
    followed, further = within_levels(delegations(world, routes))
    topology = Topology(world, routes, gateways, listener_sets, followed, sections, synthetic, unseen, further)
    _draw_gateways(topology, holders)
    _draw_routes(topology, rules)
    _draw_roots(topology, holders)
    _draw_backends(topology)
    return topology


def _routes(world: World, holders: Holders, backends: Backends, shares: SharesHostnames) -> list[RouteState]:
    """Return the states of all routes, with their parentRefs and backendRefs resolved."""
    parents = Parents(world, holders)
    claims = [(route, parents.claims(route)) for route in reading.of_world(world)]
    mark_conflicts(claims, shares)
    route_states = []
    for route, route_claims in claims:
        backend_states = backends.of_route(route, [claim.target.key for claim in route_claims if claim.mesh])
        condition = resolved(backend_states)
        faults = reading.faults(route)
        count = len(reading.rules(route)) if faults else 0
        parent_states = tuple(parent_state(claim, faults, count, condition) for claim in route_claims)
        route_states.append(RouteState(route, reading.hostnames(route), parent_states, backend_states))
    return route_states


def _holders(
    world: World, holders: Holders, certificates: Certificates, routes: list[RouteState]
) -> tuple[list[GatewayState], list[ListenerSetState]]:
    """Return the states of Gateways and ListenerSets; attachedRoutes counts a route once per listener.

    Source: docs/design/request-precedence.md §3.
    """
    attached = Counter(
        node
        for route in routes
        for node in {node for parent in route.parents if parent.accepted for node in parent.attached}
    )
    statuses = Statuses(world, holders, certificates, attached)
    gateways = {holder.resource.key: statuses.gateway(holder, 0) for holder in holders.gateways}
    refused = {key for key, state in gateways.items() if _accepted(state) == "False"}
    sets = [statuses.listener_set(holder, holder.parent not in refused) for holder in holders.listener_sets]
    counts = Counter(
        holder.gateway.key
        for holder, state in zip(holders.listener_sets, sets, strict=True)
        if holder.gateway is not None and _accepted(state) == "True"
    )
    return [state._replace(attached_listener_sets=counts[key]) for key, state in gateways.items()], sets


def _accepted(state: GatewayState | ListenerSetState) -> str:
    return next((condition.status for condition in state.conditions if condition.type == "Accepted"), "Unknown")


def _sections(
    world: World, holders: Holders, rules: dict[ResourceKey, list[reading.Rule]]
) -> tuple[Sections, Sections]:
    """Return the nodes that a sectionName can name, and separately the synthetic ones of unnamed rules."""
    named: Sections = {
        key: {listener.name: listener.node for listener in holder.listeners.values() if listener.name}
        for key, holder in holders.by_key.items()
    }
    synthetic: Sections = {}
    for key, route_rules in rules.items():
        for rule in route_rules:
            kept = synthetic if rule.synthetic else named
            kept.setdefault(key, {}).setdefault(rule.node.section, rule.node)
    for group, kind in (("", "Service"), ("multicluster.x-k8s.io", "ServiceImport")):
        for service in world.of_kind(group, kind):
            nodes = {port.name: port_node(service.key, port.name) for port in ports(service) if port.name}
            if nodes:
                named[service.key] = nodes
    return named, synthetic


def _draw_gateways(topology: Topology, holders: Holders) -> None:
    """Draw GatewayClass > Gateway > Listener, and Gateway > ListenerSet > its listeners."""
    for gateway_class in topology.world.of_kind(GATEWAY_GROUP, "GatewayClass"):
        topology.add(whole(gateway_class.key))
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
            listener_set_vertex = topology.add(whole(holder.resource.key))
            _draw_listeners(topology, holder, listener_set_vertex)
            if holder.unseen:
                topology.link(topology.add(whole(holder.parent)), listener_set_vertex)


def _draw_listeners(topology: Topology, holder: Holder, parent: int) -> None:
    for listener in holder.listeners.values():
        topology.link(parent, topology.add(listener.node))


def _draw_routes(topology: Topology, rules: dict[ResourceKey, list[reading.Rule]]) -> None:
    """Draw listener > route > rule > backend or delegated route."""
    vertices: dict[tuple[ResourceKey, int], int] = {}
    for state in topology.routes:
        route = topology.add(whole(state.route.key))
        for listener in dict.fromkeys(node for parent in state.parents for node in parent.attached):
            topology.link(topology.add(listener), route)
        for unseen in dict.fromkeys(parent.unseen for parent in state.parents if parent.unseen is not None):
            above = topology.add(whole(unseen.key))
            if unseen.section:
                topology.link(above, above := topology.add(unseen))
            topology.link(above, route)
        for rule in rules[state.route.key]:
            vertex = topology.add(rule.node)
            vertices[state.route.key, rule.number] = vertex
            topology.link(route, vertex)
        for backend in state.backends:
            nodes = _backend_nodes(backend)
            if nodes:
                topology.link(vertices[state.route.key, backend.rule], topology.add(*nodes))
    for delegation in without_cycles(topology.delegations):
        rule_vertex = vertices.get((delegation.parent, delegation.rule))
        if rule_vertex is not None and not _carries_nothing(delegation, topology):
            topology.link(rule_vertex, topology.add(whole(delegation.child)))


def _carries_nothing(delegation: Delegation, topology: Topology) -> bool:
    """Return whether a delegation carries no request: the rule and the delegated route match nothing in common."""
    parent, child = topology.route(delegation.parent), topology.route(delegation.child)
    return parent is not None and child is not None and carries_nothing(parent.route, delegation.rule, child.route)


def _backend_nodes(backend: BackendState) -> tuple[Node, ...]:
    """Return the nodes that a backendRef appends to a path; none if it is missing, refused, or a mirror."""
    if backend.role != "backend" or not backend.resolution.found or backend.granted is False:
        return ()
    if backend.reason == "InvalidKind" or backend.wanted.kind == "HTTPRoute" or backend.wanted.kind == "label":
        return ()
    node = whole(backend.wanted)
    return (node, backend.section) if backend.section is not None else (node,)


def _draw_roots(topology: Topology, holders: Holders) -> None:
    """Mark the vertices where contexts begin, and the routes and ListenerSets that are attached to nothing."""
    for group, kind in ((GATEWAY_GROUP, "GatewayClass"), (GATEWAY_GROUP, "Gateway")):
        for resource in topology.world.of_kind(group, kind):
            vertex = topology.add(whole(resource.key))
            if not topology.parents[vertex]:
                topology.root(vertex)
    for key in topology.unseen:
        topology.root(topology.add(whole(key)))
    for holder in holders.listener_sets:
        if holder.gateway is None and not holder.unseen:
            vertex = topology.add(whole(holder.resource.key))
            topology.detached[vertex] = Detached(not holder.refused, holder.refused or holder.unknown)
            if not holder.refused:
                topology.root(vertex)
    handed: dict[ResourceKey, list[Delegation]] = defaultdict(list)
    for delegation in topology.delegations:
        handed[delegation.child].append(delegation)
    for state in topology.routes:
        vertex = topology.add(whole(state.route.key))
        if any(parent.mesh and parent.section_found is not False for parent in state.parents):
            topology.root(vertex)
        elif not topology.parents[vertex]:
            delegating = [] if state.parents else handed.get(state.route.key, [])
            idle = next((delegation for delegation in delegating if _carries_nothing(delegation, topology)), None)
            if idle is not None:
                topology.detached[vertex] = Detached(False, f"{idle.parent} hands over no request that it matches")
                continue
            topology.detached[vertex] = why = _detachment(state)
            if why.unknown:
                topology.root(vertex)


def _detachment(state: RouteState) -> Detached:
    """Return why a route is attached to nothing: no parentRefs, all refused or missing, or some that are unknown."""
    parents = state.parents
    if asks_for_defaults(state.route):
        return Detached(True, "it is for default Gateways, which were not seen")
    if not parents:
        return Detached(False, "it has no parentRefs")
    for parent in parents:
        if parent.resolution.unknown:
            return Detached(True, f"{parent.text}: {parent.resolution.reason}")
        if parent.resolution.found and parent.section_found is None and parent.wanted.kind != "HTTPRoute":
            return Detached(True, f"{parent.text}: its listeners are not known")
    return Detached(
        False,
        "; ".join(f"{parent.text}: {parent.conditions[0].message or 'it does not lead here'}" for parent in parents),
    )


def _draw_backends(topology: Topology) -> None:
    """Draw the backends that no root leads to as roots of their own, one vertex per named port if they have any."""
    named = {backend.wanted[:2] for state in topology.routes for backend in state.backends}
    for kind in sorted(BACKEND_KINDS | named):
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
