"""What stands above and below an object on the paths through it."""

from __future__ import annotations

from collections.abc import Iterable

from policylint.catalog.kinds import Catalog
from policylint.model import Node, ResourceKey
from policylint.topology.graph import Topology, whole


def above(topology: Topology, nodes: Iterable[Node]) -> list[Node]:
    """Every node on the way from a root to one of these nodes, they themselves included, sorted."""
    found: set[Node] = set()
    pending = [vertex for node in nodes for vertex in topology.vertices_of(node)]
    seen = set(pending)
    while pending:
        vertex = pending.pop()
        found.update(topology.vertices[vertex].nodes)
        for parent in topology.parents[vertex]:
            if parent not in seen:
                seen.add(parent)
                pending.append(parent)
    return sorted(found)


def gateways_above(topology: Topology, key: ResourceKey) -> list[ResourceKey]:
    """The Gateways on the paths that lead to an object, sorted; a Gateway itself for a Gateway."""
    return [node.key for node in above(topology, [whole(key)]) if node.role == "Gateway"]


def foreign_gateway(topology: Topology, key: ResourceKey, implementation: str, catalog: Catalog) -> bool:
    """Whether a Gateway is served by another implementation that the catalog knows, by its controller or its class."""
    state = topology.gateway(key)
    if state is None:
        return False
    if state.controller:
        return catalog.implementation_of_controller(state.controller) not in (None, implementation)
    return catalog.implementation_of_class(state.class_key.name) not in (None, implementation)


def foreign(topology: Topology, key: ResourceKey, implementation: str, catalog: Catalog) -> bool:
    """Whether an object stands below Gateways, and all of them are served by others."""
    gateways = gateways_above(topology, key)
    return bool(gateways) and all(foreign_gateway(topology, each, implementation, catalog) for each in gateways)
