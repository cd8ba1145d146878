"""The graph of some environments in a format (formats.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    from policylint.compare.pairing import Sides
    from policylint.session.forge import Links

LAYERS = ("policies", "network")


class GraphRequest(NamedTuple):
    """The part of the graph to show.

    Args:
        subjects: per simulation (by position) the object that it is about; empty for everything.
        namespaces, kinds: only these.
        title: a few words on what was asked for.
        layer: policies, or network: connections instead of attachment.
    """

    subjects: dict[int, tuple[ResourceKey, Node]] = {}  # noqa: RUF012 - never changed
    namespaces: Sequence[str] = ()
    kinds: Sequence[str] = ()
    title: str = ""
    layer: str = LAYERS[0]

    def part(self, graph: Graph) -> Graph:
        return within(graph, self.namespaces, self.kinds)


class Drawing(NamedTuple):
    """A graph with what it was made from, for formats that show more than the graph.

    Args:
        request: a request whose way is to be shown first, as the page takes it.
        links: where some files (as shown) can be read on a forge, None where that is not known.
        stand: the repository and the revision that were read, in words.
        network: the graph of connections that the page holds beside that of policies, None where there is none.
    """

    graph: Graph
    simulations: tuple[Simulation, ...]
    names: Names
    findings: tuple[Finding, ...] = ()
    title: str = ""
    request: str = ""
    links: Callable[[Iterable[str]], Links | None] = lambda files: None  # noqa: ARG005
    network: Graph | None = None
    stand: str = ""


def draw(simulations: Sequence[Simulation], request: GraphRequest, findings: Sequence[Finding] = ()) -> Drawing:
    """Draw the graph that was asked for."""
    names = Names.of(simulations)
    graphs = []
    for number, simulation in enumerate(simulations):
        if request.subjects and number not in request.subjects:
            continue
        if request.layer == "network":
            graphs.append(_connections(simulation, names, request, number))
            continue
        graph = build(simulation, names)
        if number in request.subjects:
            graph = around(graph, *request.subjects[number], simulation.groups)
        graphs.append(request.part(graph))
    return Drawing(joined(graphs), tuple(simulations), names, tuple(findings), request.title)


def _connections(simulation: Simulation, names: Names, request: GraphRequest, number: int) -> Graph:
    from policylint.network.kinds import has_policies
    from policylint.report.graph import connections

    if not has_policies(simulation.world):
        return connections.EMPTY
    about = request.subjects[number][0] if number in request.subjects else None
    return connections.build(simulation, names, request.namespaces, about)


def draw_changes(
    sides: Sequence[Sides],
    environments: Sequence[EnvironmentChange],
    request: GraphRequest,
    findings: Sequence[Finding] = (),
) -> Drawing:
    """Draw what changes, on the graph of after."""
    from policylint.report.graph.diff import changed

    names = Names.of(side for pair in sides for side in (pair.before, pair.after))
    graphs = []
    for pair, environment in zip(sides, environments, strict=True):
        if request.layer == "network":
            from policylint.report.graph import connections

            found = environment.connections
            graphs.append(connections.changes(pair, found, names, request.namespaces) if found else connections.EMPTY)
        else:
            graphs.append(request.part(changed(build(pair.before, names), build(pair.after, names), environment)))
    return Drawing(joined(graphs), tuple(pair.after for pair in sides), names, tuple(findings), request.title)


def write(form: str, drawing: Drawing) -> Iterator[str]:
    """Yield the document."""
    writer = import_module(f"policylint.report.graph.{form}").write
    yield writer(drawing if form == "html" else drawing.graph)
