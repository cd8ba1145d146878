"""GWP408: a match that no request can reach, because another one with the same conditions comes first.

A match with fewer conditions never comes before one with more (docs/design/request-precedence.md §4, criteria 1
to 7): certainly shadowed is only what ties on all of them, on the same listener for the same hostname. Then the
older route wins, then the first by name, then the first rule (criteria 8 to 10).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.checks.kit.locations import at, path, value_at
from policylint.documents import Pointer
from policylint.model import Finding, Node, Related, Resource, ResourceKey, mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation
from policylint.topology import RouteState
from policylint.topology.hostnames import widest_written
from policylint.topology.state import Candidate

RULE = "GWP408"
_AGES = "the older of the two routes wins, and the manifests do not state their ages"


class WrittenMatch(NamedTuple):
    """One match of a rule of a route."""

    route: Resource
    rule: int
    number: int

    @property
    def pointer(self) -> Pointer:
        """Return the pointer of the match, or of the rule that has none."""
        rule = mapping(sequence(self.route.spec.get("rules"))[self.rule])
        place: Pointer = ("spec", "rules", self.rule)
        return (*place, "matches", self.number) if sequence(rule.get("matches")) else place

    def __str__(self) -> str:
        rule = mapping(sequence(self.route.spec.get("rules"))[self.rule])
        return f"{self.route.key.kind}Rule {self.route.key.path}#{rule.get('name') or f'rule-{self.rule + 1}'}"


_Place = tuple[Node, str, str]
"""A listener, a hostname on it, and the hostname of the route from which it comes: by that, too, routes may rank."""
Slot = tuple[Node, str, str, object]
"""A place, and the conditions of a match."""


def check(simulation: Simulation) -> Iterator[Finding]:
    held: dict[Slot, list[WrittenMatch]] = defaultdict(list)
    slots: dict[WrittenMatch, list[Slot]] = {}
    for match, places in _suspects(simulation):
        if match in slots:
            continue
        conditions = _conditions(match)
        slots[match] = [(*place, conditions) for place in places]
        for slot in slots[match]:
            held[slot].append(match)
    first = {slot: _first(matches) for slot, matches in held.items()}
    reported: set[tuple[object, int]] = set()
    for match, own_slots in slots.items():
        if (match.route.key, match.rule) in reported or not own_slots:
            continue
        winners = [first[slot] for slot in own_slots]
        if match not in winners:
            reported.add((match.route.key, match.rule))
            yield _finding(match, winners[0], own_slots[0])
    for state in simulation.topology.routes:
        lost = [candidate for parent in state.parents for candidate in parent.candidates if candidate.rival is not None]
        rival = simulation.world.get(lost[0].rival) if lost and lost[0].rival is not None else None
        if rival is not None:
            yield _refused(simulation, state.route, lost[0], rival)


def _refused(simulation: Simulation, route: Resource, lost: Candidate, rival: Resource) -> Finding:
    """Return the finding of a route that a listener refuses whole: a route of the other kind has its hostname there."""
    stated = bool(route.created and rival.created)
    holder = simulation.topology.gateway(lost.holder.key)
    known = holder is not None and simulation.catalog.implementation_of_controller(holder.controller) is not None
    ground = _AGES if not stated else "" if known else "some controllers serve both"
    return Finding(
        RULE,
        "warning",
        f"{route.key} gets no requests on {lost.node}: {rival.key} has its hostname there",
        at(route, ("spec",), "hostnames", "parentRefs"),
        resources=(route.key, rival.key),
        label=f"of an HTTPRoute and a GRPCRoute one gets the hostname, here {rival.key}",
        related=(Related("this route has the hostname", at(rival, ("spec",), "hostnames", "parentRefs")),),
        help=("fix: give the two different hostnames, or write both as one HTTPRoute",),
        confidence="assumed" if ground else "certain",
        ground=ground,
        field="spec.hostnames",
    )


def _suspects(simulation: Simulation) -> Iterator[tuple[WrittenMatch, list[_Place]]]:
    """Yield the matches that share hostname, listener and path with another one: most share them with none."""
    numbers: dict[_Place, int] = {}
    rough: dict[tuple[int, str], list[tuple[RouteState, int, int]]] = defaultdict(list)
    where: dict[ResourceKey, list[_Place]] = {}
    for state in simulation.topology.routes:
        if state.route.key.kind not in _CONDITIONS:
            continue
        places = where[state.route.key] = _places(state)
        ids = [numbers.setdefault(place, len(numbers)) for place in places]
        for rule, number, text in state.route.once(_values):
            for place_id in ids:
                rough[place_id, text].append((state, rule, number))
    for group in rough.values():
        if len(group) > 1:
            for state, rule, number in group:
                yield WrittenMatch(state.route, rule, number), where[state.route.key]


def _values(route: Resource) -> list[tuple[int, int, str]]:
    """Return every match by its numbers, with the value that it must share with another one to be shadowed."""
    return [
        (rule, number, str(mapping(match.get("path") or match.get("method")).get("value", "")).rstrip("/"))
        for rule, number, match in _matches(route)
    ]


def _places(state: RouteState) -> list[_Place]:
    """Return the listeners of a route with its hostnames there; none where one of them is not certain."""
    attached = [candidate for parent in state.parents for candidate in parent.candidates if not candidate.failure]
    if any(candidate.unknown for candidate in attached) or any(parent.resolution.unknown for parent in state.parents):
        return []
    found = dict.fromkeys((candidate.node, host) for candidate in attached for host in candidate.hostnames)
    own = frozenset(state.hostnames)
    return [(node, host, host if host in own else widest_written(host, state.hostnames)) for node, host in found]


def _matches(route: Resource) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield every match after the numbers of its rule and of itself; a rule without any has one without conditions."""
    for rule, written in enumerate(sequence(route.spec.get("rules"))):
        for number, match in enumerate(sequence(mapping(written).get("matches")) or [{}]):
            yield rule, number, mapping(match)


