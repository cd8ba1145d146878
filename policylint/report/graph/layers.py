"""The layout of a picture: columns by networkx' topological generations, rows near what they belong to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from policylint.namedtuple import NamedTuple
from policylint.report.graph.model import Graph

_SWEEPS = 8
_LANE = 6.0
"""Height of the room that a line takes where it passes a column."""


class Box(NamedTuple):
    """A placed rectangle, by its upper left corner."""

    x: float
    y: float
    width: float
    height: float


def columns(graph: Graph) -> list[list[int]]:
    """Return boxes by column: what leads to something is left of it, a policy right before what it is attached to."""
    layer = _layers(graph)
    boxes: dict[int, list[int]] = defaultdict(list)
    for number in _reading_order(graph):
        boxes[layer[number]].append(number)
    return [boxes[column] for column in sorted(boxes)]


def _layers(graph: Graph) -> list[int]:
    import networkx

    drawn: networkx.DiGraph[int] = networkx.DiGraph()
    objects = [number for number, box in enumerate(graph.nodes) if box.role != "policy"]
    drawn.add_nodes_from(objects)
    drawn.add_edges_from((edge.start, edge.end) for edge in graph.edges if graph.nodes[edge.start].role != "policy")
    while not networkx.is_directed_acyclic_graph(drawn):
        drawn.remove_edge(*networkx.find_cycle(drawn)[0][:2])
    layer = [0] * len(graph.nodes)
    for column, generation in enumerate(networkx.topological_generations(drawn)):
        for number in generation:
            layer[number] = column
    usual: dict[str, int] = {}
    for number in objects:
        if drawn.in_degree(number):
            level = graph.nodes[number].level
            usual[level] = min(usual.get(level, layer[number]), layer[number])
    for number in objects:
        if not drawn.in_degree(number):  # what hangs on nothing stands among its like
            like = usual.get(graph.nodes[number].level, 0)
            below = min((layer[child] for child in drawn.successors(number)), default=like + 1)
            layer[number] = max(0, min(like, below - 1))
    first: dict[int, int] = {}
    for edge in graph.edges:
        if graph.nodes[edge.start].role == "policy":
            first[edge.start] = min(first.get(edge.start, layer[edge.end]), layer[edge.end])
    for number, box in enumerate(graph.nodes):
        if box.role == "policy":
            layer[number] = first.get(number, 1) - 1
    lowest = min(layer, default=0)
    return [column - lowest for column in layer]


def _reading_order(graph: Graph) -> list[int]:
    """Order depth first, the policies of a box before it, so that what belongs together begins side by side."""
    below: dict[int, list[int]] = defaultdict(list)
    policies: dict[int, list[int]] = defaultdict(list)
    entered = set()
    for edge in graph.edges:
        if graph.nodes[edge.start].role == "policy":
            policies[edge.end].append(edge.start)
        else:
            below[edge.start].append(edge.end)
            entered.add(edge.end)
    order: dict[int, None] = {}
    roots = [number for number, box in enumerate(graph.nodes) if box.role != "policy" and number not in entered]
    pending = [*reversed(range(len(graph.nodes))), *reversed(roots)]
    while pending:
        number = pending.pop()
        if number in order:
            continue
        for policy in policies[number]:
            order.setdefault(policy)
        order.setdefault(number)
        pending.extend(reversed(below[number]))
    return list(order)


class Placed(NamedTuple):
    """The picture: a rectangle per box, and per line the points between which it runs level through columns."""

    boxes: list[Box]
    bends: dict[int, list[tuple[float, float, float]]]


def placed(graph: Graph, sizes: Sequence[tuple[float, float]], gaps: Sequence[float], between: float) -> Placed:
    """Place all boxes and lines.

    Args:
        sizes: width and height per box.
        gaps: room after each column.
        between: room between boxes of one column.
    """
    order = columns(graph)
    near, heights, lanes = _with_lanes(graph, order, [height for _, height in sizes])
    y = [0.0] * len(heights)
    for column in order:
        _stack(column, y, heights, between, dict.fromkeys(column, 0.0))
    for sweep in range(_SWEEPS):
        for column in order if sweep % 2 == 0 else reversed(order):
            wishes = {number: _middle(number, near[number], y, heights) for number in column}
            column.sort(key=lambda number: (wishes[number], number))
            _stack(column, y, heights, between, wishes)
    top = min((y[number] for column in order for number in column), default=0.0)
    boxes = [Box(0, 0, 0, 0)] * len(heights)
    x = 0.0
    for position, column in enumerate(order):
        width = max(sizes[number][0] for number in column if number < len(sizes))
        for number in column:
            boxes[number] = Box(x, y[number] - top, width, heights[number])
        x += width + gaps[min(position, len(gaps) - 1)]
    bends = {
        edge: [(boxes[number].x, boxes[number].x + boxes[number].width, boxes[number].y + _LANE / 2) for number in lane]
        for edge, lane in lanes.items()
    }
    return Placed(boxes[: len(sizes)], bends)


def _with_lanes(
    graph: Graph, order: list[list[int]], heights: list[float]
) -> tuple[list[list[int]], list[float], dict[int, list[int]]]:
    """Return neighbours and heights, with a narrow box in each column that a line passes, and the lane of each line."""
    column_of = {box: number for number, column in enumerate(order) for box in column}
    near: list[list[int]] = [[] for _ in graph.nodes]
    lanes: dict[int, list[int]] = {}
    for number, edge in enumerate(graph.edges):
        first, last = column_of[edge.start], column_of[edge.end]
        chain = [edge.start]
        for column in range(first + 1, last):
            chain.append(len(near))
            near.append([])
            heights.append(_LANE)
            order[column].append(chain[-1])
        if len(chain) > 1:
            lanes[number] = chain[1:]
        for left, right in pairwise([*chain, edge.end]):
            near[left].append(right)
            near[right].append(left)
    return near, heights, lanes


def _middle(number: int, near: list[int], y: list[float], heights: Sequence[float]) -> float:
    """Return the y of the upper edge of a box, level with its neighbours."""
    if not near:
        return y[number]
    return sum(y[other] + heights[other] / 2 for other in near) / len(near) - heights[number] / 2


def _stack(column: list[int], y: list[float], heights: list[float], between: float, wishes: dict[int, float]) -> None:
    """Set rows without overlap, as near as possible to their wishes: neighbours that collide share the shift."""
    blocks: list[tuple[float, float, float, int]] = []  # sum of wishes, height, number of boxes, first row
    for row, number in enumerate(column):
        blocks.append((wishes[number], heights[number] + between, 1, row))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][2] + blocks[-2][1] > blocks[-1][0] / blocks[-1][2]:
            total, height, count, _ = blocks.pop()
            before = blocks.pop()
            blocks.append((before[0] + total - count * before[1], before[1] + height, before[2] + count, before[3]))
    ends = [*(block[3] for block in blocks[1:]), len(column)]
    for (total, _, count, first), end in zip(blocks, ends, strict=True):
        edge = total / count
        for row in range(first, end):
            y[column[row]] = edge
            edge += heights[column[row]] + between
