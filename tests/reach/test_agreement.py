"""`reach` and `trace` are two readings of one thing: each request lies in one region, whose outcome is its own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from policylint.network.endpoints import workloads
from policylint.policy.authorizing import PRINCIPAL, SITE
from policylint.reach import (
    EntryPoint,
    Stated,
    WayIn,
    entries,
    entries_at_pods,
    entries_inside,
    is_possible,
    request_in,
    stated,
    ways_in,
)
from policylint.reach.inside import of_consumers
from policylint.reach.ways import _are_whole
from policylint.simulation import Simulation
from policylint.spaces.boxes import Box
from policylint.spaces.dimension import Dimension
from policylint.spaces.predicates import Predicate
from policylint.trace import Trace, Tracer
from policylint.workspace import open_workspace
from tests.nightly import sampled
from tests.worlds import gateway, gateway_class, policy, route, service, simulated

ROOT = Path(__file__).parents[2]
FIXTURES = sorted(place for place in (ROOT / "fixtures").iterdir() if place.is_dir())
TREES = sorted(place for place in (ROOT.parent / "shared" / "trees").glob("*") if place.is_dir())
WILD = sorted(place for place in (ROOT.parent / "shared" / "wild").glob("*") if place.is_dir())
CASES = sorted(file.parent for file in (ROOT.parent / "shared").glob("cases/gateway-api/*/manifests.yaml"))


ALIEN = Stated(
    {
        "path": [
            *(Predicate("Exact", path) for path in ("/", "/a", "/a/b", "/shop")),
            *(Predicate("PathPrefix", path) for path in ("/a", "/api", "/api/v1", "/shop")),
        ],
        "method": [Predicate("Exact", method) for method in ("DELETE", "GET", "OPTIONS", "POST")],
        "header x-canary": [Predicate("Exact", value) for value in ("0", "1")],
        "header origin": [Predicate("Exact", "https://a.example.com"), Predicate("Present")],
        "query page": [Predicate("Exact", "1")],
        "service": [Predicate("Exact", "pkg.Cart")],
        "call": [Predicate("Exact", "Add")],
    }
)
"""What no rule of a world need ask, and what regions must be deaf to."""


def of(trace: Trace) -> tuple[object, ...]:
    """What a region says of all of its requests."""
    outcome = trace.outcome
    redirect = outcome.redirect and outcome.redirect.status
    asks = sorted((met.group.kind.kind, ask) for met in trace.policies for ask in met.asks)
    answers = [judged.decision for judged in trace.judged] + [placed.decision for placed in trace.admissions]
    told = sorted({(decision.answer, decision.why) for decision in answers if decision.answer != "allowed"})
    skipped = sorted(met.group.kind.kind for met in trace.policies if met.skipped)
    if trace.request.pod:  # of pods the Service is named that selects them, and what is attached to it
        return bool(outcome.backends), outcome.status, outcome.refused, outcome.unknown, told
    end = (trace.rule, outcome.backends, outcome.status, redirect, outcome.refused, outcome.unknown)
    return *end, asks, skipped, told


def at_pods(tracer: Tracer) -> Iterator[EntryPoint]:
    """Yield where clients come to pods by their addresses, as far as proxies of a mesh are asked there."""
    for end in workloads(tracer.simulation.world) if tracer.admissions.any else ():
        if end.is_pod and end.resource is not None and end.resource.key == end.key:
            yield from entries_at_pods(tracer, end.resource)


def is_foreign(trace: Trace) -> bool:
    """Return whether the token of a request is turned away for who issued it, or for whom."""
    decisions = [each.decision for each in (*trace.judged, *trace.admissions)]
    return any(
        each.answer == "denied" and each.why.startswith(("it takes no tokens", "it takes tokens")) for each in decisions
    )


def disagreements(simulation: Simulation, rounds: int, seed: int = 0, *, mixed: bool = False) -> tuple[int, list[str]]:
    """Return how many requests were tried, and those of which the two say different things.

    Args:
        mixed: whether the atoms of an entry are also those of another entry and of ALIEN.
    """
    draw = random.Random(seed)
    tracer = Tracer(simulation)
    universes: dict[tuple[EntryPoint, tuple[str, ...]], list[WayIn]] = {}
    points = [*entries(tracer), *entries_inside(tracer), *at_pods(tracer)]
    for entry in points:
        also = ALIEN.joined(stated(tracer, draw.choice(points))) if mixed else None
        for way in ways_in(tracer, entry, also):
            universes.setdefault((way.entry, tuple(dimension.name for dimension in way.dimensions)), []).append(way)
    tried, wrong = 0, []
    for (entry, _), ways in universes.items():
        dimensions = ways[0].dimensions
        sizes = [len(dimension.witnesses) for dimension in dimensions]
        for number in range(min(rounds, max([1, *sizes]) * 4)):
            # The first requests take every atom of every dimension, the others any.
            atoms = [number % size if number < max(sizes) else draw.randrange(size) for size in sizes]
            box: Box = tuple(1 << atom for atom in atoms)
            if not is_possible(dimensions, box) or not _is_at(tracer, entry, dimensions, box):
                continue
            if {SITE, "header origin"} <= {each.name for each in dimensions}:
                continue  # an Origin says the site, and of another one there is no request
            holding = [way for way in ways if any(_holds(own, box) for own in way.boxes)] if dimensions else ways
            request = request_in(entry, dimensions, box, grpc=bool(dimensions) and dimensions[0].name == "service")
            traced = tracer.trace(request._replace(client_certificate="client" if ways[0].certificate else ""))
            tried += 1
            if len(holding) == 1 and of(holding[0].trace) != of(traced) and "?" in request.path:
                # what expressions call the path has the query, by which regions are told apart where routes ask for it
                traced = tracer.trace(request._replace(path=request.path.partition("?")[0]))
            if len(holding) == 1 and is_foreign(traced) and not is_foreign(holding[0].trace):
                continue  # regions are of tokens that are valid where they are asked for (docs/design/reach.md §8)
            if len(holding) != 1 or (of(holding[0].trace) != of(traced) and not holding[0].undecided):
                wrong.append(f"{request}: {len(holding)} regions, {traced.rule}")
    return tried, wrong


def _is_at(tracer: Tracer, entry: EntryPoint, dimensions: tuple[Dimension, ...], box: Box) -> bool:
    """Return whether a client comes in by an entry, and not by that of a namespace with routes of its own."""
    clients = [(each, bits) for each, bits in zip(dimensions, box, strict=True) if each.name == PRINCIPAL]
    return all(of_consumers(tracer, entry, each) & bits for each, bits in clients)


def _holds(box: Box, point: Box) -> bool:
    return all(bits & atom for bits, atom in zip(box, point, strict=True))


def alone(world: Path, apart: Path) -> Path:
    """Return where a fixture is in a repository of their own; another place as it is."""
    return apart / "fixtures" / world.name if world in FIXTURES else world


@pytest.mark.parametrize("world", [*FIXTURES, *CASES], ids=lambda world: world.name)
def test_on_every_fixture_and_case(world: Path, apart: Path) -> None:
    for simulation in open_workspace([str(alone(world, apart))]).simulations:
        assert disagreements(simulation, 200)[1] == []


@pytest.mark.parametrize("world", [*FIXTURES, *sampled(CASES, "blank")], ids=lambda world: world.name)
def test_where_nothing_is_asked_one_trace_is_enough(world: Path, apart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ways of which policies ask nothing are those that requests with answers take, traced a second time."""
    for simulation in open_workspace([str(alone(world, apart))]).simulations:
        found = []
        for is_enough in (_are_whole, lambda _: False):
            monkeypatch.setattr("policylint.reach.ways._are_whole", is_enough)
            tracer = Tracer(simulation)
            ways = [list(map(repr, ways_in(tracer, entry))) for entry in entries(tracer)]
            found.append((ways, tracer.contended, tracer.questions))
        assert found[0] == found[1]


