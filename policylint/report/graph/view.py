"""Parts of a graph: the surroundings of one object, one namespace; and what is folded where there is too much."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable

from policylint.model import Node, ResourceKey
from policylint.model.words import count
from policylint.policy.results import Group
from policylint.report.graph.model import Effect, Graph, GraphEdge, GraphNode, closure, fields_by_policy

_PATH = frozenset({"link", "namespace"})
_MANY = 3
"""Look-alikes that are worth folding."""


def around(graph: Graph, key: ResourceKey, node: Node, groups: Iterable[Group]) -> Graph:
    """Return what is above and below an object, with the policies on that; for a policy what it names and reaches."""
    focus = {number for number, box in enumerate(graph.nodes) if _is(box, key, node)}
    policies = {number for number in focus if graph.nodes[number].role == "policy"}
    start = set(focus)
    if policies:
        start = {edge.end for edge in graph.edges if edge.start in policies} | policies
    elif key.kind == "Namespace" and not key.group:
        inside = {number for number, box in enumerate(graph.nodes) if box.namespace == key.name}
        start |= {number for number in inside if graph.nodes[number].role != "policy"}
    kept = start | _closure(graph, start, up=True) | _closure(graph, start, up=False)
    kinds = {graph.nodes[number].kind for number in policies}
    for edge in graph.edges:
        if edge.effect in _PATH:
            continue
        first = graph.nodes[edge.start]
        shown = first.role == "absent" or first.kind in kinds or (first.role == "policy" and not kinds)
        if edge.end in kept and shown:
            kept.add(edge.start)
        elif edge.start in kept and first.role != "policy" and graph.nodes[edge.end].role == "absent":
            kept.add(edge.end)
    part = graph._replace(focus=frozenset(focus)).only(kept)
    return part if policies or not focus else _with_reach(part, node, groups)


def _is(box: GraphNode, key: ResourceKey, node: Node) -> bool:
    return node in box.nodes if node.section else box.key == key and (not box.nodes[0].section)


def _closure(graph: Graph, start: set[int], *, up: bool) -> set[int]:
    """Return some boxes and all above or below them; Namespaces only directly above those."""
    following: dict[int, list[int]] = defaultdict(list)
    for edge in graph.edges:
        if edge.effect in _PATH and not (up and edge.effect == "namespace" and edge.end not in start):
            near, far = (edge.end, edge.start) if up else (edge.start, edge.end)
            following[near].append(far)
    return closure(start, following)


def _with_reach(graph: Graph, node: Node, groups: Iterable[Group]) -> Graph:
    """Add lines from policies that act on the object from above: what of them reaches it, and what does not."""
    kept: dict[ResourceKey, set[str]] = defaultdict(set)
    lost: dict[ResourceKey, set[str]] = defaultdict(set)
    for group in groups:
        given, taken = fields_by_policy(group.effective)
        for policy in group.nodes.get(node, frozenset()):
            kept[policy] |= given.get(policy, set())
            lost[policy] |= taken.get(policy, set())
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
    return graph._replace(edges=tuple(sorted(edges)))


def within(graph: Graph, namespaces: Collection[str] = (), kinds: Collection[str] = ()) -> Graph:
    """Keep some namespaces and kinds, the policies on that, what kinds of policies are on, and what leads there."""
    if not namespaces and not kinds:
        return graph
    kept = {
        number
        for number, box in enumerate(graph.nodes)
        if (not namespaces or box.namespace in namespaces) and (not kinds or box.kind in kinds)
    }
    of_policies = [edge for edge in graph.edges if graph.nodes[edge.start].role == "policy"]
    on = {edge.end for edge in of_policies if edge.start in kept} if kinds else set()
    kept |= {edge.start for edge in of_policies if edge.end in kept}
    return graph.only(_closure(graph, kept | on, up=True))


def without_bare_rules(graph: Graph) -> Graph:
    """Draw rules that no policy is attached to as part of their route."""
    touched = {edge.end for edge in graph.edges if graph.nodes[edge.start].role == "policy"} | graph.focus
    bare = {number for number, box in enumerate(graph.nodes) if box.level == "rule" and number not in touched}
    route_of = {edge.end: edge.start for edge in graph.edges if edge.end in bare and edge.effect == "link"}
    if not route_of:
        return graph
    rest = graph._replace(edges=tuple(edge for edge in graph.edges if edge.end not in route_of))
    edges = tuple(sorted(rest.moved(route_of)))
    return graph._replace(edges=edges).only(set(range(len(graph.nodes))) - route_of.keys())


def folded(graph: Graph) -> Graph:
    """Make one box of those of one kind, state, namespace and environment with the same or again alike neighbours.

    Gateways and what was asked about stay themselves.
    """
    alike: dict[int, list[int]] = defaultdict(list)
    for number, color in enumerate(look_alikes(graph)):
        alike[color].append(number)
    into: dict[int, int] = {}
    nodes = list(graph.nodes)
    for same in alike.values():
        if len(same) >= _MANY:
            into |= dict.fromkeys(same, same[0])
            many, first = sum(nodes[number].many for number in same), nodes[same[0]]
            title = f"{many} alike" + (f" in {first.namespace}" if first.namespace else "")
            nodes[same[0]] = first._replace(label=f"{first.kind}: {title}", title=title, many=many, nodes=(), place="")
    whole = graph._replace(nodes=tuple(nodes), edges=graph.moved(into))
    return whole.only({number for number in range(len(nodes)) if into.get(number, number) == number})


def look_alikes(graph: Graph) -> list[int]:
    """Return a number per box, the same for boxes that are alike: by what they are, refined by what is around."""
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
    """Return a small number per value, in the order in which they come."""
    known: dict[Hashable, int] = {}
    return [known.setdefault(value, len(known)) for value in values]


def reduced(graph: Graph, most_nodes: int, most_edges: int) -> Graph:
    """Bring a graph within limits: fold look-alikes, drop Services, then all that no policy touches, cut the rest."""

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
        touched = {number for edge in graph.edges if edge.effect not in _PATH for number in (edge.start, edge.end)}
        of_levels = {number for number, box in enumerate(graph.nodes) if box.level in levels}
        if gone := of_levels - touched - graph.focus:
            many = sum(graph.nodes[number].many for number in gone)
            kept = set(range(len(graph.nodes))) - gone
            graph = graph.only(kept, f"{count(many, levels[0])} that no policy names")
    return graph if fits(graph) else _cut(graph, most_nodes, most_edges)


def _cut(graph: Graph, most_nodes: int, most_edges: int) -> Graph:
    """Keep the first boxes and lines: problems, then what policies do."""
    order = ("dangling", "refused", "overridden", "partial", "effective", "attached", "unknown", "namespace", "link")
    kept: set[int] = set(graph.focus)
    lines: list[GraphEdge] = []
    for edge in sorted(graph.edges, key=lambda edge: order.index(edge.effect)):
        more = {edge.start, edge.end} - kept
        if len(lines) < most_edges and len(kept) + len(more) <= most_nodes:
            kept |= more
            lines.append(edge)
    sentence = f"{len(graph.nodes) - len(kept)} boxes and {len(graph.edges) - len(lines)} lines, as there are too many"
    return graph._replace(edges=tuple(sorted(lines))).only(kept, sentence)
