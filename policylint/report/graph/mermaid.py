"""A graph as mermaid flowchart, within the limits that GitHub's renderer has: 500 edges, 50,000 characters."""

from __future__ import annotations

from collections.abc import Callable

from policylint.report.graph.model import MARKS, Graph, GraphEdge, GraphNode
from policylint.report.graph.style import CHANGES, COLORS, DASHES, STATES
from policylint.report.graph.view import reduced, without_bare_rules
from policylint.report.kit.display import one_line

MOST_EDGES = 500
MOST_CHARACTERS = 50_000
_PLAIN = frozenset(" ./:_+,()*-?;=")
_LONGEST = 120
_COLORS = COLORS | CHANGES


def write(graph: Graph) -> str:
    """Write the flowchart; a comment and a box tell what did not fit."""
    graph = without_bare_rules(graph)
    most = MOST_EDGES
    while len(text := _text(reduced(graph, most, most))) > MOST_CHARACTERS and most > 10:
        most = most * 4 // 5
    return text


def _text(graph: Graph) -> str:
    lines = [
        "flowchart LR",
        *graph.clusters(
            lambda number, name: [f'  subgraph e{number}["{escape(name)}"]'],
            lambda number: _box(number, graph.nodes[number], number in graph.focus),
            "  end",
        ),
        *map(_edge, graph.edges),
    ]
    styles: dict[str, list[str]] = {}
    for number, edge in enumerate(graph.edges):
        if edge.change or edge.effect != "link":
            styles.setdefault(edge.change or edge.effect, []).append(str(number))
    lines += [f"  linkStyle {','.join(numbers)} stroke:{_COLORS[name]}" for name, numbers in sorted(styles.items())]
    lines += _classes(graph)
    if graph.left_out:
        sentence = "left out: " + "; ".join(graph.left_out)
        lines += [f"  %% {_escaped(sentence, lambda _: '?')}", f'  more["{escape(sentence)}"]:::left']
        lines.append("  classDef left stroke-dasharray:2 4")
    return "\n".join(lines) + "\n"


def _box(number: int, box: GraphNode, focus: bool) -> str:
    label = escape(
        MARKS[box.change] + (f"{box.label} ({box.state})" if box.state and box.role != "policy" else box.label)
    )
    name = "focus" if focus else _style(box)
    shape = f'(["{label}"])' if box.role == "policy" else f'["{label}"]'
    return f"n{number}{shape}" + (f":::{name}" if name else "")


def _style(box: GraphNode) -> str:
    return box.change or (STATES.get(box.state, "") if box.role != "object" else "")


def _edge(edge: GraphEdge) -> str:
    tip = "x" if edge.effect in ("dangling", "refused") else ">"
    label = escape(edge.text)
    if edge.effect in DASHES:
        arrow = f'-. "{label}" .-{tip}' if label else f"-.-{tip}"
    else:
        arrow = f'-- "{label}" --{tip}' if label else f"--{tip}"
    return f"  n{edge.start} {arrow} n{edge.end}"


def _classes(graph: Graph) -> list[str]:
    used = sorted({_style(box) for number, box in enumerate(graph.nodes) if number not in graph.focus} - {""})
    lines = [
        f"  classDef {name} stroke:{_COLORS[name]}"
        + (",stroke-width:3px" if name in CHANGES else ",stroke-dasharray:4 4" if name in DASHES else "")
        for name in used
    ]
    return lines + (["  classDef focus stroke-width:4px"] if graph.focus else [])


def escape(text: str) -> str:
    """Return a quoted label that holds nothing but text: all else becomes mermaid's own entities (`#34;`)."""
    flat = one_line(text)
    flat = flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
    return _escaped(flat, lambda char: f"#{ord(char)};" if char.isprintable() else "?")


def _escaped(text: str, instead: Callable[[str], str]) -> str:
    return "".join(char if char.isalnum() or char in _PLAIN else instead(char) for char in text)
