"""What `policylint graph` draws: objects, policies and what becomes of each policy where it is attached.

Read from one Simulation per environment; no effect is computed here. Ids are positions: the same input gives the same
graph, whatever the order of the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from policylint.model import Node, ResourceKey
from policylint.namedtuple import NamedTuple

Change = Literal["", "added", "removed", "changed"]
MARKS = {"": "", "added": "+ ", "removed": "- ", "changed": "~ "}
"""How a change is written before a name."""
Role = Literal["object", "policy", "absent"]
Effect = Literal[
    "link",  # topology: leads to
    "namespace",  # a Namespace with policies, and the highest objects in it
    "effective",  # attached, and all that it sets takes effect
    "partial",  # attached, and part of what it sets takes effect
    "overridden",  # attached, and nothing of it takes effect
    "attached",  # attached, without an effect that is known (it sets nothing, or lies in no context)
    "refused",  # not attached although the object is there: a claim lost, an invalid policy, a route not allowed
    "dangling",  # names what is not there
    "unknown",  # names what may come from elsewhere
]
EFFECTS: dict[str, str] = {
    "effective": "attached, takes effect",
    "partial": "attached, takes effect in part",
    "overridden": "attached, overridden",
    "attached": "attached, no effect known",
    "refused": "refused",
    "dangling": "dangling: not there",
    "unknown": "target not known",
}
"""What the legend says, in its order."""


class GraphNode(NamedTuple):
    """One box.

    Args:
        label: its identity as everywhere in the output: `HTTPRoute shop/checkout`.
        kind, title: the same in two parts; the title of a listener or rule begins with `#`.
        namespace: `?` where something outside its file decides it, "" without one.
        level: gatewayclass, gateway, listener, route, rule, service, workload, namespace or policy.
        state: the verdict of a policy; missing or unknown for what is absent; else "".
        place: `file:line`, "" for what is absent.
        nodes: what it is in the topology; empty for what is absent.
        many: how many objects it stands for (folding).
        change: what became of it between two revisions; "" without them.
    """

    label: str
    kind: str
    title: str
    namespace: str
    environment: str
    role: Role
    level: str
    state: str = ""
    place: str = ""
    nodes: tuple[Node, ...] = ()
    many: int = 1
    change: Change = ""

    @property
    def key(self) -> ResourceKey | None:
        return self.nodes[0].key if self.nodes else None


class GraphEdge(NamedTuple):
    """One line: from what is above to what is below, from a policy to what it names.

    Args:
        label: for policies the settings that take effect here, and those that do not.
        why: for what does not work, one clause for a person.
    """

    start: int
    end: int
    effect: Effect = "link"
    label: str = ""
    why: str = ""
    change: Change = ""


class Graph(NamedTuple):
    """Boxes and lines.

    Args:
        left_out: sentences on what is not drawn.
        focus: the boxes that were asked about.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    left_out: tuple[str, ...] = ()
    focus: frozenset[int] = frozenset()

    def above(self) -> list[list[int]]:
        """Per box the ids of edges that end there."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for number, edge in enumerate(self.edges):
            found[edge.end].append(number)
        return found

    def below(self) -> list[list[int]]:
        """Per box the ids of edges that start there."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for number, edge in enumerate(self.edges):
            found[edge.start].append(number)
        return found

    def only(self, kept: Iterable[int], *left_out: str) -> Graph:
        """The graph of some of its boxes, in the same order."""
        order = {old: new for new, old in enumerate(sorted(kept))}
        edges = [
            edge._replace(start=order[edge.start], end=order[edge.end])
            for edge in self.edges
            if edge.start in order and edge.end in order
        ]
        focus = frozenset(order[each] for each in self.focus if each in order)
        return Graph(tuple(self.nodes[each] for each in order), tuple(edges), (*self.left_out, *left_out), focus)

    @property
    def environments(self) -> list[str]:
        return sorted({each.environment for each in self.nodes})


def joined(graphs: Sequence[Graph]) -> Graph:
    """The graphs of several environments side by side."""
    if len(graphs) == 1:
        return graphs[0]
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    left_out: list[str] = []
    focus: set[int] = set()
    for graph in graphs:
        first = len(nodes)
        nodes += graph.nodes
        edges += [each._replace(start=each.start + first, end=each.end + first) for each in graph.edges]
        left_out += graph.left_out
        focus |= {each + first for each in graph.focus}
    return Graph(tuple(nodes), tuple(edges), tuple(dict.fromkeys(left_out)), frozenset(focus))
