"""A graph as mermaid flowchart, within the limits that GitHub's renderer has: 500 edges, 50,000 characters."""

from __future__ import annotations

from policylint.report.graph.model import MARKS, Graph, GraphEdge, GraphNode
from policylint.report.graph.style import CHANGES, COLORS, DASHES, STATES
from policylint.report.graph.view import reduced, without_bare_rules

MOST_EDGES = 500
MOST_CHARACTERS = 50_000
_PLAIN = frozenset(" ./:_+,()*-?;=")
_LONGEST = 120
_COLORS = COLORS | CHANGES


def write(graph: Graph) -> str:
    """The flowchart; what did not fit is said in a comment and in a box."""
    graph = without_bare_rules(graph)
    most = MOST_EDGES
    drawn = _text(reduced(graph, most, most))
    while len(drawn) > MOST_CHARACTERS and most > 10:
        most = most * 4 // 5
        drawn = _text(reduced(graph, most, most))
    return drawn


def _text(graph: Graph) -> str:
    lines = ["flowchart LR"]
    environments = graph.environments
    for number, environment in enumerate(environments):
        boxes = [each for each, box in enumerate(graph.nodes) if box.environment == environment]
        if len(environments) > 1:
            lines.append(f'  subgraph e{number}["{escape(environment)}"]')
        lines += [f"  {_box(each, graph.nodes[each], each in graph.focus)}" for each in boxes]
        if len(environments) > 1:
            lines.append("  end")
    lines += [f"  {_edge(each)}" for each in graph.edges]
    styles: dict[str, list[str]] = {}
    for number, edge in enumerate(graph.edges):
        if edge.change or edge.effect != "link":
            styles.setdefault(edge.change or edge.effect, []).append(str(number))
    lines += [f"  linkStyle {','.join(numbers)} stroke:{_COLORS[each]}" for each, numbers in sorted(styles.items())]
    lines += _classes(graph)
    if graph.left_out:
        said = "left out: " + "; ".join(graph.left_out)
        lines += [f"  %% {_plain(said)}", f'  more["{escape(said)}"]:::left']
        lines.append("  classDef left stroke-dasharray:2 4")
    return "\n".join(lines) + "\n"


def _box(number: int, box: GraphNode, focus: bool) -> str:
    label = escape(MARKS[box.change] + (f"{box.label} ({box.state})" if box.role == "absent" else box.label))
    name = f"{'focus' if focus else _style(box)}"
    suffix = f":::{name}" if name else ""
    return f'n{number}(["{label}"]){suffix}' if box.role == "policy" else f'n{number}["{label}"]{suffix}'


def _style(box: GraphNode) -> str:
    return box.change or (STATES.get(box.state, "") if box.role != "object" else "")


def _edge(edge: GraphEdge) -> str:
    start, end = f"{_id(edge.start)}", f"{_id(edge.end)}"
    tip = "x" if edge.effect in ("dangling", "refused") else ">"
    label = escape((MARKS[edge.change] + edge.label).strip())
    if edge.effect in DASHES:
        return f'{start} -. "{label}" .-{tip} {end}' if label else f"{start} -.-{tip} {end}"
    return f'{start} -- "{label}" --{tip} {end}' if label else f"{start} --{tip} {end}"


def _id(number: int) -> str:
    return f"n{number}"


def _classes(graph: Graph) -> list[str]:
    used = sorted({_style(box) for number, box in enumerate(graph.nodes) if number not in graph.focus} - {""})
    lines = [
        f"  classDef {each} stroke:{_COLORS[each]}"
        + (",stroke-width:3px" if each in CHANGES else ",stroke-dasharray:4 4" if each in DASHES else "")
        for each in used
    ]
    return lines + (["  classDef focus stroke-width:4px"] if graph.focus else [])


def escape(text: str) -> str:
    """A quoted label that holds nothing but text: all else becomes mermaid's own entities (`#34;`)."""
    flat = " ".join(text.split())
    flat = flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
    return "".join(each if each.isalnum() or each in _PLAIN else _entity(each) for each in flat)


def _entity(char: str) -> str:
    return f"#{ord(char)};" if char.isprintable() else "?"


def _plain(text: str) -> str:
    return "".join(each if each.isalnum() or each in _PLAIN else "?" for each in text)