def _conditions(match: WrittenMatch) -> object:
    kind = match.route.key.kind
    written = mapping(value_at(match.route.body, match.pointer)) if match.pointer[-2] == "matches" else {}
    return (kind, *_CONDITIONS[kind](written))


def _http(match: Mapping[str, Any]) -> tuple[object, ...]:
    written = mapping(match.get("path"))
    kind, value = str(written.get("type", "PathPrefix")), str(written.get("value", "/"))
    if kind == "PathPrefix":
        value = value.rstrip("/") or "/"
    return (
        kind,
        value,
        repr(match.get("method")),
        _named(match.get("headers"), str.lower),
        _named(match.get("queryParams")),
    )


def _grpc(match: Mapping[str, Any]) -> tuple[object, ...]:
    method = mapping(match.get("method"))
    named = (repr(method.get(field)) for field in ("service", "method"))
    return (str(method.get("type", "Exact")), *named, _named(match.get("headers"), str.lower))


_CONDITIONS = {"HTTPRoute": _http, "GRPCRoute": _grpc}


def _named(entries: object, fold: Any = str) -> frozenset[tuple[str, str, str]]:
    """Return conditions on headers or query parameters; of several with one name only the first counts."""
    conditions: dict[str, tuple[str, str]] = {}
    for entry in map(mapping, sequence(entries)):
        conditions.setdefault(fold(str(entry.get("name"))), (str(entry.get("type", "Exact")), str(entry.get("value"))))
    return frozenset((name, *rest) for name, rest in conditions.items())


def _first(matches: list[WrittenMatch]) -> WrittenMatch:
    """Return the winner: the oldest route, then the first by name, then the first rule."""
    return min(matches, key=lambda match: (*match.route.age, match.route.key.kind, *match[1:]))


def _finding(match: WrittenMatch, winner: WrittenMatch, slot: Slot) -> Finding:
    listener, host, *_ = slot
    same = match.route.key == winner.route.key
    stated = same or bool(match.route.created and winner.route.created)
    scope = f"{listener}{f' for {host}' if host else ''}"
    matched = mapping(value_at(match.route.body, match.pointer))
    place = (*match.pointer, "path") if "path" in matched else match.pointer
    return Finding(
        RULE,
        "warning",
        f"{match} {'can never win' if stated else 'is in a tie'} against {winner}: both match the same requests",
        at(match.route, place, "value", "method", "name", "backendRefs"),
        resources=(match.route.key, winner.route.key),
        label=f"on {scope} {'the first rule' if same else winner.route.key} gets these requests",
        related=(Related("the same conditions", winner.route.location(*winner.pointer)),),
        help=("fix: remove one of the two, or make its conditions narrower",),
        confidence="certain" if stated else "assumed",
        ground="" if stated else _AGES,
        field=path(match.pointer),
    )
