"""`reach` and `trace` are two readings of one thing: each request lies in one region, whose outcome is its own."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from policylint.reach import EntryPoint, WayIn, all_ways
from policylint.reach.ways import request_in
from policylint.simulation import Simulation
from policylint.spaces import Box
from policylint.trace import Trace, Tracer
from policylint.workspace import open_workspace

ROOT = Path(__file__).parents[2]
FIXTURES = sorted(place for place in (ROOT / "fixtures").iterdir() if place.is_dir())
TREES = sorted(place for place in (ROOT.parent / "shared" / "trees").glob("*") if place.is_dir())
CASES = sorted(file.parent for file in (ROOT.parent / "shared").glob("cases/gateway-api/*/manifests.yaml"))


def of(trace: Trace) -> tuple[object, ...]:
    """What a region says of all of its requests."""
    outcome = trace.outcome
    redirect = outcome.redirect and outcome.redirect.status
    asks = sorted((met.group.kind.kind, ask) for met in trace.policies for ask in met.asks)
    return trace.rule, outcome.backends, outcome.status, redirect, outcome.refused, outcome.unknown, asks


def disagreements(simulation: Simulation, rounds: int, seed: int = 0) -> tuple[int, list[str]]:
    """Return how many requests were tried, and those of which the two say different things."""
    draw = random.Random(seed)
    tracer = Tracer(simulation)
    universes: dict[tuple[EntryPoint, tuple[str, ...]], list[WayIn]] = {}
    for way in all_ways(simulation):
        universes.setdefault((way.entry, tuple(dimension.name for dimension in way.dimensions)), []).append(way)
    tried, wrong = 0, []
    for (entry, _), ways in universes.items():
        dimensions = ways[0].dimensions
        sizes = [len(dimension.witnesses) for dimension in dimensions]
        for number in range(min(rounds, max([1, *sizes]) * 4)):
            # The first requests take every atom of every dimension, the others any.
            atoms = [number % size if number < max(sizes) else draw.randrange(size) for size in sizes]
            box: Box = tuple(1 << atom for atom in atoms)
            holding = [way for way in ways if any(_holds(own, box) for own in way.boxes)] if dimensions else ways
            request = request_in(entry, dimensions, box, grpc=bool(dimensions) and dimensions[0].name == "service")
            traced = tracer.trace(request._replace(client_certificate="client" if ways[0].certificate else ""))
            tried += 1
            if len(holding) != 1 or (of(holding[0].trace) != of(traced) and not holding[0].undecided):
                wrong.append(f"{request}: {len(holding)} regions, {traced.rule}")
    return tried, wrong


def _holds(box: Box, point: Box) -> bool:
    return all(bits & atom for bits, atom in zip(box, point, strict=True))


@pytest.mark.parametrize("world", [*FIXTURES, *CASES], ids=lambda world: world.name)
def test_on_every_fixture_and_case(world: Path) -> None:
    for simulation in open_workspace([str(world)]).simulations:
        assert disagreements(simulation, 200)[1] == []


@pytest.mark.slow
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_on_real_trees(tree: Path) -> None:
    for simulation in open_workspace([str(tree)]).simulations:
        assert disagreements(simulation, 200)[1] == []
