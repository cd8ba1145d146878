"""A graph as one SVG picture that follows the viewer's dark or light theme; made without browser, node or Graphviz."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from policylint.report.graph.layers import Box, columns, placed
from policylint.report.graph.model import MARKS, Graph, GraphEdge, GraphNode
from policylint.report.graph.style import CHANGES, COLORS, DASHES, STATES
from policylint.report.graph.view import reduced, without_bare_rules
from policylint.report.kit.secrets import masked

MOST_BOXES, MOST_LINES = 600, 1_500
_MARGIN, _BETWEEN, _PORT = 24, 14, 15
_NARROW, _LETTER, _SMALL = 96, 6.9, 5.7
_LONGEST = 34
_Ports = dict[int, list[list[int]]]
_Point = tuple[float, float]
_Bends = list[tuple[float, float, float]]
_STYLE = """
svg{background:#fff;color:#1f2328;font:12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
text{fill:currentColor}.k{font-size:10px;opacity:.72}.l{font-size:10px;paint-order:stroke;stroke:#fff;stroke-width:3px}
rect{fill:#f6f8fa;stroke:#8c959f}.p rect{fill:#fff;stroke-width:1.6}.a rect{fill:none;stroke-dasharray:5 4}
.f rect{stroke-width:3.5}path{fill:none;stroke-width:1.4}.t{font-size:13px;font-weight:600}
@media(prefers-color-scheme:dark){svg{background:#0d1117;color:#e6edf3}.l{stroke:#0d1117}rect{fill:#161b22;stroke:#6e7681}
.p rect{fill:#0d1117}path,.p rect,.a rect,.l,.s{filter:brightness(1.45)}}
"""


def write(graph: Graph) -> str:
    """Write the picture with its legend."""
    graph = reduced(without_bare_rules(graph), MOST_BOXES, MOST_LINES)
    ports = _ports(graph)
    sizes = [_size(box, len(ports.get(number, ()))) for number, box in enumerate(graph.nodes)]
    boxes, bends = placed(graph, sizes, _gaps(graph), _BETWEEN)
    ends = _arrivals(graph, ports, boxes, bends)
    bottom = max((box.y + box.height for box in boxes), default=0.0)
    notes = _legend(graph, bottom + 44)
    width = max((box.x + box.width for box in boxes), default=0.0)
    width = max(width, 760.0) + 2 * _MARGIN
    height = bottom + 44 + 18 * len(notes) + 2 * _MARGIN
    view = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {view} role="img">',
        "<title>policylint graph</title>",
        f"<style>{_STYLE}</style>",
        f'<g transform="translate({_MARGIN} {_MARGIN})">',
        *(
            _line(graph, number, boxes[edge.start], ends[number], bends.get(number, []))
            for number, edge in enumerate(graph.edges)
        ),
        *(_box(node, boxes[number], number in graph.focus) for number, node in enumerate(graph.nodes)),
        *(_words(edge, ends[number]) for number, edge in enumerate(graph.edges) if edge.text),
        *notes,
        "</g></svg>",
    ]
    return "\n".join(lines) + "\n"


def _size(box: GraphNode, ports: int) -> tuple[float, float]:
    letters = max(len(_short(box.title)) * _LETTER, len(_kind(box)) * _SMALL)
    return max(_NARROW, letters + 20), max(40, ports * _PORT + 8)


def _ports(graph: Graph) -> dict[int, list[list[int]]]:
    """Return per box the groups of lines that arrive at one port: each with words has its own, the others share one."""
    ports: dict[int, list[list[int]]] = {}
    plain: dict[int, list[int]] = {}
    for number, edge in enumerate(graph.edges):
        if edge.text:
            ports.setdefault(edge.end, []).append([number])
        else:
            plain.setdefault(edge.end, []).append(number)
    for end, numbers in plain.items():
        ports.setdefault(end, []).append(numbers)
    return ports


def _gaps(graph: Graph) -> list[float]:
    """Return the room after each column, for the words on the lines that end in the next one."""
    order = columns(graph)
    column_of = {box: number for number, column in enumerate(order) for box in column}
    gaps = [52.0] * max(len(order), 1)
    for edge in graph.edges:
        if edge.text and column_of[edge.end]:
            before = column_of[edge.end] - 1
            gaps[before] = max(gaps[before], 34 + len(_short(edge.text)) * _SMALL)
    return gaps


def _arrivals(graph: Graph, ports: _Ports, boxes: list[Box], bends: Mapping[int, _Bends]) -> dict[int, _Point]:
    """Return the point where each line ends, sorted by where the lines come from."""

    def height(number: int) -> float:
        if number in bends:
            return bends[number][-1][2]
        start = boxes[graph.edges[number].start]
        return start.y + start.height / 2

    points = {}
    for end, groups in ports.items():
        box = boxes[end]
        first = box.y + box.height / 2 - (len(groups) - 1) * _PORT / 2
        ordered = sorted(groups, key=lambda group: (sum(map(height, group)) / len(group), group))
        for row, group in enumerate(ordered):
            points.update(dict.fromkeys(group, (box.x, first + row * _PORT)))
    return points


def _line(graph: Graph, number: int, start: Box, end: _Point, bends: _Bends) -> str:
    edge = graph.edges[number]
    point = (start.x + start.width, start.y + start.height / 2)
    x, y = end
    steps = [f"M{point[0]:.1f} {point[1]:.1f}"]
    for left, right, level in bends:
        steps += [_curve(point, (left, level)), f"H{right:.1f}"]
        point = (right, level)
    steps.append(_curve(point, (x, y)))
    color, dash = CHANGES.get(edge.change) or COLORS[edge.effect], DASHES.get(edge.effect, "")
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    tip = f"M{x - 6:.1f} {y - 3.5:.1f}L{x:.1f} {y:.1f}L{x - 6:.1f} {y + 3.5:.1f}"
    return (
        f'<g><title>{escape(_spoken(graph, edge))}</title><path stroke="{color}"{dashed} d="{"".join(steps)}"/>'
        f'<path stroke="{color}" d="{tip}"/></g>'
    )


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    bend = max(16.0, min((end[0] - start[0]) / 2, 60))
    return f"C{start[0] + bend:.1f} {start[1]:.1f} {end[0] - bend:.1f} {end[1]:.1f} {end[0]:.1f} {end[1]:.1f}"


def _words(edge: GraphEdge, end: _Point) -> str:
    x, y = end
    return (
        f'<text class="l" x="{x - 10:.1f}" y="{y - 3:.1f}" text-anchor="end" '
        f'style="fill:{CHANGES.get(edge.change) or COLORS[edge.effect]}">{escape(_short(edge.text))}</text>'
    )


def _spoken(graph: Graph, edge: GraphEdge) -> str:
    ends = f"{graph.nodes[edge.start].label} → {graph.nodes[edge.end].label}"
    more = "; ".join(part for part in (graph.effects.get(edge.effect, ""), edge.label, edge.why) if part)
    return f"{ends}: {more}" if more else ends


def _box(node: GraphNode, box: Box, focus: bool) -> str:
    name = {"policy": "p", "absent": "a", "object": "o"}[node.role] + (" f" if focus else "")
    color = COLORS.get(STATES.get(node.state, ""), "") if node.role != "object" else ""
    color = CHANGES.get(node.change, color)
    stroke = f' style="stroke:{color}{";stroke-width:2.5" if node.change else ""}"' if color else ""
    round_off = 14 if node.role == "policy" else 4
    middle = box.y + box.height / 2
    return (
        f'<g class="{name}"><title>{escape(" · ".join(x for x in (node.label, node.state, node.place) if x))}</title>'
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="{round_off}"{stroke}/>'
        f'<text class="k" x="{box.x + 10:.1f}" y="{middle - 5:.1f}">{escape(_kind(node))}</text>'
        f'<text x="{box.x + 10:.1f}" y="{middle + 11:.1f}">{escape(_short(node.title))}</text></g>'
    )


def _kind(node: GraphNode) -> str:
    """Return the line above the name."""
    return MARKS[node.change] + (f"{node.kind} · {node.state}" if node.state else node.kind)


def _legend(graph: Graph, y: float) -> list[str]:
    used = {edge.effect for edge in graph.edges}
    entries = [(effect, text) for effect, text in graph.effects.items() if effect in used]
    widths = [46 + len(text) * 6.4 for _, text in entries]
    starts = [0.0, *accumulate(widths)]
    pieces = []
    for (effect, text), x in zip(entries, starts, strict=False):
        dash = f' stroke-dasharray="{DASHES[effect]}"' if effect in DASHES else ""
        pieces.append(
            f'<path stroke="{COLORS[effect]}"{dash} d="M{x:.1f} {y - 4:.1f}h26"/>'
            f'<text class="k" x="{x + 32:.1f}" y="{y:.1f}">{text}</text>'
        )
    notes = [f"left out: {sentence}" for sentence in graph.left_out]
    if any(drawn.change for drawn in graph.nodes + graph.edges):
        notes.append("+ added, - removed, ~ changed")
    return (["".join(pieces)] if pieces else []) + [
        f'<text class="k" x="0" y="{y + 18 * row:.1f}">{escape(note)}</text>' for row, note in enumerate(notes, 1)
    ]


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST // 2]}…{flat[-_LONGEST // 2 + 1 :]}"


def escape(text: str) -> str:
    """Escape text inside an element or attribute; characters that XML does not have become U+FFFD."""
    import html

    clean = "".join(char if char.isprintable() else "\ufffd" for char in " ".join(masked(text).split()))
    return html.escape(clean, quote=False).replace('"', "&quot;").replace("'", "&#39;")
