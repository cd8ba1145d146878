"""Find what stands above an object on the paths through it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policylint.catalog.kinds import CORE, Catalog
from policylint.model import ROUTE_KINDS, Node, PolicyKind, ResourceKey
from policylint.model.kinds import MESHES
from policylint.topology.graph import Topology, walk, whole
from policylint.topology.state import GatewayState


def ancestors(topology: Topology, nodes: Iterable[Node]) -> list[Node]:
    """Return every node on a path from a root to one of these nodes, these included, sorted."""
    vertices = walk(topology.parents, (vertex for node in nodes for vertex in topology.vertices_of(node)))
    return sorted({node for vertex in vertices for node in topology.vertices[vertex].nodes})


def gateways_above(topology: Topology, key: ResourceKey) -> Sequence[ResourceKey]:
    """Return the Gateways on the paths that lead to an object, sorted; for a Gateway, itself."""
    above = topology.above.get(key)
    if above is None:
        nodes = ancestors(topology, [whole(key)])
        above = topology.above[key] = tuple(node.key for node in nodes if node.role == "Gateway")
    return above


def implementation_of(state: GatewayState, catalog: Catalog) -> str | None:
    """Return the implementation that serves a Gateway, by its controller or else its class; None where nobody knows.

    A class of Ingresses may have the name of a GatewayClass, and another controller.
    """
    if state.controller:
        return catalog.implementation_of_controller(state.controller)
    return catalog.implementation_of_class(state.class_key.name) if state.class_key.kind == "GatewayClass" else None


def unheard_of(topology: Topology, gateway: ResourceKey | None, kind: PolicyKind, catalog: Catalog) -> str:
    """Return the controller that a Gateway's class names where it may not read policies of a kind, "" where it does."""
    state = None if gateway is None else topology.gateway(gateway)
    if state is None or not catalog.may_not_read(implementation_of(state, catalog), kind):
        return ""
    return state.controller  # of a class that was not seen, "", its policies say whose it is


def unread(topology: Topology, kind: PolicyKind, catalog: Catalog) -> frozenset[int]:
    """Return the vertices at which no policy of a kind has effect: Gateways whose controllers do not read it, and where
    they serve routes alone, Services that none leads to. Gateway API's own kinds may be read by a mesh.
    """
    unrouted: frozenset[int] = frozenset()
    serves_routes = kind.origin == "catalog" and kind.implementation not in (CORE, *MESHES)
    if serves_routes and topology.routes and not topology.world.unseen:
        unrouted = frozenset(
            vertex for vertex in topology.roots if topology.vertices[vertex].nodes[0].key[:2] == ("", "Service")
        )
    return unrouted | frozenset(
        vertex
        for state in topology.gateways
        if not catalog.reads(implementation_of(state, catalog), kind)
        for vertex in topology.vertices_of(whole(state.gateway.key))
    )


def origins(topology: Topology) -> list[tuple[int, ResourceKey]]:
    """Return the vertices at which traffic comes in, with their objects: Gateways, and routes that a mesh reads."""
    keys = ((vertex, topology.vertices[vertex].nodes[0].key) for vertex in topology.roots)
    of_mesh = [(vertex, key) for vertex, key in keys if key.kind in ROUTE_KINDS]
    gateways = [state.gateway.key for state in topology.gateways]
    return of_mesh + [(vertex, key) for key in gateways for vertex in topology.vertices_of(whole(key))]


def serving(topology: Topology, node: Node) -> tuple[list[GatewayState], bool]:
    """Return the Gateways that a target belongs to, or that requests come to it through, and whether these are all.

    They are not where a mesh serves the target too, or where a parent was not seen.
    """
    kind, route = node.key.kind, topology.route(node.key)
    if kind == "GatewayClass":
        return [gateway for gateway in topology.gateways if gateway.class_key == node.key], True
    keys: Sequence[ResourceKey]
    if route is not None:
        states, keys = [route], [parent.gateway for parent in route.parents if parent.gateway is not None]
    else:
        above, holder = ancestors(topology, [whole(node.key)]), topology.listener_set(node.key)
        routes = (topology.route(each.key) for each in above if not each.section)
        states = [each for each in routes if each is not None]
        keys = [each.key for each in above if each.role == "Gateway"] if holder is None else [holder.parent]
    whole_way = all(parent.gateway is not None and not parent.mesh for state in states for parent in state.parents)
    gateways = [topology.gateway(key) for key in dict.fromkeys(keys)]
    seen = [gateway for gateway in gateways if gateway is not None]
    return seen, whole_way and len(seen) == len(gateways)


def foreign_gateway(topology: Topology, key: ResourceKey, implementation: str, catalog: Catalog) -> bool:
    """Return whether another implementation that the catalog knows serves a Gateway, by its controller or its class."""
    state = topology.gateway(key)
    return state is not None and implementation_of(state, catalog) not in (None, implementation)


def foreign(topology: Topology, key: ResourceKey, implementation: str, catalog: Catalog) -> bool:
    """Return whether an object stands below Gateways and other implementations serve all of them."""
    gateways = gateways_above(topology, key)
    return bool(gateways) and all(foreign_gateway(topology, gateway, implementation, catalog) for gateway in gateways)
