"""Rules of Traefik that nothing orders: of one priority, stated or by their length, for requests that both take.

Which of them answers changes from one start to the next, and with every change of the configuration.

Source: traefik/traefik, pkg/server/router/router.go (routers are added in the order of a map of Go) and
pkg/muxer/http/mux.go (Less: by priority, then by provider).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.doors.lowered import Guard, Opening
from policylint.doors.traefik_rules import Alternatives, Hosts, Matcher, by_chance, names_of
from policylint.model import Resource, ResourceKey
from policylint.namedtuple import NamedTuple

_MOST = 64
"""Rules of one priority that are compared with each other; of more, the first ones."""
Found = list[tuple[str, dict[str, Any]]]
"""Hosts, each with the match of a rule there."""


class Router(NamedTuple):
    """One rule of an object.

    Args:
        rank: its priority; rules of one rank are in no order.
        read: its alternatives.
        openings: where it is open, each with the entry point.
        body: what is done with its requests.
        asked: what is asked besides the Middlewares of this provider.
        unknown: why it is not known whether it is there; "" where it is.
    """

    ingress: Resource
    number: int
    rank: int
    read: Alternatives
    openings: tuple[tuple[str, Opening], ...]
    body: Mapping[str, Any]
    asked: tuple[Guard, ...]
    unknown: str

    def __str__(self) -> str:
        """Return it as it is called in messages."""
        return f"{self.ingress.key} rule {self.number + 1}"


class Tie(NamedTuple):
    """Two rules of one rank that take the same requests.

    Args:
        first: the one that stands first; which of them answers is settled by nothing.
        matchers: those of both that take the same requests.
        found: what is taken by both.
    """

    first: Router
    second: Router
    matchers: tuple[Matcher, ...]
    found: Found


def ties(routers: Sequence[Router], hosts: Hosts) -> Iterator[Tie]:
    """Yield what two rules of one rank take, where it matters which of them answers."""
    for alike in by_rank(routers).values():
        names = [_names(router) for router in alike[:_MOST]]
        for place, first in enumerate(alike[:_MOST]):
            for further in range(place + 1, len(names)):
                second = alike[further]
                if _apart(names[place], names[further]) or not _differs(first, second):
                    continue
                for matchers in ((*one, *other) for one in first.read for other in second.read):
                    if found := list(hosts.matches(matchers)):
                        yield Tie(first, second, matchers, found)


def by_rank(routers: Sequence[Router]) -> dict[int, list[Router]]:
    """Return rules by their rank, those of one in the order of the manifests."""
    found: dict[int, list[Router]] = {}
    for router in routers:
        found.setdefault(router.rank, []).append(router)
    return found


def placed(routers: Sequence[Router], hosts: Hosts) -> Iterator[tuple[Router, float, int, Found]]:
    """Yield rules with their place among all (more comes first), the number of an alternative, and its matches.

    Where two of one rank take the same requests, the first one has these apart, where nothing settles whether it has
    them, and comes after the other one else.
    """
    places: dict[tuple[ResourceKey, int], float] = {}
    for rank, alike in by_rank(routers).items():
        for number, router in enumerate(alike):
            places[router.ingress.key, router.number] = number / (2 * len(alike))
            for further, matchers in enumerate(router.read):
                yield router, rank + places[router.ingress.key, router.number], further, list(hosts.matches(matchers))
    for number, tie in enumerate(ties(routers, hosts)):
        first, rank = tie.first, tie.first.rank
        why = f"{tie.second} takes it as well, both have priority {rank}, and nothing says which comes first"
        found = [(host, by_chance(match, why)) for host, match in tie.found]
        yield first, rank + 0.99 - places[first.ingress.key, first.number] / 2, len(first.read) + number, found


def _names(router: Router) -> frozenset[str]:
    """Return the hosts that a rule is for; none where they may be any."""
    each = [names_of(matchers) for matchers in router.read]
    return frozenset().union(*each) if all(each) else frozenset()


def _apart(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one and other) and one.isdisjoint(other)


def _differs(one: Router, other: Router) -> bool:
    """Return whether it matters which of two rules that meet at an entry point comes first."""
    return not set(one.openings).isdisjoint(other.openings) and (one.body, one.asked) != (other.body, other.asked)