@pytest.mark.parametrize("asked", ["{name: iss, values: [https://b.example]}", "{name: aud, values: [b]}"])
def test_a_token_of_another_issuer_is_none(asked: str) -> None:
    """What one route asks about issuers cuts the requests of its host; at another route such a token is not valid."""
    jwt = "jwt: {{providers: [{{name: {0}, issuer: https://{0}.example, remoteJWKS: {{uri: https://{0}.example/keys}}}}]}}"
    rule = f"{{action: Allow, principal: {{jwt: {{provider: b, claims: [{asked}]}}}}}}"
    security = ("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy")
    world = simulated(
        gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway(of_class="any"),
        service(),
        *(
            route(
                name,
                more=f"hostnames: [shop.example.com], rules: [{{matches: [{{path: {{value: /{name}}}}}], backendRefs: "
                "[{name: checkout, port: 80}]}]",
            )
            for name in ("one", "two")
        ),
        policy(*security, "one", "HTTPRoute/one", jwt.format("a"), "shop"),
        policy(
            *security,
            "two",
            "HTTPRoute/two",
            f"{jwt.format('b')}, authorization: {{defaultAction: Deny, rules: [{rule}]}}",
            "shop",
        ),
    )
    tried, wrong = disagreements(world, 200)
    assert (tried > 0, wrong) == (True, [])


@pytest.mark.parametrize(
    "matches",
    [
        "{path: {value: /hook/}}",
        "{path: {value: /hook/}}, {path: {type: Exact, value: /other}}",
        "{path: {value: /hook/}}, {path: {value: /}, method: POST}",
        "{path: {value: /hook/}}, {path: {type: RegularExpression, value: '/h.*'}}",
    ],
)
def test_what_nginx_redirects_to_a_slash_says_nothing_of_the_rest_of_its_rule(matches: str) -> None:
    """One rule has two ends there: who asks for `/hook` is sent to `/hook/`, and all below it gets to the backend."""
    world = simulated(
        gateway_class("any", "gateway.nginx.org/nginx-gateway-controller"),
        gateway(),
        service(),
        route(more=f"rules: [{{matches: [{matches}], backendRefs: [{{name: checkout, port: 80}}]}}]"),
    )
    tracer = Tracer(world)
    ends = {way.trace.outcome.redirect is None for entry in entries(tracer) for way in ways_in(tracer, entry)}
    assert ends == {False, True}
    assert disagreements(world, 200)[1] == []
    assert disagreements(world, 200, mixed=True)[1] == []


@pytest.mark.slow
@pytest.mark.parametrize("tree", sampled(TREES, "agreement"), ids=lambda tree: tree.name)
def test_on_real_trees(tree: Path) -> None:
    for simulation in open_workspace([str(tree)]).simulations:
        assert disagreements(simulation, 200)[1] == []
