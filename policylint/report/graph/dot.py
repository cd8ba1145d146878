"""A graph in Graphviz' language."""

from __future__ import annotations

from policylint.report.graph.model import MARKS, Graph, GraphEdge, GraphNode
from policylint.report.graph.style import CHANGES, COLORS, DASHES, STATES
from policylint.report.graph.view import without_bare_rules
from policylint.report.kit.display import one_line
from policylint.report.kit.secrets import masked


def write(graph: Graph) -> str:
    """Write the digraph, one cluster per environment where there are several."""
    graph = without_bare_rules(graph)
    lines = [
        "digraph policylint {",
        "  rankdir=LR;",
        '  node [shape=box, fontname="Helvetica", fontsize=10];',
        '  edge [fontname="Helvetica", fontsize=9];',
        *graph.clusters(
            lambda number, name: [f"  subgraph cluster_{number} {{", f"  label={quoted(name)};"],
            lambda number: _box(number, graph.nodes[number], number in graph.focus),
            "  }",
        ),
        *(f"  {_edge(edge)}" for edge in graph.edges),
        *(f"  // left out: {one_line(sentence)}" for sentence in graph.left_out),
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _box(number: int, box: GraphNode, focus: bool) -> str:
    state = f" ({box.state})" if box.state else ""
    attributes = {
        "label": quoted(f"{MARKS[box.change]}{box.kind}\n{box.title}{state}"),
        "tooltip": quoted(f"{box.label}{state} {box.place}"),
    }
    if box.role != "object":
        color = COLORS[STATES.get(box.state, "attached")]
        attributes["color"] = attributes["fontcolor"] = quoted(color)
        attributes["style"] = quoted("rounded" if box.role == "policy" else "dashed")
    if box.change:
        attributes["color"], attributes["penwidth"] = quoted(CHANGES[box.change]), "2"
    if focus:
        attributes["penwidth"] = "3"
    return f"n{number}{_listed(attributes)}"


def _edge(edge: GraphEdge) -> str:
    attributes: dict[str, str] = {}
    if edge.effect != "link":
        attributes["color"] = attributes["fontcolor"] = quoted(COLORS[edge.effect])
    if edge.effect in DASHES:
        attributes["style"] = "dashed"
    if edge.change:
        attributes["color"], attributes["penwidth"] = quoted(CHANGES[edge.change]), "2"
    if edge.text:
        attributes["label"] = quoted(edge.text)
    if edge.why:
        attributes["tooltip"] = quoted(edge.why)
    return f"n{edge.start} -> n{edge.end}{_listed(attributes)}"


def _listed(attributes: dict[str, str]) -> str:
    listed = ", ".join(f"{name}={value}" for name, value in attributes.items())
    return f" [{listed}];" if listed else ";"


def quoted(text: str) -> str:
    """Return a quoted string; lines stay lines, `\\N` and the like are plain text."""
    lines = ["".join(char if char.isprintable() else "?" for char in line) for line in masked(text).split("\n")]
    inside = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return f'"{inside}"'
