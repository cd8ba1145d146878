"""What the readers of the contract ask: one environment, or one change of it, each part computed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Any

from policylint.checks import run
from policylint.compare import compare, pair_sides, removed_protections
from policylint.compare.at_home import requests_at_home
from policylint.compare.change import EnvironmentChange
from policylint.model import Finding, Node, mapping, sequence
from policylint.reach import (
    EntryPoint,
    Stated,
    WayIn,
    entries,
    entries_inside,
    is_grpc,
    is_possible,
    request_in,
    stated,
    ways_in,
)
from policylint.report.graph import Drawing, GraphRequest, draw
from policylint.report.graph.details import details
from policylint.report.kit.identity import Names
from policylint.simulation import Simulation, simulate
from policylint.spaces.boxes import intersect, is_empty, meetings
from policylint.spaces.predicates import Predicate
from policylint.trace import Request, Trace, Tracer
from policylint.trace.request import arguments
from policylint.trace.requirements import Requirements
from tests.worlds import manifest
from tests.worlds import resources as loaded

MOST_WAYS = 400
"""Ways of one environment that are asked about: beyond them there are only more hosts of the same."""

UNRELATED = manifest("security.istio.io/v1", "PeerAuthentication", "unrelated", "elsewhere", "spec: {}")
MOST_PATHS = 20
"""Paths that are tried of what a change speaks of."""

Answers = Mapping[Any, str]
"""By what is asked about, what a reader says; it leaves out what it does not know, or is silent about."""


class Environment:
    """One environment, as its readers see it."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation

    @cached_property
    def names(self) -> Names:
        return Names.of([self.simulation])

    @cached_property
    def tracer(self) -> Tracer:
        return Tracer(self.simulation, nearest=False)

    @cached_property
    def requirements(self) -> Requirements:
        return Requirements(self.tracer)

    @cached_property
    def findings(self) -> list[Finding]:
        return list(run(self.simulation))

    @cached_property
    def ways(self) -> list[WayIn]:
        """The ways through the Gateways."""
        found: list[WayIn] = []
        for entry in entries(self.tracer):
            if len(found) > MOST_WAYS:
                break
            found += ways_in(self.tracer, entry)
        return found

    @cached_property
    def taken(self) -> list[WayIn]:
        """Those of which it is known which rule takes them, at Gateways that were seen."""
        return [
            way
            for way in self.ways
            if way.trace.rule is not None and not (way.trace.outcome.unknown or way.undecided) and way.entry.port
        ]

    @cached_property
    def tied(self) -> set[Node]:
        """The rules of two routes that take the same requests, of which the older one gets them, and no age is
        stated."""
        if len({state.route.key for state in self.simulation.topology.routes if not state.route.created}) < 2:
            return set()
        taking = [(way.trace.rule, self.traced(way.trace.request)) for way in self.ways if way.trace.rule is not None]
        return {
            node
            for rule, trace in taking
            for each in trace.considered
            if each.because.endswith("(no creation time is stated)")
            for node in (each.rule, rule)
        }

    @cached_property
    def page(self) -> tuple[Drawing, Mapping[str, Any]]:
        """What the page of a graph shows, and what it says of each box."""
        drawing = draw([self.simulation], GraphRequest())
        return drawing, details(drawing)

    @cached_property
    def drawn(self) -> list[tuple[Request, Trace]]:
        """A request of each atom of the properties that anybody tells apart, and what regions say of it."""
        found: list[tuple[Request, Trace]] = []
        written = _written(self.simulation)
        for entry in entries(self.tracer):
            if len(found) > MOST_WAYS:
                break
            ways = [way for way in ways_in(self.tracer, entry, written) if not way.undecided and way.dimensions]
            for dimensions in dict.fromkeys(tuple(each.name for each in way.dimensions) for way in ways):
                alike = [way for way in ways if tuple(each.name for each in way.dimensions) == dimensions]
                found += self._of_atoms(alike)
        return found

    def _of_atoms(self, ways: list[WayIn]) -> Iterator[tuple[Request, Trace]]:
        """Yield a request of each atom of the dimensions of some ways, with the trace of the way that has it."""
        dimensions = ways[0].dimensions
        sizes = [len(dimension.witnesses) for dimension in dimensions]
        for number in range(max(sizes)):
            box = tuple(1 << number % size for size in sizes)
            holding = [way for way in ways if any(not is_empty(intersect(own, box)) for own in way.boxes)]
            if is_possible(dimensions, box) and len(holding) == 1:
                request = request_in(ways[0].entry, dimensions, box, grpc=is_grpc(dimensions))
                certificate = "client" if ways[0].certificate else ""
                yield request._replace(client_certificate=certificate), holding[0].trace

    @cached_property
    def beside_unrelated(self) -> Environment:
        """The same environment with an object that has to do with nothing in it."""
        more = {resource.key: resource for resource in loaded(UNRELATED)}
        return Environment(simulate(self.simulation.world.with_resources(more), self.simulation.catalog))

    def traced(self, request: Request) -> Trace:
        """The trace of a request as somebody asks for it, by no other object than the command line's."""
        return Tracer(self.simulation).trace(request)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _written(simulation: Simulation) -> Stated:
    """Return the headers as matches have them, whatever they mean: regions are to be deaf to what no rule asks."""
    headers: dict[str, set[Predicate]] = {}
    for state in simulation.topology.routes:
        for rule in map(mapping, sequence(state.route.spec.get("rules"))):
            for match in map(mapping, sequence(rule.get("matches"))):
                for each in map(mapping, sequence(match.get("headers"))):
                    name, value = str(each.get("name")).lower(), str(each.get("value"))
                    headers.setdefault(f"header {name}", set()).add(Predicate("Exact", value))
    return Stated(headers)


