"""The part of networkx that the columns of a picture need: the whole is a seventh of the page and slow to import."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Generic, TypeVar

Node = TypeVar("Node", bound=Hashable)


class DiGraph(Generic[Node]):
    """A directed graph; nodes and edges keep the order in which they came."""

    def __init__(self) -> None:
        self._successors: dict[Node, dict[Node, None]] = {}
        self._predecessors: dict[Node, dict[Node, None]] = {}

    def add_nodes_from(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._successors.setdefault(node, {})
            self._predecessors.setdefault(node, {})

    def add_edges_from(self, edges: Iterable[tuple[Node, Node]]) -> None:
        for start, end in edges:
            self.add_nodes_from((start, end))
            self._successors[start][end] = self._predecessors[end][start] = None

    def remove_edge(self, start: Node, end: Node) -> None:
        del self._successors[start][end], self._predecessors[end][start]

    def in_degree(self, node: Node) -> int:
        return len(self._predecessors[node])

    def successors(self, node: Node) -> Iterator[Node]:
        return iter(self._successors[node])

    def sorter(self) -> TopologicalSorter[Node]:
        return TopologicalSorter(self._predecessors)


def is_directed_acyclic_graph(graph: DiGraph[Node]) -> bool:
    try:
        graph.sorter().prepare()
    except CycleError:
        return False
    return True


def find_cycle(graph: DiGraph[Node]) -> list[tuple[Node, Node]]:
    """Return the edges of a circle.

    Raises:
        ValueError: there is none.
    """
    try:
        graph.sorter().prepare()
    except CycleError as error:
        return list(pairwise(error.args[1]))
    raise ValueError("no circle")


def topological_generations(graph: DiGraph[Node]) -> Iterator[list[Node]]:
    """Yield the nodes that nothing leads to, then those that nothing but these leads to, and so on."""
    sorter = graph.sorter()
    sorter.prepare()
    while generation := list(sorter.get_ready()):
        yield generation
        sorter.done(*generation)
