"""The Graph of connections: workloads by namespace, lines by ports, wherever a network policy bears on them.

Workloads of one namespace between which no policy tells a difference share a box.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policylint.compare.connections import by_name
from policylint.model import ResourceKey
from policylint.model.words import count
from policylint.network.endpoints import Endpoint
from policylint.network.rules import DIRECTIONS
from policylint.network.selecting import numbers_of
from policylint.network.state import Network, both, verdict
from policylint.network.walk import Row
from policylint.report.graph.model import Change, Graph, GraphEdge, GraphNode
from policylint.report.kit.display import place
from policylint.report.kit.identity import Names
from policylint.simulation import Simulation
from policylint.topology import whole

if TYPE_CHECKING:
    from policylint.compare.connections import ConnectionChange
    from policylint.compare.pairing import Sides

MOST_BOXES = 300
_MOST_NAMES = 3
EFFECTS = {"link": "a network policy bears on it and lets it through", "unknown": "not known whether it gets through"}

EMPTY = Graph((), (), (), frozenset(), EFFECTS)


class _Part:
    """Ends of one namespace between which no policy tells a difference, or addresses.

    Attributes:
        rows: by direction what they are open to; None where no policy bears on them.
    """

    def __init__(self, network: Network, members: int) -> None:
        self.members = members
        self.first = next(numbers_of(members))
        self.is_outside = bool(members & network.universe.addresses.all)
        self.rows: dict[str, Row | None] = dict.fromkeys(DIRECTIONS)
        for direction in () if self.is_outside else DIRECTIONS:
            if network.entries(self.first, direction):
                self.rows[direction] = network.row(self.first, direction)

    @property
    def is_bound(self) -> bool:
        return any(row is not None for row in self.rows.values())


def build(
    simulation: Simulation, names: Names, namespaces: Collection[str] = (), about: ResourceKey | None = None
) -> Graph:
    """Build the graph of one environment.

    Args:
        namespaces: only connections from or to these.
        about: only those of this workload or Gateway, or of what this policy selects.
    """
    network = simulation.network
    parts = [_Part(network, members) for members in _alike(network)]
    parts = sorted(parts, key=lambda part: (not part.is_bound, part.first))
    left_out = [count(len(parts) - MOST_BOXES, "group of workloads", "groups of workloads")][: len(parts) > MOST_BOXES]
    parts = parts[:MOST_BOXES]
    boxes = [_box(simulation, network, part, names) for part in parts]
    meant = 0 if about is None else _meant(network, about)
    focus = {number for number, part in enumerate(parts) if part.members & meant}
    own = {number for number, box in enumerate(boxes) if not namespaces or box.namespace in namespaces}
    own = own if about is None else focus
    edges = [edge for edge in _edges(network, parts) if edge.start in own or edge.end in own]
    drawn = {number for number in own if parts[number].is_bound} | focus
    drawn |= {end for edge in edges for end in (edge.start, edge.end)}
    if drawn:
        left_out.append("connections on which no policy bears")
    graph = Graph(tuple(boxes), tuple(sorted(edges)), (), frozenset(focus), EFFECTS)
    return graph.only(drawn, *left_out)


def changes(sides: Sides, found: Sequence[ConnectionChange], names: Names, namespaces: Collection[str] = ()) -> Graph:
    """Build the graph of what a change opens and closes: boxes of ends to which it does the same, a line for each.

    Args:
        found: the changes of the environment; what is not certain on both sides is not among them.
        namespaces: only connections from or to these.
    """
    networks = sides.after.network, sides.before.network
    ends = {name: end for network in reversed(networks) for name, end in by_name(network).items()}
    roles: dict[str, list[tuple[int, bool]]] = {}
    for number, change in enumerate(found):
        for is_source, its_ends in ((True, change.sources), (False, change.targets)):
            for name in its_ends:
                roles.setdefault(name, []).append((number, is_source))
    alike: dict[tuple[str, bool, tuple[tuple[int, bool], ...]], list[str]] = {}
    for name, its_roles in roles.items():
        namespace = ends[name].namespace if name in ends else ""
        alike.setdefault((namespace, name in ends, tuple(its_roles)), []).append(name)
    boxes, edges = [], []
    taking_part: dict[tuple[int, bool], list[int]] = {}
    for number, ((_, _, part), listed) in enumerate(alike.items()):
        known = [ends[name] for name in listed if name in ends]
        box = _box_of_ends(sides.after.world.name, known, names) if known else _outside(listed, sides.after.world.name)
        told = [found[change] for change, _ in part if not found[change].targets]
        state: Change = "" if not told else "added" if told[0].change == "opened" else "removed"
        boxes.append(box._replace(change=state))
        for role in part:
            taking_part.setdefault(role, []).append(number)
    marks: dict[str, Change] = {"opened": "added", "closed": "removed"}
    for number, change in enumerate(found):
        words = {"opened": change.after, "closed": change.before}.get(
            change.change, f"{change.before} -> {change.after}"
        )
        for start in taking_part.get((number, True), ()):
            for end in taking_part.get((number, False), ()):
                edges.append(GraphEdge(start, end, "link", words, "", marks.get(change.change, "changed")))
    own = {number for number, box in enumerate(boxes) if not namespaces or box.namespace in namespaces}
    edges = sorted(edge for edge in edges if edge.start in own or edge.end in own)
    drawn = {number for number in own if boxes[number].change}
    drawn |= {end for edge in edges for end in (edge.start, edge.end)}
    left_out = [count(len(drawn) - MOST_BOXES, "group of workloads", "groups of workloads")][: len(drawn) > MOST_BOXES]
    graph = Graph(tuple(boxes), tuple(edges), (), frozenset(), EFFECTS)
    return graph.only(sorted(drawn)[:MOST_BOXES], *left_out)


def _meant(network: Network, key: ResourceKey) -> int:
    """Return the ends that an object stands for or selects."""
    bits = 0
    for number, end in enumerate(network.universe.endpoints):
        bits |= (end.key == key) << number
    for number, policy in enumerate(network.policies):
        bits |= network.subjects[number].maybe if policy.key == key else 0
    return bits | (network.universe.members(key.name) if key[:2] == ("", "Namespace") else 0)


def _alike(network: Network) -> list[int]:
    """Return sets of ends that are in one namespace, and that no row of anybody tells apart; most are bound first."""
    universe = network.universe
    classes = [(direction, group) for direction in DIRECTIONS for group in network.classes(direction)]
    by_namespace: dict[str, int] = {}
    for number, end in enumerate(universe.endpoints[:-2]):
        if universe.shown >> number & 1:
            by_namespace[end.namespace] = by_namespace.get(end.namespace, 0) | 1 << number
    parts = [*by_namespace.values(), universe.addresses.all]
    cuts = {group.members for _, group in classes}
    rows = [network.row(group.first, direction) for direction, group in classes]
    cuts |= {bits for row in rows for column in row for bits in (column.allowed, column.denied)}
    for cut in sorted(cuts):
        parts = [piece for part in parts for piece in (part & cut, part & ~cut) if piece]
        if len(parts) > 10 * MOST_BOXES:
            break
    return parts


def _edges(network: Network, parts: list[_Part]) -> Iterator[GraphEdge]:
    for start, source in enumerate(parts):
        for end, target in enumerate(parts):
            sending, taking = source.rows["egress"], target.rows["ingress"]
            if start == end or (sending is None and taking is None):
                continue
            by_verdict: dict[str, int] = {}
            for ports in _cuts(network, sending, taking):
                answers = [
                    verdict(row, 1 << other.first, ports)
                    for row, other in ((sending, target), (taking, source))
                    if row is not None
                ]
                by_verdict[both(*answers)] = by_verdict.get(both(*answers), 0) | ports
            for answer, ports in by_verdict.items():
                if answer != "denied":
                    words = network.universe.ports.words(ports)
                    yield GraphEdge(start, end, "link" if answer == "allowed" else "unknown", words)


def _cuts(network: Network, *rows: Row | None) -> list[int]:
    """Return sets of ports within which neither row changes its mind."""
    cuts = [network.universe.ports.all]
    for row in filter(None, rows):
        cuts = [ports & column.ports for ports in cuts for column in row if ports & column.ports]
    return cuts


def _box(simulation: Simulation, network: Network, part: _Part, names: Names) -> GraphNode:
    environment = simulation.world.name
    if part.is_outside:
        universe = network.universe
        ranges = universe.addresses.words(numbers_of(part.members))
        return _outside(["anywhere"] if part.members == universe.addresses.all else ranges, environment)
    ends = [network.universe.endpoints[number] for number in numbers_of(part.members)]
    closed = " and ".join(_closed(network, part))
    state = f"isolated for {closed}" if closed else ""
    among = _among(network, part) if len(ends) > 1 else ""
    state = "; ".join(filter(None, (state, among and f"among themselves {among}")))
    return _box_of_ends(environment, ends, names)._replace(state=state)


def _outside(ranges: Iterable[str], environment: str) -> GraphNode:
    title = _few(ranges)
    return GraphNode(f"outside: {title}", "outside", title, "", environment, "object", "outside")


def _box_of_ends(environment: str, ends: Sequence[Endpoint], names: Names) -> GraphNode:
    kinds = {names.kind(end.key.group, end.key.kind) for end in ends}
    return GraphNode(
        _few([f"{names.key(end.key)}{end.suffix}" for end in ends]),
        kinds.pop() if len(kinds) == 1 else "workloads",
        _few([end.key.path + end.suffix for end in ends]),
        ends[0].namespace if ends[0].namespace[:1] != "?" else "?",
        environment,
        "object",
        "workload",
        "",
        place(ends[0].resource.name_location) if ends[0].resource is not None else "",
        tuple(whole(end.key) for end in ends),
        len(ends),
    )


def _closed(network: Network, part: _Part) -> list[str]:
    """Return the directions in which something is denied."""
    everything, ports = network.universe.everything, network.universe.ports.all
    return [
        direction
        for direction in DIRECTIONS
        if (row := part.rows[direction]) is not None and verdict(row, everything, ports) != "allowed"
    ]


def _among(network: Network, part: _Part) -> str:
    """Return the ports on which ends of one box talk to each other, "" where none or all are open."""
    sending, taking = part.rows["egress"], part.rows["ingress"]
    peer = 1 << list(numbers_of(part.members))[1]
    ports = 0
    for cut in _cuts(network, sending, taking):
        if all(verdict(row, peer, cut) == "allowed" for row in (sending, taking) if row is not None):
            ports |= cut
    return "" if not ports or ports == network.universe.ports.all else network.universe.ports.words(ports)


def _few(words: Iterable[str]) -> str:
    listed = list(words)
    more = len(listed) - _MOST_NAMES
    return ", ".join(listed[:_MOST_NAMES]) + (f" and {count(more, 'more', 'more')}" if more > 0 else "")
