"""Order the rules that match by precedence, and say why the others come after.

Source: docs/design/request-precedence.md §4 and §5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.traffic import Traffic, equals
from policylint.matches import Match, Miss
from policylint.model import Resource, sequence
from policylint.namedtuple import NamedTuple
from policylint.simulation.ranking import Ranking, standing
from policylint.simulation.ranking import ranked as ranked_matches
from policylint.topology.delegated_matches import below
from policylint.topology.hostnames import patterns, specificity, widest_written
from policylint.topology.routes import Rule, rules
from policylint.trace.hosts import serves
from policylint.trace.request import Request

_HTTP = ("made", "exact hostname", "hostname", "set", "path type", "path length", "method", "headers", "queries")
_GRPC = ("made", "exact hostname", "hostname", "set", "service", "grpc method", "headers")
_PLAIN = Ranking()
_REST = ("age", "name", "kind", "rule", "match")
Narrowing = Callable[[Resource, Rule], Sequence[Mapping[str, Any]]]


class RuleCandidate(NamedTuple):
    """One match of one rule of a route that serves the host of a request.

    Args:
        hostname: the narrowest hostname of route and listener that the host falls under, "" for every host.
        misses: the conditions that the request does not satisfy; () where it takes the request.
        ranked: the hostname that counts for precedence: this one, or that of the route from which it comes.
        place: which its proxy gives it (`Traffic.placed`).
        by: who gives it one, and those that it delegates to.
        equals: those after it over whose backends its proxy balances the same requests (`Traffic.balances_equals`).
        unmade: why its controller makes nothing of the rule, so that it comes behind all that are made; "" elsewhere.
    """

    route: Resource
    rule: Rule
    match: Match
    hostname: str
    misses: tuple[Miss, ...]
    ranked: str
    place: int = 0
    equals: tuple[RuleCandidate, ...] = ()
    unmade: str = ""
    by: Traffic = Traffic()

    @property
    def pointer(self) -> Pointer:
        """The pointer of the match, or of the rule where it has none."""
        return self.rule.pointer(self.match.number)

    @property
    def order(self) -> tuple[object, ...]:
        """A sort key, the highest precedence first."""
        ranked = "" if self.by.places_before_hosts else self.ranked
        exact = 0 if ranked.startswith("*") else len(ranked)
        rest = standing(self.route, self.rule.number, self.match)
        return (bool(self.unmade), -exact, -len(ranked), self.place, *rest)


def matches_at(
    routes: Iterable[tuple[Resource, Sequence[str]]],
    host: str,
    narrowing: Narrowing | None = None,
    ranking: Ranking = _PLAIN,
    grpc: bool = False,
) -> Iterator[RuleCandidate]:
    """Yield every match of every rule of the routes that serve a host, tried on no request.

    Args:
        routes: routes with the hostnames that they serve at the listener.
        narrowing: what the filters of a rule ask of requests beside its matches.
    """
    if ranking.stated:
        routes = _narrowest(routes, host)
    for route, hostnames in routes:
        serving = [hostname for hostname in hostnames if serves(host, hostname)]
        if not serving:
            continue
        hostname = max(serving, key=lambda hostname: (not hostname.startswith("*") and len(hostname), len(hostname)))
        written = patterns(sequence(route.spec.get("hostnames"))) if ranking.as_written else ()
        ranked = widest_written(hostname, written)
        for rule in rules(route):
            further = narrowing(route, rule) if narrowing is not None else ()
            for match in ranked_matches(rule.body, ranking, grpc=grpc, narrowing=further):
                yield RuleCandidate(route, rule, match, hostname, (), ranked, by=ranking.by)


def together(found: Sequence[RuleCandidate], ranking: Ranking) -> list[RuleCandidate]:
    """Return all matches for one host as they count together: where routes for the narrowest name alone take its
    requests these, and each as its proxy reads it beside the others."""
    if ranking.by.host_first and found:
        narrowest = max(specificity(each.hostname) for each in found)
        found = [each for each in found if specificity(each.hostname) == narrowest]
    if (placed := ranking.by.placed(found)) is not None:
        found = [found[number]._replace(place=place) for number, place in placed]
    read = ranking.by.at_host([each.match for each in found])
    found = [found[number]._replace(match=match) for number, match in read]
    if ranking.by.balances_equals:
        alike = equals([(each.rule.node, each.order[: -len(_REST)], each.match.conditions) for each in found])
        found = [each._replace(equals=tuple(found[number] for number in alike[at])) for at, each in enumerate(found)]
    return found


def _narrowest(routes: Iterable[tuple[Resource, Sequence[str]]], host: str) -> list[tuple[Resource, Sequence[str]]]:
    """Return the routes for the narrowest host that serves a request: a server of its own takes all of its requests."""
    serving = [(route, name) for route, names in routes for name in names if serves(host, name)]
    first = max((_width(name) for _, name in serving), default=None)
    return [(route, (name,)) for route, name in serving if _width(name) == first]


def _width(hostname: str) -> tuple[int, int]:
    return (0 if hostname.startswith("*") else len(hostname), len(hostname))


def child_candidates(above: RuleCandidate, child: Resource, request: Request) -> Iterator[RuleCandidate]:
    """Yield every match of a route that counts below a match of a rule which delegates to it."""
    found = [
        RuleCandidate(child, rule, match, "", tuple(match.misses(request)), "", by=above.by)
        for rule, match in below(above.match, child)
    ]
    placed = above.by.placed(found)
    yield from found if placed is None else (found[number]._replace(place=place) for number, place in placed)


def tried(candidates: Iterable[RuleCandidate], request: Request) -> Iterator[RuleCandidate]:
    """Yield candidates of the same host with what a request does not satisfy."""
    for each in candidates:
        yield each._replace(misses=tuple(each.match.misses(request)))


def ordered(candidates: Iterable[RuleCandidate]) -> list[RuleCandidate]:
    """Return the candidates that take the request, by precedence."""
    return sorted(
        (candidate for candidate in candidates if not candidate.misses), key=lambda candidate: candidate.order
    )


def doubt(candidates: Iterable[RuleCandidate], takers: Sequence[RuleCandidate]) -> str:
    """Return why it is not known which candidate takes the request; "" where it is.

    Args:
        takers: those that certainly would, by precedence.
    """
    for candidate in candidates:
        may = candidate.misses and all(miss.undecided for miss in candidate.misses)
        if may and (not takers or candidate.order < takers[0].order):
            return f"whether {candidate.rule.node} takes the request is not known: {candidate.misses[0].undecided}"
    return ""


def criterion(winner: RuleCandidate, loser: RuleCandidate) -> str:
    """Return the first criterion in which two candidates differ."""
    names = (*(_GRPC if winner.match.grpc else _HTTP), *_REST)
    pairs = zip(names, winner.order, loser.order, strict=True)
    return next((name for name, first, second in pairs if first != second), "match")


def because(winner: RuleCandidate, loser: RuleCandidate) -> str:
    """Return in words why a candidate came second."""
    match criterion(winner, loser):
        case "made":
            return loser.unmade
        case "exact hostname" | "hostname":
            return f"hostname {loser.ranked or '(every host)'} is less specific than {winner.ranked}"
        case "set":
            return winner.by.outplaced(loser.place, winner.place)
        case "path type":
            return f"{loser.match.path} comes after {winner.match.path.partition(' ')[0]}"
        case "path length":
            return f"{loser.match.path} is shorter"
        case "method":
            return "it has no method match"
        case "service" | "grpc method":
            return f"{loser.match.path or 'every call'} is less specific"
        case "headers":
            return f"{_number(loser, 'header')} against {_count(winner, 'header')}"
        case "queries":
            return f"{_number(loser, 'query')} against {_count(winner, 'query')}"
        case "age":
            return "the other route is older"
        case "name" | "kind" as by:
            stated = " (both of the same age)" if winner.route.created else " (no creation time is stated)"
            return f"{winner.route.key.path if by == 'name' else winner.route.key} comes first by {by}{stated}"
        case "rule":
            return "it comes later in the route"
        case _:
            return "another match of the same rule comes first"


def _count(candidate: RuleCandidate, what: str) -> int:
    weights = candidate.match.weights
    return weights[-1] if what == "query" or candidate.match.grpc else weights[-2]


def _number(loser: RuleCandidate, what: str) -> str:
    count = _count(loser, what)
    noun = {"header": "header match", "query": "query match"}[what]
    return f"{count or 'no'} {noun}{'' if count == 1 else 'es'}"
