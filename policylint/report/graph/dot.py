"""A graph in Graphviz' language."""

from __future__ import annotations

from policylint.report.graph.model import MARKS, Graph, GraphEdge, GraphNode
from policylint.report.graph.style import CHANGES, COLORS, DASHES, STATES
from policylint.report.graph.view import without_bare_rules


def write(graph: Graph) -> str:
    """The digraph, one cluster per environment where there are several."""
    graph = without_bare_rules(graph)
    lines = [
        "digraph policylint {",
        "  rankdir=LR;",
        '  node [shape=box, fontname="Helvetica", fontsize=10];',
        '  edge [fontname="Helvetica", fontsize=9];',
    ]
    environments = graph.environments
    for number, environment in enumerate(environments):
        boxes = [each for each, box in enumerate(graph.nodes) if box.environment == environment]
        if len(environments) > 1:
            lines += [f"  subgraph cluster_{number} {{", f"  label={quoted(environment)};"]
        lines += [f"  {_box(each, graph.nodes[each], each in graph.focus)}" for each in boxes]
        if len(environments) > 1:
            lines.append("  }")
    lines += [f"  {_edge(each)}" for each in graph.edges]
    lines += [f"  // left out: {' '.join(each.split())}" for each in graph.left_out]
    return "\n".join([*lines, "}"]) + "\n"


def _box(number: int, box: GraphNode, focus: bool) -> str:
    state = f" ({box.state})" if box.state else ""
    said = {
        "label": quoted(f"{MARKS[box.change]}{box.kind}\n{box.title}{state}"),
        "tooltip": quoted(f"{box.label}{state} {box.place}"),
    }
    if box.role != "object":
        effect = STATES.get(box.state, "attached")
        said["color"] = said["fontcolor"] = quoted(COLORS[effect])
        said["style"] = quoted("rounded" if box.role == "policy" else "dashed")
    if box.change:
        said["color"], said["penwidth"] = quoted(CHANGES[box.change]), "2"
    if focus:
        said["penwidth"] = "3"
    return f"n{number} [{', '.join(f'{name}={value}' for name, value in said.items())}];"


def _edge(edge: GraphEdge) -> str:
    said: dict[str, str] = {}
    if edge.effect != "link":
        said["color"] = said["fontcolor"] = quoted(COLORS[edge.effect])
    if edge.effect in DASHES:
        said["style"] = "dashed"
    if edge.change:
        said["color"], said["penwidth"] = quoted(CHANGES[edge.change]), "2"
    if label := (MARKS[edge.change] + edge.label).strip():
        said["label"] = quoted(label)
    if edge.why:
        said["tooltip"] = quoted(edge.why)
    listed = ", ".join(f"{name}={value}" for name, value in said.items())
    return f"n{edge.start} -> n{edge.end}" + (f" [{listed}];" if listed else ";")


def quoted(text: str) -> str:
    """A quoted string; lines stay lines, `\\N` and the like are plain text."""
    lines = ["".join(each if each.isprintable() else "?" for each in line) for line in text.split("\n")]
    inside = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return f'"{inside}"'
