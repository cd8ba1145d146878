"""Find what stands above an object on the paths through it."""

from __future__ import annotations

from collections.abc import Iterable

from policylint.catalog.kinds import Catalog
from policylint.model import Node, ResourceKey
from policylint.topology.graph import Topology, walk, whole


def ancestors(topology: Topology, nodes: Iterable[Node]) -> list[Node]:
    """Return every node on a path from a root to one of these nodes, these included, sorted."""
    vertices = walk(topology.parents, (vertex for node in nodes for vertex in topology.vertices_of(node)))
    return sorted({node for vertex in vertices for node in topology.vertices[vertex].nodes})


def gateways_above(topology: Topology, key: ResourceKey) -> list[ResourceKey]:
    """Return the Gateways on the paths that lead to an object, sorted; for a Gateway, itself."""
    return [node.key for node in ancestors(topology, [whole(key)]) if node.role == "Gateway"]


def foreign_gateway(topology: Topology, key: ResourceKey, implementation: str, catalog: Catalog) -> bool:
    """Return whether another implementation that the catalog knows serves a Gateway, by its controller or its class."""
    state = topology.gateway(key)
    if state is None:
        return False
    if state.controller:
        return catalog.implementation_of_controller(state.controller) not in (None, implementation)
    return catalog.implementation_of_class(state.class_key.name) not in (None, implementation)


def foreign(topology: Topology, key: ResourceKey, implementation: str, catalog: Catalog) -> bool:
    """Return whether an object stands below Gateways and other implementations serve all of them."""
    gateways = gateways_above(topology, key)
    return bool(gateways) and all(foreign_gateway(topology, gateway, implementation, catalog) for gateway in gateways)
