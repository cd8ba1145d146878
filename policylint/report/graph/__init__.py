"""The graph of some environments in one of FORMATS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from policylint.model import Finding, Node, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.report.graph.build import build
from policylint.report.graph.model import Graph, joined
from policylint.report.graph.view import around, within
from policylint.report.kit.identity import Names
from policylint.simulation import Simulation

if TYPE_CHECKING:
    from policylint.compare.change import EnvironmentChange
    from policylint.compare.sides import Sides

FORMATS = ("mermaid", "dot", "svg", "html")


class Asked(NamedTuple):
    """What the graph is to show.

    Args:
        subjects: per simulation (by position) the object that it is about; empty for everything.
        namespaces, kinds, policies: only these; policies by kind, name or both.
        title: a few words on what was asked for.
    """

    subjects: dict[int, tuple[ResourceKey, Node]] = {}  # noqa: RUF012 - never changed
    namespaces: Sequence[str] = ()
    kinds: Sequence[str] = ()
    policies: Sequence[str] = ()
    title: str = ""


class Drawing(NamedTuple):
    """A graph with what it was made from, for formats that show more than the graph."""

    graph: Graph
    simulations: tuple[Simulation, ...]
    names: Names
    findings: tuple[Finding, ...] = ()
    title: str = ""


def draw(simulations: Sequence[Simulation], asked: Asked, findings: Sequence[Finding] = ()) -> Drawing:
    """The graph that was asked for."""
    names = Names(key for each in simulations for key in each.world.resources)
    graphs = []
    for number, simulation in enumerate(simulations):
        if asked.subjects and number not in asked.subjects:
            continue
        graph = build(simulation, names)
        if number in asked.subjects:
            key, node = asked.subjects[number]
            graph = around(graph, key, node, simulation.groups)
        graphs.append(within(graph, asked.namespaces, asked.kinds, asked.policies))
    return Drawing(joined(graphs), tuple(simulations), names, tuple(findings), asked.title)


def draw_changes(
    sides: Sequence[Sides], environments: Sequence[EnvironmentChange], asked: Asked, findings: Sequence[Finding] = ()
) -> Drawing:
    """What changes, on the graph of after."""
    from policylint.report.graph.diff import changed

    names = Names(key for pair in sides for each in (pair.before, pair.after) for key in each.world.resources)
    graphs = []
    for pair, environment in zip(sides, environments, strict=True):
        graph = changed(build(pair.before, names), build(pair.after, names), environment)
        graphs.append(within(graph, asked.namespaces, asked.kinds, asked.policies))
    return Drawing(joined(graphs), tuple(each.after for each in sides), names, tuple(findings), asked.title)


def write(form: str, drawing: Drawing) -> Iterator[str]:
    """The document, in pieces."""
    if form == "html":
        from policylint.report.graph.html import write as page

        yield page(drawing)
    else:
        text: str = import_module(f"policylint.report.graph.{form}").write(drawing.graph)
        yield text