def named(request: Request) -> str:
    """A request as a subject: what `policylint trace` takes."""
    return " ".join(arguments(request))


def bare(request: Request) -> str:
    """A request as a subject, whoever sends it."""
    return named(request._replace(address="", claims=None))


def _in_common(old: list[WayIn], new: list[WayIn]) -> Iterator[Request]:
    """Yield a request of what each region has in common with each one of the other side, with all that either wants."""
    for was, now in product(old, new):
        if is_grpc(was.dimensions) != is_grpc(now.dimensions):
            continue
        common = [box for box in meetings(was.boxes, now.boxes) if is_possible(was.dimensions, box)]
        for box in common[:1] if was.dimensions else [()]:
            request = request_in(was.entry, was.dimensions, box, grpc=is_grpc(was.dimensions))
            certificate = "client" if (was.certificate or now.certificate) and not was.entry.inside else ""
            yield request._replace(client_certificate=certificate)


class Change:
    """One change, as its readers see it."""

    def __init__(self, before: Simulation, after: Simulation) -> None:
        (self.sides,) = pair_sides([before], [after])

    @cached_property
    def names(self) -> Names:
        return Names.of(self.sides[:2])

    @cached_property
    def found(self) -> EnvironmentChange:
        return compare([self.sides])[0]

    @cached_property
    def findings(self) -> list[Finding]:
        return removed_protections([self.sides], [self.found])

    @cached_property
    def environments(self) -> tuple[Environment, Environment]:
        return Environment(self.sides.before), Environment(self.sides.after)

    @cached_property
    def traces(self) -> list[tuple[EntryPoint, Trace, Trace]]:
        """A request of whatever region of one side has in common with one of the other, traced before and after.

        What one side shows of objects that neither has is known of both.
        """
        found: list[tuple[EntryPoint, Trace, Trace]] = []
        before, after = (Environment(side).tracer for side in requests_at_home(self.sides)[:2])
        points = [entry for each in (before, after) for entry in (*entries(each), *entries_inside(each))]
        named = {(entry.gateway, entry.port, entry.hostname) for entry in points}
        for entry in dict.fromkeys(points):
            if len(found) > MOST_WAYS:
                break
            if not (before.knows(entry.gateway) and after.knows(entry.gateway)):
                continue
            if entry.host != entry.hostname and (entry.gateway, entry.port, entry.host) in named:
                continue  # the host that stands for all others of this side has a name on the other one
            both = stated(before, entry).joined(stated(after, entry))
            for request in _in_common(list(ways_in(before, entry, both)), list(ways_in(after, entry, both))):
                if request.host != entry.host and (entry.gateway, entry.port, request.host) in named:
                    continue  # policies of this side ask for a host that is an entry of its own on the other one
                found.append((entry, before.trace(request), after.trace(request)))
                for path in self.paths if entry.scheme.startswith("http") else ():
                    more = request._replace(path=path)
                    found.append((entry, before.trace(more), after.trace(more)))
        return found

    @cached_property
    def paths(self) -> list[str]:
        """The paths that objects speak of which differ, and what merely begins as these do."""
        found: dict[str, None] = {}
        sides = [side.world.resources for side in self.sides[:2]]
        for key in sides[0].keys() | sides[1].keys():
            bodies = [side[key].body for side in sides if key in side]
            if len(bodies) < 2 or bodies[0] != bodies[1]:
                found.update((path, None) for body in bodies for path in _texts(body) if path.startswith("/"))
        written = sorted(path.rstrip("*") for path in found)
        return [*written, *(f"{path}x" for path in written)][:MOST_PATHS]

    @cached_property
    def new_texts(self) -> set[str]:
        """The texts that no object had before."""
        before, after = (
            {text for each in side.world.resources.values() for text in _texts(each.body)} for side in self.sides[:2]
        )
        return after - before

    @cached_property
    def beside_unrelated(self) -> Change:
        """The same change of an environment with an object that has to do with nothing in it."""
        before, after = (each.beside_unrelated.simulation for each in self.environments)
        return Change(before, after)


def contradictions(answers: Mapping[str, Answers]) -> Iterator[tuple[object, str]]:
    """Yield what several readers are asked about and do not answer alike, with the answers of all of them."""
    told: dict[object, dict[str, str]] = {}
    for reader, of_reader in answers.items():
        for subject, answer in of_reader.items():
            told.setdefault(subject, {})[reader] = answer
    for subject, by_reader in told.items():
        if len(set(by_reader.values())) > 1:
            yield subject, ", ".join(f"{reader}: {answer}" for reader, answer in by_reader.items())
