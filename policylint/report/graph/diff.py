"""Two sides of a change as one graph: what is added, removed or changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from policylint.compare.change import EnvironmentChange
from policylint.model import ResourceKey
from policylint.report.graph.model import Change, Graph, GraphEdge, GraphNode, closure


def changed(before: Graph, after: Graph, environment: EnvironmentChange) -> Graph:
    """Return what changed and what leads there, of the graph of after and what is gone, every change marked."""
    renamed = environment.renamed
    old = {_identity(box, renamed): number for number, box in enumerate(before.nodes)}
    new = {_identity(box, {}): number for number, box in enumerate(after.nodes)}
    touched = {subject.key for subject in environment.known} | {each.key for each in environment.objects}
    touched |= {verdict.policy for verdict in environment.policies}
    nodes = [box._replace(change=_of_box(box, _identity(box, {}) in old, touched)) for box in after.nodes]
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
    edges.sort()
    left_out = tuple(dict.fromkeys((*before.left_out, *after.left_out)))
    return _concerned(Graph(tuple(nodes), tuple(edges), left_out, after.focus))


def _identity(box: GraphNode, renamed: Mapping[ResourceKey, ResourceKey]) -> object:
    if not box.nodes:
        return box.label
    return tuple(node._replace(key=renamed.get(node.key, node.key)) for node in box.nodes)


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
    """Return what changed, what leads there, and the policies on that."""
    kept = {number for number, box in enumerate(graph.nodes) if box.change}
    kept |= {end for edge in graph.edges if edge.change for end in (edge.start, edge.end)}
    if not kept:
        return graph.only(())
    kept |= {edge.end for edge in graph.edges if edge.start in kept and graph.nodes[edge.start].role == "policy"}
    above: dict[int, list[int]] = defaultdict(list)
    for edge in graph.edges:
        above[edge.end].append(edge.start)
    return graph.only(closure(kept, above))
