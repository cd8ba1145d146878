"""Where the boxes of a picture stand: columns by networkx' topological generations, rows near what they belong to."""

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
    """Boxes by column: what leads to something stands left of it, a policy right before what it is attached to."""
    layer = _layers(graph)
    found: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for number in _reading_order(graph):
        found[layer[number]].append(number)
    return [each for each in found if each]


def _layers(graph: Graph) -> list[int]:
    import networkx

    drawn: networkx.DiGraph[int] = networkx.DiGraph()
    objects = [number for number, each in enumerate(graph.nodes) if each.role != "policy"]
    drawn.add_nodes_from(objects)
    drawn.add_edges_from((each.start, each.end) for each in graph.edges if graph.nodes[each.start].role != "policy")
    while not networkx.is_directed_acyclic_graph(drawn):
        drawn.remove_edge(*networkx.find_cycle(drawn)[0][:2])
    layer = [0] * len(graph.nodes)
    for number, generation in enumerate(networkx.topological_generations(drawn)):
        for each in generation:
            layer[each] = number
    usual: dict[str, int] = {}
    for each in objects:
        if drawn.in_degree(each):
            level = graph.nodes[each].level
            usual[level] = min(usual.get(level, layer[each]), layer[each])
    for each in objects:
        if not drawn.in_degree(each):  # what hangs on nothing stands among its like
            below = min(
                (layer[child] for child in drawn.successors(each)), default=usual.get(graph.nodes[each].level, 0) + 1
            )
            layer[each] = max(0, min(usual.get(graph.nodes[each].level, 0), below - 1))
    first: dict[int, int] = {}
    for edge in graph.edges:
        if graph.nodes[edge.start].role == "policy":
            first[edge.start] = min(first.get(edge.start, layer[edge.end]), layer[edge.end])
    for number, box in enumerate(graph.nodes):
        if box.role == "policy":
            layer[number] = first.get(number, 1) - 1
    lowest = min(layer, default=0)
    return [each - lowest for each in layer]


def _reading_order(graph: Graph) -> list[int]:
    """Depth first, the policies of a box before it, so that what belongs together begins side by side."""
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
    roots = [each for each, box in enumerate(graph.nodes) if box.role != "policy" and each not in entered]
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
    """A rectangle per box.

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
            wanted = {each: _middle(each, near[each], y, heights) for each in column}
            column.sort(key=lambda each: (wanted[each], each))
            _stack(column, y, heights, between, wanted)
    top = min((y[each] for column in order for each in column), default=0.0)
    boxes = [Box(0, 0, 0, 0)] * len(heights)
    x = 0.0
    for number, column in enumerate(order):
        width = max(sizes[each][0] for each in column if each < len(sizes))
        for each in column:
            boxes[each] = Box(x, y[each] - top, width, heights[each])
        x += width + gaps[min(number, len(gaps) - 1)]
    bends = {
        edge: [(boxes[each].x, boxes[each].x + boxes[each].width, boxes[each].y + _LANE / 2) for each in lane]
        for edge, lane in lanes.items()
    }
    return Placed(boxes[: len(sizes)], bends)


def _with_lanes(
    graph: Graph, order: list[list[int]], heights: list[float]
) -> tuple[list[list[int]], list[float], dict[int, list[int]]]:
    """Neighbours and heights, with a narrow box in each column that a line passes through; per line its lane."""
    column_of = {each: number for number, column in enumerate(order) for each in column}
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
        for here, there in pairwise([*chain, edge.end]):
            near[here].append(there)
            near[there].append(here)
    return near, heights, lanes


def _middle(number: int, near: list[int], y: list[float], heights: Sequence[float]) -> float:
    """Where the upper edge of a box would be, level with its neighbours."""
    if not near:
        return y[number]
    return sum(y[each] + heights[each] / 2 for each in near) / len(near) - heights[number] / 2


def _stack(column: list[int], y: list[float], heights: list[float], between: float, wanted: dict[int, float]) -> None:
    """Rows without overlap as near as possible to where they want to be: neighbours that collide share the shift."""
    blocks: list[tuple[float, float, float, int]] = []  # sum of wishes, height, number of boxes, first row
    for row, each in enumerate(column):
        blocks.append((wanted[each], heights[each] + between, 1, row))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][2] + blocks[-2][1] > blocks[-1][0] / blocks[-1][2]:
            total, height, count, _ = blocks.pop()
            before = blocks.pop()
            blocks.append((before[0] + total - count * before[1], before[1] + height, before[2] + count, before[3]))
    ends = [*(block[3] for block in blocks[1:]), len(column)]
    for (total, _, count, first), end in zip(blocks, ends, strict=True):
        here = total / count
        for row in range(first, end):
            y[column[row]] = here
            here += heights[column[row]] + between
