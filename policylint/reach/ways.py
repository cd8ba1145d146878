"""The ways into an environment: regions of requests, which one rule takes each, with what `trace` says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from policylint.model import ResourceKey, mapping, text
from policylint.model.spelling import spelled
from policylint.namedtuple import NamedTuple
from policylint.reach.entries import EntryPoint, entries
from policylint.simulation import Simulation
from policylint.spaces import Box, Dimension, Predicate, merged, paths, regions, values
from policylint.spaces.words import described
from policylint.trace import Request, Trace, Tracer
from policylint.trace.matching import Match, conditions, path_of
from policylint.trace.precedence import RuleCandidate

_MOST_STEPS: Final = 2_000_000
"""Comparisons of boxes for the rules of one host."""
_PATHS: Final = ("Exact", "PathPrefix", "RegularExpression")
_VALUES: Final = ("Exact", "RegularExpression")


class WayIn(NamedTuple):
    """A region of requests and its outcome.

    Args:
        requests: the region in words, without the host.
        boxes: the region, over `dimensions`.
        trace: of one request of the region.
        certificate: whether the listener demands a client certificate, which the request that is traced has.
        undecided: the regular expressions of the host that may have requests in common with others that are not told
            apart here.
    """

    entry: EntryPoint
    requests: str
    boxes: tuple[Box, ...]
    dimensions: tuple[Dimension, ...]
    trace: Trace
    certificate: bool = False
    undecided: tuple[str, ...] = ()


def all_ways(
    simulation: Simulation, gateways: Iterable[ResourceKey] | None = None, also: Iterable[Predicate] = ()
) -> Iterator[WayIn]:
    """Yield the ways through some Gateways of an environment, or through all; see `ways_in`."""
    tracer = Tracer(simulation)
    stated = tuple(also)
    for entry in entries(tracer, gateways):
        yield from ways_in(tracer, entry, stated)


def ways_in(tracer: Tracer, entry: EntryPoint, also: Sequence[Predicate] = ()) -> Iterator[WayIn]:
    """Yield the regions of the requests at an entry: disjoint, and together all of them.

    Args:
        also: predicates on paths that somebody asks about: no region lies on both sides of one.
    """
    plain = request_in(entry)
    certificate = tracer.demands_certificate(plain)
    shown = "client" if certificate else ""
    if entry.scheme not in ("http", "https"):
        yield WayIn(entry, "", (), (), tracer.trace(plain._replace(client_certificate=shown)), certificate)
        return
    for grpc in (False, True):
        candidates = tracer.contenders(plain._replace(grpc=grpc))
        if grpc and not candidates:
            return
        dimensions = _dimensions([candidate.match for candidate in candidates], also, grpc=grpc)
        universe = tuple(dimension.all for dimension in dimensions)
        boxes = [_box(candidate.match, dimensions) for candidate in candidates]
        found = regions(boxes, universe, _MOST_STEPS)
        undecided = tuple(sorted({pattern for dimension in dimensions for pattern in dimension.undecided}))
        if found is None:
            yield WayIn(
                entry,
                "",
                (universe,),
                dimensions,
                tracer.trace(plain._replace(client_certificate=shown)),
                certificate,
                ("too many matches",),
            )
            continue
        gained, left = found
        for own in (*_of_rules(candidates, gained), left):
            if own:
                witness = request_in(entry, dimensions, own[0], grpc=grpc)._replace(client_certificate=shown)
                joined = tuple(merged(own))
                words = " or ".join(described(dimensions, box) for box in joined[:3])
                more = f" or {len(joined) - 3} more" if len(joined) > 3 else ""
                yield WayIn(entry, words + more, joined, dimensions, tracer.trace(witness), certificate, undecided)


def _of_rules(candidates: Sequence[RuleCandidate], gained: Sequence[list[Box]]) -> Iterable[list[Box]]:
    """Return what each rule gets by all of its matches."""
    by_rule: dict[object, list[Box]] = {}
    for candidate, own in zip(candidates, gained, strict=True):
        by_rule.setdefault(candidate.rule.node, []).extend(own)
    return by_rule.values()


def _dimensions(matches: Sequence[Match], also: Sequence[Predicate], *, grpc: bool) -> tuple[Dimension, ...]:
    """Return the dimensions that some matches speak of: the first two are always there."""
    stated: dict[str, dict[Predicate, None]] = {}
    for match in matches:
        for name, predicate in _predicates(match):
            stated.setdefault(name, {})[predicate] = None
    if grpc:
        first = values("service", stated.pop("service", ()), "other.Service")
        second = values("call", stated.pop("call", ()), "Other")
    else:
        first = values("method", stated.pop("method", ()), "GET")
        second = paths([*stated.pop("path", ()), *also])
    return (first, second, *(values(name, predicates) for name, predicates in sorted(stated.items())))


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
