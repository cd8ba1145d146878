"""The graph that `policylint graph` draws: objects, policies and their effect where they are attached.

Read from one Simulation per environment; no effect is computed here. Ids are positions: the same input gives the same
graph, whatever the order of the files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from policylint.model import Node, ResourceKey
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.policy.results import Effective

Change = Literal["", "added", "removed", "changed"]
MARKS = {"": "", "added": "+ ", "removed": "- ", "changed": "~ "}
"""The mark of a change before a name."""
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
"""Effect → its text in the legend, in order."""


class GraphNode(NamedTuple):
    """One box.

    Args:
        label: its identity as everywhere in the output: `HTTPRoute shop/checkout`.
        kind, title: the same in two parts; the title of a listener or rule begins with `#`.
        namespace: `?` where something outside its file decides it, "" without one.
        level: gatewayclass, gateway, listener, route, rule, service, workload, namespace or policy.
        state: the verdict of a policy; missing or unknown for what is absent; else "".
        place: `file:line`, "" for what is absent.
        nodes: its nodes in the topology; empty for what is absent.
        many: the number of objects it stands for (folding).
        change: its change between two revisions; "" without them.
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

    @property
    def text(self) -> str:
        """The words on the line."""
        return (MARKS[self.change] + self.label).strip()


class Graph(NamedTuple):
    """Boxes and lines.

    Args:
        left_out: sentences on what is not drawn.
        focus: the boxes that were asked about.
        effects: effect → its text in the legend, in order.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    left_out: tuple[str, ...] = ()
    focus: frozenset[int] = frozenset()
    effects: Mapping[str, str] = EFFECTS

    def only(self, kept: Iterable[int], *left_out: str) -> Graph:
        """Return the graph of some of its boxes, in the same order."""
        order = {old: new for new, old in enumerate(sorted(kept))}
        inside = [edge for edge in self.edges if edge.start in order and edge.end in order]
        edges = [edge._replace(start=order[edge.start], end=order[edge.end]) for edge in inside]
        focus = frozenset(order[number] for number in self.focus if number in order)
        nodes = tuple(self.nodes[number] for number in order)
        return Graph(nodes, tuple(edges), (*self.left_out, *left_out), focus, self.effects)

    def moved(self, boxes: Mapping[int, int]) -> tuple[GraphEdge, ...]:
        """Return the lines with other boxes in the place of some; of lines that are then the same the first."""
        edges: dict[tuple[int, int, str], GraphEdge] = {}
        for edge in self.edges:
            start, end = boxes.get(edge.start, edge.start), boxes.get(edge.end, edge.end)
            edges.setdefault((start, end, edge.effect), edge._replace(start=start, end=end))
        return tuple(edges.values())

    @property
    def environments(self) -> list[str]:
        return sorted({box.environment for box in self.nodes})

    def clusters(self, begin: Callable[[int, str], list[str]], box: Callable[[int], str], end: str) -> Iterator[str]:
        """Yield the lines of a text format for all boxes, in a cluster per environment where there are several."""
        environments = self.environments
        for number, environment in enumerate(environments):
            yield from begin(number, environment) if len(environments) > 1 else ()
            yield from (f"  {box(each)}" for each, node in enumerate(self.nodes) if node.environment == environment)
            yield from [end] if len(environments) > 1 else ()


def closure(start: Iterable[int], following: Mapping[int, Iterable[int]]) -> set[int]:
    """Return some boxes and all that follow from them, in any number of steps."""
    seen = set(start)
    pending = list(seen)
    while pending:
        fresh = set(following.get(pending.pop(), ())) - seen
        seen |= fresh
        pending += fresh
    return seen


def fields_by_policy(effective: Effective) -> tuple[dict[ResourceKey, set[str]], dict[ResourceKey, set[str]]]:
    """Return by policy the settings of a spec that it gives, and those that it loses, at least in part."""
    kept: dict[ResourceKey, set[str]] = defaultdict(set)
    lost: dict[ResourceKey, set[str]] = defaultdict(set)
    for pointer, owner in effective.owners.items():
        kept[owner].add(str(pointer[0]) if pointer else "")
    for loss in effective.lost:
        lost[loss.policy].add(str(loss.pointer[0]) if loss.pointer else "")
    return kept, lost


def joined(graphs: Sequence[Graph]) -> Graph:
    """Put the graphs of several environments side by side."""
    if len(graphs) == 1:
        return graphs[0]
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    left_out: list[str] = []
    focus: set[int] = set()
    for graph in graphs:
        first = len(nodes)
        nodes += graph.nodes
        edges += [edge._replace(start=edge.start + first, end=edge.end + first) for edge in graph.edges]
        left_out += graph.left_out
        focus |= {number + first for number in graph.focus}
    effects = graphs[0].effects if graphs else EFFECTS
    return Graph(tuple(nodes), tuple(edges), tuple(dict.fromkeys(left_out)), frozenset(focus), effects)
