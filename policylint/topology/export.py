"""The topology for networkx, imported only here and only when asked for (performance.md §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policylint.model import ResourceKey
from policylint.topology.graph import Topology

if TYPE_CHECKING:
    import networkx

MOST_CYCLES = 100


def to_networkx(topology: Topology) -> networkx.DiGraph[int]:
    """A directed graph with the same ids; each node carries its `label` and whether a root leads there."""
    import networkx

    graph: networkx.DiGraph[int] = networkx.DiGraph()
    for vertex, value in enumerate(topology.vertices):
        graph.add_node(vertex, label=str(value), reachable=bool(topology.reachable[vertex]))
    for parent, children in enumerate(topology.children):
        graph.add_edges_from((parent, child) for child in children)
    return graph


def cycles(topology: Topology) -> list[list[ResourceKey]]:
    """Routes that delegate to each other in a circle, each cycle from its first route on, sorted; at most a hundred."""
    if not topology.delegations:
        return []
    from itertools import islice

    import networkx

    graph: networkx.DiGraph[ResourceKey] = networkx.DiGraph()
    graph.add_edges_from((each.parent, each.child) for each in topology.delegations)
    found = []
    for cycle in islice(networkx.simple_cycles(graph), MOST_CYCLES):
        first = cycle.index(min(cycle))
        found.append(cycle[first:] + cycle[:first])
    return sorted(found)
