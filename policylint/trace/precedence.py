"""Which of the rules that match comes first, and why the others do not.

Source: docs/design/request-precedence.md §4 and §5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policylint.documents import Pointer
from policylint.model import Resource, mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.topology.routes import PATH_TYPES, Rule, rules
from policylint.trace.hosts import serves
from policylint.trace.matching import Match, Miss, matches, path_of
from policylint.trace.request import Request

_HTTP = ("exact hostname", "hostname", "path type", "path length", "method", "headers", "queries")
_GRPC = ("exact hostname", "hostname", "service", "grpc method", "headers")
_REST = ("age", "name", "rule", "match")


class Option(NamedTuple):
    """One match of one rule of a route that serves the host of a request.

    Args:
        hostname: the narrowest hostname of route and listener that the host falls under, "" for every host.
        misses: the conditions that the request does not meet; () where it takes the request.
    """

    route: Resource
    rule: Rule
    match: Match
    hostname: str
    misses: tuple[Miss, ...]

    @property
    def pointer(self) -> Pointer:
        """Where the match is written, or the rule where it has none."""
        place: Pointer = ("spec", "rules", self.rule.number)
        return place if self.match.number is None else (*place, "matches", self.match.number)

    @property
    def order(self) -> tuple[object, ...]:
        """Sorts options by precedence, the first one first."""
        exact = 0 if self.hostname.startswith("*") else len(self.hostname)
        stamp = self.route.created
        return (
            -exact,
            -len(self.hostname),
            *(-weight for weight in self.match.weights),
            (not stamp, stamp),
            self.route.key.path,
            self.rule.number,
            self.match.number or 0,
        )


def options(
    routes: Iterable[tuple[Resource, Sequence[str]]], request: Request, *, grpc: bool, regex_last: bool = False
) -> Iterator[Option]:
    """Every match of every rule of the routes that serve the host of a request.

    Args:
        routes: routes with the hostnames that they serve where the request came in.
    """
    for route, hostnames in routes:
        serving = [each for each in hostnames if serves(request.host, each)]
        if not serving:
            continue
        hostname = max(serving, key=lambda each: (not each.startswith("*") and len(each), len(each)))
        listed = sequence(route.spec.get("rules"))
        for rule in rules(route):
            for match in matches(mapping(listed[rule.number]), grpc=grpc, regex_last=regex_last):
                yield Option(route, rule, match, hostname, tuple(match.misses(request)))


def ordered(found: Iterable[Option]) -> list[Option]:
    """The options that take the request, by precedence."""
    return sorted((each for each in found if not each.misses), key=lambda each: each.order)


def criterion(winner: Option, loser: Option) -> str:
    """The first criterion in which two options differ."""
    names = (*(_GRPC if winner.match.grpc else _HTTP), *_REST)
    pairs = zip(names, winner.order, loser.order, strict=True)
    return next((name for name, one, other in pairs if one != other), "match")


def because(winner: Option, loser: Option) -> str:
    """Why an option came second, in words."""
    match criterion(winner, loser):
        case "exact hostname" | "hostname":
            return f"hostname {loser.hostname or '(every host)'} is less specific than {winner.hostname}"
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
            return "the other route is older" if winner.route.created else "the other route has no creation time"
        case "name":
            stated = " (both of the same age)" if winner.route.created else " (no creation time is stated)"
            return f"{winner.route.key.path} comes first by name{stated}"
        case "rule":
            return "it comes later in the route"
        case _:
            return "another match of the same rule comes first"


def can_match(option: Option) -> bool:
    """Whether a match is one that any request can meet: its path type is known."""
    return option.match.grpc or path_of(option.match.value)[0] in PATH_TYPES


def _count(option: Option, what: str) -> int:
    weights = option.match.weights
    return weights[-1] if what == "query" or option.match.grpc else weights[-2]


def _number(loser: Option, what: str) -> str:
    count = _count(loser, what)
    noun = {"header": "header match", "query": "query match"}[what]
    return f"{count or 'no'} {noun}{'' if count == 1 else 'es'}"
