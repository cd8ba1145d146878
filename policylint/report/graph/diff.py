"""Two sides of a change as one graph: what came, what went, what is not what it was."""

from __future__ import annotations

from collections.abc import Mapping

from policylint.compare.change import EnvironmentChange
from policylint.model import ResourceKey
from policylint.report.graph.model import Change, Graph, GraphEdge, GraphNode


def changed(before: Graph, after: Graph, environment: EnvironmentChange) -> Graph:
    """The graph of after with what is gone, every box and line marked; only what changed and what leads there."""
    renamed = environment.renamed
    old = {_identity(box, renamed): number for number, box in enumerate(before.nodes)}
    new = {_identity(box, {}): number for number, box in enumerate(after.nodes)}
    touched = _touched(environment)
    nodes = [box._replace(change=_of_box(box, identity in old, touched)) for identity, box in _named(after)]
    place: dict[int, int] = {}
    for identity, number in old.items():
        if identity in new:
            place[number] = new[identity]
        else:
            place[number] = len(nodes)
            nodes.append(before.nodes[number]._replace(change="removed"))
    was = {(place[edge.start], place[edge.end]): edge for edge in before.edges}
    edges = [edge._replace(change=_of_edge(edge, was)) for edge in after.edges]
    there = {(edge.start, edge.end) for edge in after.edges}
    gone = [edge._replace(start=place[edge.start], end=place[edge.end]) for edge in before.edges]
    edges += [edge._replace(change="removed") for edge in gone if (edge.start, edge.end) not in there]
    edges.sort(key=lambda each: (each.start, each.end, each.effect))
    left_out = tuple(dict.fromkeys((*before.left_out, *after.left_out)))
    return _concerned(Graph(tuple(nodes), tuple(edges), left_out, after.focus))


def _named(graph: Graph) -> list[tuple[object, GraphNode]]:
    return [(_identity(box, {}), box) for box in graph.nodes]


def _identity(box: GraphNode, renamed: Mapping[ResourceKey, ResourceKey]) -> object:
    if not box.nodes:
        return box.label
    return tuple(node._replace(key=renamed.get(node.key, node.key)) for node in box.nodes)


def _touched(environment: EnvironmentChange) -> set[ResourceKey]:
    found = {each.key for each in environment.known}
    found |= {each.policy for each in environment.policies}
    return found | {each.key for each in environment.objects}


def _of_box(box: GraphNode, was_there: bool, touched: set[ResourceKey]) -> Change:
    if not was_there:
        return "added"
    section = bool(box.nodes) and bool(box.nodes[0].section)
    return "changed" if box.key in touched and not section else ""


def _of_edge(edge: GraphEdge, was: dict[tuple[int, int], GraphEdge]) -> Change:
    before = was.get((edge.start, edge.end))
    if before is None:
        return "added"
    return "changed" if (before.effect, before.label) != (edge.effect, edge.label) else ""


def _concerned(graph: Graph) -> Graph:
    """What changed, what leads there, and the policies on that."""
    kept = {number for number, box in enumerate(graph.nodes) if box.change}
    kept |= {end for edge in graph.edges if edge.change for end in (edge.start, edge.end)}
    if not kept:
        return graph.only(())
    kept |= {edge.end for edge in graph.edges if edge.start in kept and graph.nodes[edge.start].role == "policy"}
    above = graph.above()
    pending = list(kept)
    while pending:
        for number in above[pending.pop()]:
            start = graph.edges[number].start
            if start not in kept:
                kept.add(start)
                pending.append(start)
    return graph.only(kept)
