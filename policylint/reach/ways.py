"""The ways into an environment: regions of requests, which one rule takes each, with what `trace` says of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from policylint.model import Node, ResourceKey, mapping, text
from policylint.model.spelling import spelled
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.reach.entries import EntryPoint, entries
from policylint.simulation import Simulation
from policylint.spaces import Box, Dimension, Predicate, intersect, is_empty, merged, paths, regions, values
from policylint.spaces.words import described
from policylint.trace import Outcome, Request, Trace, Tracer
from policylint.trace.matching import Match, conditions, path_of
from policylint.trace.precedence import RuleCandidate

CUT_OFF: Final = "too many matches"
"""What is undecided of a host whose regions would take too long; where its requests end is unknown."""
_MOST_STEPS: Final = 20_000_000
"""Comparisons of boxes for the rules of one host, and dimensions of boxes that are left over."""
_MOST_CELLS: Final = 1_000_000
"""Matches of one host times the properties that they speak of."""
_STEPS_FOR_A_RULE: Final = 2_000
_FREE_RULES: Final = 100
_MOST_CONTENDERS: Final = 50_000
"""Matches that are asked for the hosts of one question: those of a wildcard are asked again for each host below it."""
_MOST_BOXES: Final = 3
_MOST_NAMED: Final = 10
_PATHS: Final = ("Exact", "PathPrefix", "RegularExpression")
_VALUES: Final = ("Exact", "RegularExpression")


class WayIn(NamedTuple):
    """A region of requests and its outcome.

    Args:
        boxes: the region, over `dimensions`.
        trace: of one request of the region.
        certificate: whether the listener demands a client certificate, which the request that is traced has.
        undecided: regular expressions of the host that may have requests in common with others that are not told apart
            here, the first ones by name.
    """

    entry: EntryPoint
    boxes: tuple[Box, ...]
    dimensions: tuple[Dimension, ...]
    trace: Trace
    certificate: bool = False
    undecided: tuple[str, ...] = ()

    @property
    def requests(self) -> str:
        """The region in words, without the host."""
        return in_words(self.dimensions, self.boxes) if self.dimensions else ""

    @property
    def cut_off(self) -> bool:
        """Whether the requests of the host were not told apart, since that takes too long."""
        return CUT_OFF in self.undecided

    @property
    def taken(self) -> bool:
        """Whether a rule takes the requests, or may take them."""
        unknown = self.trace.outcome.unknown and self.entry.port is not None
        return self.trace.rule is not None or unknown or self.cut_off


class Stated(NamedTuple):
    """What the matches of somebody demand.

    Args:
        predicates: by the name of their dimension.
        grpc: whether some are of calls.
        order: what each match demands, in the order in which they are asked.
        rules: whose matches they are.
    """

    predicates: Mapping[str, Collection[Predicate]] = {}
    grpc: bool = False
    order: tuple[tuple[tuple[str, Predicate], ...], ...] = ()
    rules: frozenset[Node] = frozenset()

    def joined(self, other: Stated) -> Stated:
        """Return what this or the other one demands."""
        names = dict.fromkeys((*self.predicates, *other.predicates))
        both = {name: {*self.predicates.get(name, ()), *other.predicates.get(name, ())} for name in names}
        return Stated(both, self.grpc or other.grpc)


def all_ways(simulation: Simulation, gateways: Iterable[ResourceKey] | None = None) -> Iterator[WayIn]:
    """Yield the ways through some Gateways of an environment, or through all; see `ways_in`."""
    tracer = Tracer(simulation, nearest=False)
    for entry in entries(tracer, gateways):
        yield from ways_in(tracer, entry)


def stated(tracer: Tracer, entry: EntryPoint) -> Stated:
    """Return what the matches of the rules at an entry demand."""
    if entry.scheme not in ("http", "https") or not tracer.knows(entry.gateway):
        return Stated()
    found: dict[str, set[Predicate]] = {}
    calls = tracer.contenders(request_in(entry, grpc=True))
    candidates = (*tracer.contenders(request_in(entry)), *calls)
    order = tuple(tuple(_predicates(candidate.match)) for candidate in candidates)
    for name, predicate in chain.from_iterable(order):
        found.setdefault(name, set()).add(predicate)
    return Stated(found, bool(calls), order, frozenset(candidate.rule.node for candidate in candidates))


def ways_in(tracer: Tracer, entry: EntryPoint, also: Stated | None = None) -> Iterator[WayIn]:
    """Yield the regions of the requests at an entry: disjoint, and together all of them.

    Args:
        also: what somebody asks about: no region of the dimensions lies on both sides of a predicate.
    """
    also = also or Stated()
    if entry.scheme not in ("http", "https"):
        yield _whole(tracer, entry, (), ())
        return
    for grpc in (False, True):
        known = tracer.knows(entry.gateway)
        spent = known and tracer.contended > _MOST_CONTENDERS
        candidates = tracer.contenders(request_in(entry, grpc=grpc)) if known and not spent else []
        if grpc and not candidates and not also.grpc:
            return
        dimensions = _dimensions([candidate.match for candidate in candidates], also, grpc=grpc)
        universe = tuple(dimension.all for dimension in dimensions)
        tracer.contended += len(candidates)
        spent = spent or len(candidates) * len(dimensions) > _MOST_CELLS
        boxes = [] if spent else [_box(candidate.match, dimensions) for candidate in candidates]
        steps = min(_MOST_STEPS, _STEPS_FOR_A_RULE * (len(boxes) + _FREE_RULES))
        found = None if spent else regions(boxes, universe, steps)
        if found is None:
            witness = request_in(entry, grpc=grpc)
            unknown = Outcome(unknown=True, reason=f"{CUT_OFF} to tell the requests of this host apart")
            trace = Trace(witness, unknown, entry.gateway)
            yield WayIn(entry, (universe,), dimensions, trace, tracer.demands_certificate(witness), (CUT_OFF,))
            continue
        undecided = tuple(
            sorted({pattern for dimension in dimensions for pattern in dimension.undecided})[:_MOST_NAMED]
        )
        gained, left = found
        doubtful = [candidate for candidate in candidates if candidate.doubtful]
        for own, winner in (*_of_rules(candidates, gained), (left, None)):
            if own:
                among = None if winner is None else [*doubtful, winner]
                way = _whole(tracer, entry, dimensions, tuple(merged(own)), own[0], among)
                yield way._replace(undecided=undecided)


def overlap(left: Match, right: Match) -> bool:
    """Return whether some request certainly meets both of two matches, both of calls or both of plain requests."""
    dimensions = _dimensions((left, right), Stated(), grpc=left.grpc)
    return not is_empty(intersect(_box(left, dimensions), _box(right, dimensions)))


def in_words(dimensions: Sequence[Dimension], boxes: Sequence[Box]) -> str:
    """Return requests in words, those of the first boxes."""
    words = " or ".join(described(dimensions, box) for box in boxes[:_MOST_BOXES])
    return words + (f" or {len(boxes) - _MOST_BOXES} more" if len(boxes) > _MOST_BOXES else "")


def end_in_words(trace: Trace) -> str:
    """Return where a request ends: `shop/checkout (90%), shop/canary (10%)`, `301 redirect to https`."""
    ended = trace.outcome
    if ended.redirect is not None:
        to = ended.redirect
        same = to.host == trace.request.host
        return f"{to.status} redirect to {to.scheme}" + ("" if same else f"://{to.host}")
    backends = [
        key.path + (f" ({share:.0%})" if len(ended.backends) > 1 or ended.failing else "")
        for key, share in ended.backends.items()
    ]
    if backends:
        return listing(backends) + (f", an error ({ended.failing:.0%})" if ended.failing else "")
    word = "refused" if ended.refused else "not known" if ended.unknown else str(ended.status)
    return f"{word}: {ended.reason}" if ended.reason else word


def _whole(
    tracer: Tracer,
    entry: EntryPoint,
    dimensions: tuple[Dimension, ...],
    boxes: tuple[Box, ...],
    first: Box = (),
    among: Sequence[RuleCandidate] | None = None,
) -> WayIn:
    """Return a way that some boxes take, with the trace of a request of one of them.

    Args:
        among: the matches that may take this request, None for any.
    """
    witness = request_in(entry, dimensions if first else (), first, grpc=is_grpc(dimensions))
    if not tracer.knows(entry.gateway):
        absent = Outcome(refused=True, reason=f"there is no {entry.gateway}")
        return WayIn(entry, boxes, dimensions, Trace(witness, absent))
    certificate = tracer.demands_certificate(witness)
    trace = tracer.trace(witness._replace(client_certificate="client" if certificate else ""), among)
    return WayIn(entry, boxes, dimensions, trace, certificate)


def is_grpc(dimensions: Sequence[Dimension]) -> bool:
    """Return whether the requests over some dimensions are gRPC calls."""
    return bool(dimensions) and dimensions[0].name == "service"


def _of_rules(
    candidates: Sequence[RuleCandidate], gained: Sequence[list[Box]]
) -> Iterable[tuple[list[Box], RuleCandidate]]:
    """Return what each rule gets by all of its matches, with the match that takes the first of it."""
    by_rule: dict[object, tuple[list[Box], RuleCandidate]] = {}
    for candidate, own in zip(candidates, gained, strict=True):
        if own:
            by_rule.setdefault(candidate.rule.node, ([], candidate))[0].extend(own)
    return by_rule.values()


def _dimensions(matches: Sequence[Match], also: Stated, *, grpc: bool) -> tuple[Dimension, ...]:
    """Return the dimensions that some matches speak of: the first two are always there."""
    stated: dict[str, dict[Predicate, None]] = {}
    others = ("method", "path") if grpc else ("service", "call")
    for name, predicates in also.predicates.items():
        if name not in others:
            stated[name] = dict.fromkeys(sorted(predicates))
    for match in matches:
        for name, predicate in _predicates(match):
            stated.setdefault(name, {})[predicate] = None
    patterns = sum(each.type == "RegularExpression" for predicates in stated.values() for each in predicates)
    if grpc:
        first = values("service", stated.pop("service", ()), "other.Service", expressions=patterns)
        second = values("call", stated.pop("call", ()), "Other", expressions=patterns)
    else:
        first = values("method", stated.pop("method", ()), "GET")
        second = paths(stated.pop("path", ()), expressions=patterns)
    return (first, second, *(values(name, listed, expressions=patterns) for name, listed in sorted(stated.items())))


def _predicates(match: Match) -> Iterator[tuple[str, Predicate]]:
    """Yield what a match demands: the name of a dimension and a predicate on it."""
    if match.grpc:
        method = mapping(match.value.get("method"))
        kind = text(method.get("type")) or "Exact"
        for name, field in (("service", "service"), ("call", "method")):
            if text(method.get(field)):
                yield name, _predicate(kind, text(method.get(field)), _VALUES)
    else:
        kind, value = path_of(match.value)
        yield "path", _predicate(kind, value, _PATHS)
        if text(match.value.get("method")):
            yield "method", Predicate("Exact", text(match.value.get("method")))
    for name, kind, value in conditions(match.value.get("headers"), fold=True):
        yield f"header {name.lower()}", _predicate(kind, value, _VALUES)
    for name, kind, value in conditions(match.value.get("queryParams"), fold=False):
        yield f"query {name}", _predicate(kind, value, _VALUES)


def _predicate(kind: str, value: str, known: Sequence[str]) -> Predicate:
    """Return a predicate; one of a type that nobody knows is an expression that matches nothing."""
    return Predicate(kind, value) if kind in known else Predicate("RegularExpression", "(")  # type: ignore[arg-type]


def _box(match: Match, dimensions: Sequence[Dimension]) -> Box:
    masks: dict[str, int] = {}
    for name, predicate in _predicates(match):
        masks[name] = next(d.masks[predicate] for d in dimensions if d.name == name)
    return tuple(masks.get(dimension.name, dimension.all) for dimension in dimensions)


def request_in(
    entry: EntryPoint, dimensions: Sequence[Dimension] = (), box: Box = (), *, grpc: bool = False
) -> Request:
    """Return one request at an entry, of a box where one is given."""
    told: dict[str, str] = {}
    for dimension, bits in zip(dimensions, box, strict=True):
        value = dimension.witness(bits)
        if value is not None:
            told[dimension.name] = value
    named = {name.partition(" ")[2]: value for name, value in told.items() if name.startswith("header ")}
    query = {name.partition(" ")[2]: value for name, value in told.items() if name.startswith("query ")}
    path = f"/{told['service']}/{told['call']}" if "service" in told else told.get("path", "/")
    if query:
        from urllib.parse import urlencode

        path += f"?{urlencode(query)}"
    given: dict[str, Any] = {"gateway": spelled(entry.gateway), "scheme": entry.scheme, "host": entry.host}
    return Request(
        scheme=entry.scheme,
        method="POST" if grpc else told.get("method", "GET"),
        host=entry.host,
        path=path,
        headers=tuple(named.items()),
        port=entry.port,
        gateway=spelled(entry.gateway),
        sni=entry.host if entry.scheme in ("https", "tls") else "",
        grpc=grpc,
        given={**given, "path": path, **({"headers": named} if named else {})},
    )
