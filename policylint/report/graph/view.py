"""Parts of a graph: the surroundings of one object, one namespace; and what is folded where there is too much."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable

from policylint.model import Node, ResourceKey
from policylint.model.words import count
from policylint.policy.results import Group
from policylint.report.graph.model import Effect, Graph, GraphEdge, GraphNode

_PATH = frozenset({"link", "namespace"})
_MANY = 3
"""So many look-alikes are worth folding."""


def around(graph: Graph, key: ResourceKey, node: Node, groups: Iterable[Group]) -> Graph:
    """What stands above and below an object, with the policies on that; for a policy what it names and reaches."""
    focus = {number for number, each in enumerate(graph.nodes) if _is(each, key, node)}
    policies = {number for number in focus if graph.nodes[number].role == "policy"}
    start = set(focus)
    if policies:
        start = {edge.end for edge in graph.edges if edge.start in policies} | policies
    elif key.kind == "Namespace" and not key.group:
        inside = {number for number, each in enumerate(graph.nodes) if each.namespace == key.name}
        start |= {number for number in inside if graph.nodes[number].role != "policy"}
    kept = start | _closure(graph, start, up=True) | _closure(graph, start, up=False)
    kinds = {graph.nodes[number].kind for number in policies}
    for edge in graph.edges:
        if edge.effect in _PATH:
            continue
        first = graph.nodes[edge.start]
        wanted = first.role == "absent" or first.kind in kinds or (first.role == "policy" and not kinds)
        if edge.end in kept and wanted:
            kept.add(edge.start)
        elif edge.start in kept and first.role != "policy" and graph.nodes[edge.end].role == "absent":
            kept.add(edge.end)
    if policies:
        kept |= policies
    part = graph._replace(focus=frozenset(focus)).only(kept)
    return part if policies or not focus else _with_reach(part, node, groups)


def _is(box: GraphNode, key: ResourceKey, node: Node) -> bool:
    return node in box.nodes if node.section else box.key == key and (not box.nodes[0].section)


def _closure(graph: Graph, start: set[int], *, up: bool) -> set[int]:
    following: dict[int, list[int]] = defaultdict(list)
    for edge in graph.edges:
        if edge.effect in _PATH and not (up and edge.effect == "namespace" and edge.end not in start):
            here, there = (edge.end, edge.start) if up else (edge.start, edge.end)
            following[here].append(there)
    seen: set[int] = set()
    pending = list(start)
    while pending:
        for each in following[pending.pop()]:
            if each not in seen:
                seen.add(each)
                pending.append(each)
    return seen


def _with_reach(graph: Graph, node: Node, groups: Iterable[Group]) -> Graph:
    """Lines from policies that act on the object from above: what of them reaches it, and what does not."""
    kept: dict[ResourceKey, set[str]] = defaultdict(set)
    lost: dict[ResourceKey, set[str]] = defaultdict(set)
    for group in groups:
        above = group.nodes.get(node, frozenset())
        for pointer, owner in group.effective.owners.items():
            if owner in above:
                kept[owner].add(str(pointer[0]) if pointer else "")
        for each in group.effective.lost:
            if each.policy in above:
                lost[each.policy].add(str(each.pointer[0]) if each.pointer else "")
    direct = {(edge.start, edge.end) for edge in graph.edges}
    edges = list(graph.edges)
    for number, box in enumerate(graph.nodes):
        if box.role != "policy" or box.key is None:
            continue
        gives, loses = kept.get(box.key, set()), lost.get(box.key, set())
        for end in sorted(graph.focus):
            if (number, end) in direct or not (gives or loses):
                continue
            effect: Effect = "overridden" if not gives else "partial" if loses else "effective"
            words = ", ".join(sorted(gives)) or f"{', '.join(sorted(loses))} lost"
            edges.append(GraphEdge(number, end, effect, f"reaches it: {words}" if gives else words))
    return graph._replace(edges=tuple(sorted(edges, key=lambda each: (each.start, each.end, each.effect))))


def within(
    graph: Graph, namespaces: Collection[str] = (), kinds: Collection[str] = (), policies: Collection[str] = ()
) -> Graph:
    """Only some namespaces, kinds of objects, kinds or names of policies; what leads there stays."""
    if not namespaces and not kinds and not policies:
        return graph
    wanted = {number for number, each in enumerate(graph.nodes) if _wanted(each, namespaces, kinds, policies)}
    if policies:
        wanted |= {edge.end for edge in graph.edges if edge.start in wanted}
    else:
        wanted |= {
            edge.start for edge in graph.edges if edge.end in wanted and graph.nodes[edge.start].role == "policy"
        }
    wanted |= _closure(graph, wanted, up=True)
    return graph.only(wanted)


def _wanted(box: GraphNode, namespaces: Collection[str], kinds: Collection[str], policies: Collection[str]) -> bool:
    if policies and not (box.role == "policy" and {box.kind, box.title, box.label} & set(policies)):
        return False
    return (not namespaces or box.namespace in namespaces) and (not kinds or box.kind in kinds)


def without_bare_rules(graph: Graph) -> Graph:
    """Rules that no policy is attached to are drawn as part of their route."""
    touched = {edge.end for edge in graph.edges if graph.nodes[edge.start].role == "policy"} | graph.focus
    bare = {number for number, each in enumerate(graph.nodes) if each.level == "rule" and number not in touched}
    if not bare:
        return graph
    route_of = {edge.end: edge.start for edge in graph.edges if edge.end in bare and edge.effect == "link"}
    bare = {each for each in bare if each in route_of}
    edges: dict[tuple[int, int, str], GraphEdge] = {}
    for edge in graph.edges:
        if edge.end in bare:
            continue
        moved = edge._replace(start=route_of[edge.start]) if edge.start in bare else edge
        edges.setdefault((moved.start, moved.end, moved.effect), moved)
    moved_edges = tuple(sorted(edges.values(), key=lambda each: (each.start, each.end, each.effect)))
    return graph._replace(edges=moved_edges).only(set(range(len(graph.nodes))) - bare)


def folded(graph: Graph) -> Graph:
    """Boxes of one kind, state, namespace and environment that stand in the same relations to the same (or again
    alike) boxes become one. Gateways and what was asked about stay themselves."""
    alike: dict[int, list[int]] = defaultdict(list)
    for number, color in enumerate(look_alikes(graph)):
        alike[color].append(number)
    into: dict[int, int] = {}
    nodes = list(graph.nodes)
    for same in alike.values():
        if len(same) >= _MANY:
            into |= dict.fromkeys(same, same[0])
            number, first = sum(nodes[each].many for each in same), nodes[same[0]]
            where = f" in {first.namespace}" if first.namespace else ""
            said = f"{number} alike{where}"
            nodes[same[0]] = first._replace(label=f"{first.kind}: {said}", title=said, many=number, nodes=(), place="")
    edges: dict[tuple[int, int, str], GraphEdge] = {}
    for edge in graph.edges:
        moved = edge._replace(start=into.get(edge.start, edge.start), end=into.get(edge.end, edge.end))
        edges.setdefault((moved.start, moved.end, moved.effect), moved)
    whole = graph._replace(nodes=tuple(nodes), edges=tuple(edges.values()))
    return whole.only({number for number in range(len(nodes)) if into.get(number, number) == number})


def look_alikes(graph: Graph) -> list[int]:
    """Boxes with one number are alike: by what they are, refined by what is around, to the end."""
    kept = ("gatewayclass", "gateway")
    colors = _numbered(
        (box.environment, box.namespace, box.kind, box.role, box.state, box.change, number if fixed else -1)
        for number, box in enumerate(graph.nodes)
        for fixed in (number in graph.focus or box.level in kept,)
    )
    before = 0
    while before != len(set(colors)):
        before = len(set(colors))
        around: list[set[tuple[str, str, str, int]]] = [set() for _ in colors]
        for edge in graph.edges:
            around[edge.end].add(("above", edge.effect + edge.change, edge.label, colors[edge.start]))
            around[edge.start].add(("below", edge.effect + edge.change, edge.label, colors[edge.end]))
        colors = _numbered((color, frozenset(near)) for color, near in zip(colors, around, strict=True))
    return colors


def _numbered(values: Iterable[Hashable]) -> list[int]:
    """A small number per value, in the order in which they come."""
    known: dict[Hashable, int] = {}
    return [known.setdefault(each, len(known)) for each in values]


def reduced(graph: Graph, most_nodes: int, most_edges: int) -> Graph:
    """A graph within limits: look-alikes folded, then Services, then all that no policy touches, then the rest cut."""

    def fits(some: Graph) -> bool:
        return len(some.nodes) <= most_nodes and len(some.edges) <= most_edges

    if fits(graph):
        return graph
    before = len(graph.nodes)
    graph = folded(graph)
    if len(graph.nodes) < before:
        graph = graph._replace(left_out=(*graph.left_out, f"{before - len(graph.nodes)} boxes folded into look-alikes"))
    for levels in (("service", "port", "workload"), ("rule",), ("route",)):
        if fits(graph):
            return graph
        touched = {each for edge in graph.edges if edge.effect not in _PATH for each in (edge.start, edge.end)}
        gone = {
            number
            for number, each in enumerate(graph.nodes)
            if each.level in levels and number not in touched and number not in graph.focus
        }
        if gone:
            number = sum(graph.nodes[each].many for each in gone)
            kept = set(range(len(graph.nodes))) - gone
            graph = graph.only(kept, f"{count(number, levels[0])} that no policy names")
    if fits(graph):
        return graph
    return _cut(graph, most_nodes, most_edges)


def _cut(graph: Graph, most_nodes: int, most_edges: int) -> Graph:
    """The first boxes and lines; problems come first, then what policies do."""
    order = ("dangling", "refused", "overridden", "partial", "effective", "attached", "unknown", "namespace", "link")
    ranked = sorted(range(len(graph.edges)), key=lambda each: (order.index(graph.edges[each].effect), each))
    kept: set[int] = set(graph.focus)
    lines: list[GraphEdge] = []
    for number in ranked:
        edge = graph.edges[number]
        more = {edge.start, edge.end} - kept
        if len(lines) < most_edges and len(kept) + len(more) <= most_nodes:
            kept |= more
            lines.append(edge)
    said = f"{len(graph.nodes) - len(kept)} boxes and {len(graph.edges) - len(lines)} lines, as there are too many"
    lines.sort(key=lambda each: (each.start, each.end, each.effect))
    return graph._replace(edges=tuple(lines)).only(kept, said)
