"""Examples are requests that can be traced: what `reach` and `diff` print, asked again, ends in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from policylint.compare import compare, pair_sides
from policylint.reach import WayIn, entries, entries_inside, ways_in
from policylint.simulation import Simulation
from policylint.trace import Request, Trace, Tracer
from policylint.trace.request import RequestError, arguments, from_url
from policylint.workspace import open_workspace
from tests import worlds
from tests.contract.own import CHANGES, WORLDS
from tests.diff.history import commit, run
from tests.nightly import sampled

SHARED = Path(__file__).parents[3] / "shared"
FILES = sorted(file for room in ("cases", "worlds", "people") for file in SHARED.glob(f"{room}/**/manifests.yaml"))
PAIRS = sorted(
    place.parent
    for room in ("weakenings", "worlds")
    for place in SHARED.glob(f"{room}/**/before")
    if (place.parent / "after").is_dir()
)
MOST_WAYS = 60


def typed(request: Request) -> Request:
    """The request that `trace` makes of the words which are printed."""
    words = iter(arguments(request))
    method, url = next(words), next(words)
    options: dict[str, list[str]] = {}
    for option in words:
        options.setdefault(option, []).append(next(words))
    only = {option: values[0] for option, values in options.items()}
    return from_url(
        method,
        url,
        options.get("-H", ()),
        gateway=only.get("--gateway", ""),
        client=only.get("--from", ""),
        address=[*options.get("--from", ()), "", ""][1],
        service=only.get("--to", ""),
        claims=options.get("--claim", ()),
        certificate=only.get("--certificate", ""),
    )


def end(trace: Trace) -> object:
    outcome = trace.outcome
    asks = sorted((met.group.kind.kind, str(ask)) for met in trace.policies for ask in met.asks)
    return outcome.backends, outcome.status, outcome.redirect and outcome.redirect.status, bool(trace.unsettled), asks


def ways(simulation: Simulation) -> Iterator[tuple[Tracer, WayIn]]:
    tracer = Tracer(simulation)
    found = (way for entry in (*entries(tracer), *entries_inside(tracer)) for way in ways_in(tracer, entry))
    yield from ((tracer, way) for way, _ in zip(found, range(MOST_WAYS), strict=False))


def end_at(tracer: Tracer, request: Request) -> object:
    """How it ends, on a side that may have no such door."""
    try:
        return end(tracer.trace(request))
    except RequestError:
        return "no such door"


def asked_again(simulations: list[Simulation]) -> list[tuple[str, ...]]:
    """The examples that end otherwise when they are asked again."""
    return [
        arguments(way.trace.request)
        for simulation in simulations
        for tracer, way in ways(simulation)
        if way.trace.request.can_be_sent
        and not way.trace.outcome.unknown
        and end(tracer.trace(typed(way.trace.request))) != end(way.trace)
    ]


@pytest.mark.parametrize("name", WORLDS)
def test_examples_of_ways_in_worlds_of_our_own(name: str, tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text("---\n".join(WORLDS[name]), encoding="utf-8")
    assert asked_again(open_workspace([str(tmp_path)]).simulations) == []


@pytest.mark.parametrize(
    "file", sampled(FILES, "examples of ways"), ids=lambda file: str(file.parent.relative_to(SHARED))
)
def test_examples_of_ways_in_shared_worlds(file: Path) -> None:
    assert asked_again(open_workspace([str(file)]).simulations) == []


def of_changes(before: Path, after: Path) -> list[tuple[tuple[str, ...], object, object]]:
    """The examples of a change that end otherwise on one side when they are asked again."""
    old, new = (open_workspace([str(place)]).simulations for place in (before, after))
    pairs = pair_sides(old, new)
    return [
        (arguments(example), end_at(tracer, again), end_at(tracer, example))
        for pair, environment in zip(pairs, compare(pairs), strict=True)
        for change in (() if environment.requests is None else environment.requests.changes)
        if (example := change.example).can_be_sent
        for again in (typed(example),)
        for tracer in (Tracer(pair.before), Tracer(pair.after))
        if end_at(tracer, again) != end_at(tracer, example)
    ]


@pytest.mark.parametrize(
    "place", sampled(PAIRS, "examples of changes"), ids=lambda place: str(place.relative_to(SHARED))
)
def test_examples_of_changes_in_shared_worlds(place: Path) -> None:
    assert of_changes(place / "before", place / "after") == []


@pytest.mark.parametrize("name", CHANGES)
def test_examples_of_changes_of_our_own(name: str, tmp_path: Path) -> None:
    for side, world in zip(("before", "after"), CHANGES[name], strict=True):
        (tmp_path / side).mkdir()
        (tmp_path / side / "world.yaml").write_text("---\n".join(world), encoding="utf-8")
    assert of_changes(tmp_path / "before", tmp_path / "after") == []


def test_a_certificate_is_part_of_the_command() -> None:
    request = Request(scheme="https", host="shop.example.com", port=443, client_certificate="client")
    assert arguments(request)[2:4] == ("--certificate", "client")
    assert typed(request).client_certificate == "client"


def test_a_path_that_no_cluster_takes_has_no_example(tmp_path: Path) -> None:
    of_class = worlds.gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller")
    path = "rules: [{matches: [{path: {type: PathPrefix, value: '1'}}], backendRefs: [{name: checkout, port: 80}]}]"
    route = worlds.route(more=f"hostnames: [shop.example.com], {path}")
    commit(tmp_path, {"tree.yaml": "---".join((of_class, worlds.gateway(of_class="eg"), route, worlds.service()))})
    _, out, _ = run(tmp_path, "reach", "-o", "json")
    assert '"example": ""' in out
