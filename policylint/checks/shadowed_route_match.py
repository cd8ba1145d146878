"""GWP408: a match that no request can reach, because another one takes all of its requests and comes first.

What a match takes and where it comes is asked of `matches` and `simulation.ranking`, as `trace` and `reach` ask.
Matches are compared two by two: that names the winner, and costs nothing where no two share a path. Of two without
regular expressions only equal ones can be (docs/design/request-precedence.md §4: more conditions come first).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from policylint.checks.kit.locations import at, path, value_at
from policylint.documents import Pointer
from policylint.doors.peculiar import IN_ORDER
from policylint.matches import Match
from policylint.model import Finding, Node, Related, Resource, ResourceKey, World, mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation
from policylint.simulation.ranking import Ranking, narrowing, ranked, ranking, standing, withheld
from policylint.spaces.predicates import EXPRESSION
from policylint.topology import GatewayState, RouteState, whole
from policylint.topology.ancestry import implementation_of
from policylint.topology.delegation import without_cycles
from policylint.topology.hostnames import widest_written
from policylint.topology.routes import RouteFault, Rule, faults, rules
from policylint.topology.state import Candidate, Delegation

if TYPE_CHECKING:
    from policylint.trace.answering import Responder

RULE = "GWP408"
_AGES = "the older of the two routes wins, and the manifests do not state their ages"
_SLASHES = "some controllers do not count the slash at the end of a prefix"
_EXPRESSIONS = "where regular expressions rank is up to the controller, which is not known"
_KINDS = ("GRPCRoute", "HTTPRoute")
_OF_STREAMS = ("TCPRoute", "UDPRoute")
_MOST_COMPARED = 100_000
"""Pairs of matches of one place of which at least one holds a regular expression."""

_Place = tuple[Node, str, str]
"""A listener, a hostname on it, and the hostname of the route from which it comes: by that, too, routes may rank. Of a
route that others delegate to it is the rule that does: the route competes with what else that delegates to."""
_Where = tuple[ResourceKey, int, int | None]
"""A match as it is written: its route, rule and number."""


class WrittenMatch(NamedTuple):
    """One match of a rule of a route, as it ranks at a place.

    Args:
        hostname: of the listener and the route, "" for every host.
        rank: the place that its proxy gives it (`Traffic.placed`), the least first.
        doubtful: whether its route may not be attached, so that it takes nothing from those of others.
    """

    route: Resource
    rule: Rule
    match: Match
    hostname: str = ""
    rank: int = 0
    doubtful: bool = False

    @property
    def where(self) -> _Where:
        return self.route.key, self.rule.number, self.match.number

    @property
    def pointer(self) -> Pointer:
        """The pointer of the match, or of the rule that has none."""
        return self.rule.pointer(self.match.number)

    @property
    def order(self) -> tuple[Any, ...]:
        """A sort key of the matches for one host, the first one first."""
        return self.rank, *standing(self.route, self.rule.number, self.match)

    @property
    def conditions(self) -> object:
        """Equal for matches that take the same requests, as far as their words tell."""
        return self.match.grpc, frozenset(
            (name, predicate._replace(value=predicate.value.rstrip("/")) if predicate.is_prefix else predicate)
            for name, predicate, *_ in self.match.conditions
        )

    @property
    def takes_any(self) -> bool:
        """Whether any request can satisfy it."""
        return not any(each.fault or each.predicate.refusal for each in self.match.conditions)

    def __str__(self) -> str:
        return f"{self.route.key.kind}Rule {self.route.key.path}#{self.rule.node.section}"


class _Tie(NamedTuple):
    """Two matches for the same requests to a host that the listener leaves of what their routes state."""

    loser: WrittenMatch
    winner: WrittenMatch
    listener: Node
    host: str


def check(simulation: Simulation) -> Iterator[Finding]:
    routes, is_made = _routed(simulation), _making(simulation)
    lost: dict[_Where, list[tuple[WrittenMatch, WrittenMatch, _Place]]] = defaultdict(list)
    number_of_places: dict[ResourceKey, int] = {}
    for place, members in _contests(simulation, routes, number_of_places, is_made):
        winners = _winners(members)
        winning = {member.where for member, winner in zip(members, winners, strict=True) if winner is None}
        for where, found in {
            member.where: (member, winner, place)
            for member, winner in zip(members, winners, strict=True)
            if winner is not None
            and member.where not in winning
            and not _is_wider(winner, member)
            and not _may_be_one(simulation.world, member.route, winner.route)
        }.items():
            lost[where].append(found)
    reported: set[tuple[ResourceKey, int]] = set()
    for where in sorted(lost, key=lambda where: (where[0], where[1], where[2] or 0)):
        if len(lost[where]) == number_of_places[where[0]] and where[:2] not in reported:
            reported.add(where[:2])
            yield _finding(simulation, *lost[where][0])
    for tie in _narrowed_ties(simulation, routes, is_made):
        if tie.loser.where[:2] not in reported and not _may_be_one(simulation.world, tie.loser.route, tie.winner.route):
            reported.add(tie.loser.where[:2])
            yield _tied(tie)
    told = {broken.resource.key for broken in simulation.broken}  # by GWP501
    for state in simulation.topology.routes:
        matching = faults(state.route) if state.route.key not in told else ()
        unknown = (fault for fault in matching if "matches" in fault.pointer)
        yield from (_of_unknown_type(state.route, fault) for fault in unknown if number_of_places.get(state.route.key))
    for state in simulation.topology.routes:
        refused = [
            candidate for parent in state.parents for candidate in parent.candidates if candidate.rival is not None
        ]
        rival = simulation.world.get(refused[0].rival) if refused and refused[0].rival is not None else None
        if rival is not None:
            yield _refused(simulation, state.route, refused[0], rival)
    yield from _streams(routes)
    if simulation.world.of_kind(*IN_ORDER):
        yield from _in_order(simulation)


def _in_order(simulation: Simulation) -> Iterator[Finding]:
    """Yield the rules of objects beside Gateway API whose rules count in the order in which they stand."""
    from policylint.doors.istio_order import unmet

    for each in unmet(simulation.world):
        place, by = ("spec", each.section, each.number), ("spec", each.section, each.by)
        label = "the first rule that fits counts"
        label += ", and prefixes are text: `/shop` fits `/shopping`, too" if each.section == "http" else ""
        yield Finding(
            RULE,
            "warning",
            f"{path(place)} of {each.holder.key} is never used: {path(by)} takes its requests",
            each.holder.location(*place),
            resources=(each.holder.key,),
            label=label,
            related=(Related("takes them", each.holder.location(*by)),),
            help=(f"fix: put it before {path(by)}",),
            field=path(place),
        )


def _is_wider(match: WrittenMatch, other: WrittenMatch) -> bool:
    """Tell whether a match takes the requests of another one of its own rule, which gets them in any case: `/mcp` and
    `/mcp/`. Two that are equal as they stand are a slip all the same."""
    return match.where[:2] == other.where[:2] and match.match.weights != other.match.weights


def _may_be_one(world: World, route: Resource, other: Resource) -> bool:
    """Tell whether two routes of one name may be two versions of one: the namespace of one is not known, or no plain
    file names it, which is applied to any. Two matches of one and the same route are in a tie in any case."""
    return (
        route.key != other.key
        and (route.key.name, route.key.kind) == (other.key.name, other.key.kind)
        and any(
            each.key.unplaced or (world.partial and "namespace" not in each.metadata and world.is_loose(each))
            for each in (route, other)
        )
    )


def _routed(simulation: Simulation) -> list[RouteState]:
    """Return the routes but for those of which their controllers make nothing at any of their listeners."""
    stopped, routed = withheld(simulation), []
    for state in simulation.topology.routes:
        places = [each for parent in state.parents for each in parent.candidates if not each.failure]
        left = [(stopped.get((each.node, whole(state.route.key))), each.hostnames) for each in places]
        if not places or any(not names or not names.issuperset(hosts) for names, hosts in left):
            routed.append(state)
    return routed


def _streams(routes: Iterable[RouteState]) -> Iterator[Finding]:
    """Yield the routes of connections that get none: at each of their listeners an older one takes all."""
    at_listener: dict[Node, list[RouteState]] = defaultdict(list)
    for state in routes:
        if state.route.key.kind in _OF_STREAMS and rules(state.route):
            for node in _attached(state):
                at_listener[node].append(state)
    first = {node: min(states, key=lambda state: state.route.age) for node, states in at_listener.items()}
    for state in {state.route.key: state for states in at_listener.values() for state in states}.values():
        places = _attached(state)
        winners = [first[node].route for node in places]
        if all(winner.key != state.route.key for winner in winners):
            winner = winners[0]
            stated = bool(state.route.created and winner.created)
            yield Finding(
                RULE,
                "warning",
                f"{state.route.key} gets no connections: {winner.key} takes all of {places[0]}",
                at(state.route, ("spec", "parentRefs", 0), "sectionName", "name"),
                resources=(state.route.key, winner.key),
                label="of two routes at one port the older gets all connections",
                related=(Related("this route gets them", winner.name_location),),
                help=("fix: give it a listener of its own, or name both backends in one rule",),
                confidence="certain" if stated else "assumed",
                ground="" if stated else _AGES,
            )


def _attached(state: RouteState) -> list[Node]:
    """Return the listeners to which a route is certainly attached."""
    candidates = (candidate for parent in state.parents for candidate in parent.candidates)
    return list(dict.fromkeys(each.node for each in candidates if not each.failure and not each.unknown))


def _narrowed_ties(
    simulation: Simulation, routes: Iterable[RouteState], is_made: Callable[[WrittenMatch, _Place], bool]
) -> Iterator[_Tie]:
    """Yield the ties of routes whose hostnames differ, and of which a listener leaves one and the same to both.

    Implementations that are known rank what is left; by the specification what a route states comes first
    (docs/design/request-precedence.md §8).
    """
    at_host: dict[tuple[Node, str], dict[ResourceKey, tuple[RouteState, str]]] = defaultdict(dict)
    for state in routes:
        for node, host, written in _places(state) if state.route.key.kind in _KINDS else ():
            at_host[node, host][state.route.key] = state, written
    for (node, host), states in at_host.items():
        listener = simulation.topology.listener(node)
        if listener is None or not host or host != listener.hostname or len({each for _, each in states.values()}) < 2:
            continue
        order = ranking(simulation, _gateway(simulation, (node, host, "")))
        if order.as_written or order.stated or order.by.balances_equals:
            continue
        found: list[WrittenMatch] = []
        for state, _ in states.values():
            values = [(state.route, rule, number) for rule, number, _ in state.route.once(_values)]
            found += (each._replace(doubtful=not _is_attached(state)) for each in _read(simulation, values, {}, order))
        place = node, host, ""
        for group in _standing([each for each in found if is_made(each, place)], place, order):
            alike: dict[object, list[WrittenMatch]] = defaultdict(list)
            for match in group:
                alike[match.conditions].append(match)
            for matches_ in alike.values():
                winner, *others = sorted(matches_, key=lambda each: (each.doubtful, each.order))
                for loser in () if winner.doubtful else others:
                    apart = states[loser.route.key][1] != states[winner.route.key][1]
                    if apart and loser.takes_any and winner.order < loser.order:
                        yield _Tie(loser, winner, node, host)


def _tied(tie: _Tie) -> Finding:
    loser, winner = tie.loser, tie.winner
    is_stated = bool(loser.route.created and winner.route.created)
    return Finding(
        RULE,
        "warning",
        f"{loser} is in a tie against {winner} for {tie.host}: both match the same requests",
        at(loser.route, loser.pointer, "path", "backendRefs"),
        resources=(loser.route.key, winner.route.key),
        label=f"{tie.listener} leaves both routes the one host, and the older of them gets these requests",
        related=(Related("the same conditions", winner.route.location(*winner.pointer)),),
        help=("fix: remove one of the two, or make its conditions narrower",),
        confidence="certain" if is_stated else "assumed",
        ground="" if is_stated else _AGES,
        field=path(loser.pointer),
    )


def _of_unknown_type(route: Resource, fault: RouteFault) -> Finding:
    """Return the finding of a match that no request satisfies, whatever else there is."""
    rule = next(each for each in rules(route) if each.number == fault.rule)
    return Finding(
        RULE,
        "warning",
        f"{rule.node.role} {route.key.path}#{rule.node.section} can never win: {fault.message}",
        at(route, fault.pointer),
        resources=(route.key,),
        label="no request satisfies it",
        help=("fix: write Exact, or another type that the API knows",),
        field=path(fault.pointer),
    )


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


def _contests(
    simulation: Simulation,
    routes: Iterable[RouteState],
    number_of_places: dict[ResourceKey, int],
    is_made: Callable[[WrittenMatch, _Place], bool],
) -> Iterator[tuple[_Place, list[WrittenMatch]]]:
    """Yield the matches of a place that share their path with others there; all, where a path is an expression, or
    something ranks before paths.

    Most share it with none, and are not read any further. A route that may not be attached takes nothing from others.
    """
    at_place: dict[_Place, dict[str, list[tuple[Resource, int, int]]]] = {}
    doubtful: set[ResourceKey] = set()
    delegated = _delegated(simulation)
    for state in routes:
        if state.route.key.kind in _KINDS:
            places = _places(state) or delegated.get(state.route.key, [])
            number_of_places[state.route.key] = len(places)
            doubtful |= set() if _is_attached(state) else {state.route.key}
            for place in places:
                by_path = at_place.setdefault(place, {})
                for rule, number, value in state.route.once(_values):
                    by_path.setdefault(value, []).append((state.route, rule, number))
    read: dict[tuple[ResourceKey, Ranking], dict[tuple[int, int], list[WrittenMatch]]] = {}
    for place, by_path in at_place.items():
        order = ranking(simulation, _gateway(simulation, place))
        all_meet = (EXPRESSION in by_path or order.by.places_wider) and sum(map(len, by_path.values())) > 1
        shared = [each for group in by_path.values() if all_meet or len(group) > 1 for each in group]
        if shared:
            found = _read(simulation, shared, read, order)
            members = [each._replace(doubtful=each.route.key in doubtful) for each in found if is_made(each, place)]
            yield from ((place, group) for group in _standing(members, place, order))


def _making(simulation: Simulation) -> Callable[[WrittenMatch, _Place], bool]:
    """Return what says whether the controller at a place makes anything of the rule of a match: others take nothing."""
    responders: list[Responder] = []

    def is_made(match: WrittenMatch, place: _Place) -> bool:
        if not responders:
            from policylint.trace.answering import Responder
            from policylint.trace.backends import BackendTls

            responders.append(Responder(simulation, BackendTls(simulation)))
        gateway = _gateway(simulation, place)
        key = None if gateway is None else gateway.gateway.key
        return responders[0].unserved(match.route, match.rule, key)[0] != 404

    return is_made


def _standing(found: Iterable[WrittenMatch], place: _Place, order: Ranking) -> list[list[WrittenMatch]]:
    """Return the matches at a place with their ranks, together as far as they are compared: where ranks hang on what
    else is there, those of routes that may not be attached stand by themselves."""
    members = [each._replace(hostname=place[1]) for each in found]
    if order.by.placed(members) is None:
        return [members]
    apart: dict[ResourceKey | None, list[WrittenMatch]] = defaultdict(list)
    for each in members:
        apart[each.route.key if each.doubtful else None].append(each)
    groups = []
    for group in apart.values():
        ranks = order.by.placed(group)
        groups.append(group if ranks is None else [group[number]._replace(rank=rank) for number, rank in ranks])
    return groups


def _gateway(simulation: Simulation, place: _Place) -> GatewayState | None:
    listener = simulation.topology.listener(place[0])
    return None if listener is None or listener.gateway is None else simulation.topology.gateway(listener.gateway)


def _read(
    simulation: Simulation,
    listed: Iterable[tuple[Resource, int, int]],
    read: dict[tuple[ResourceKey, Ranking], dict[tuple[int, int], list[WrittenMatch]]],
    order: Ranking,
) -> Iterator[WrittenMatch]:
    """Yield some matches as they rank, those that a filter narrows once for each of its conditions."""
    for route, rule_number, number in listed:
        of_route = read.get((route.key, order))
        if of_route is None:
            of_route = read[route.key, order] = defaultdict(list)
            grpc = route.key.kind == "GRPCRoute"
            for rule in rules(route):
                further = narrowing(simulation, route, rule)
                for match in ranked(rule.body, order, grpc=grpc, narrowing=further):
                    of_route[rule.number, match.number or 0].append(WrittenMatch(route, rule, match))
        yield from of_route[rule_number, number]


def _is_attached(state: RouteState) -> bool:
    """Tell whether a route is certainly attached wherever it may be."""
    candidates = (candidate for parent in state.parents for candidate in parent.candidates)
    return not any(candidate.unknown and not candidate.failure for candidate in candidates)


def _places(state: RouteState) -> list[_Place]:
    """Return the listeners of a route with its hostnames there; none where one of its parents was not seen."""
    attached = [candidate for parent in state.parents for candidate in parent.candidates if not candidate.failure]
    if any(parent.resolution.unknown for parent in state.parents):
        return []
    found = dict.fromkeys((candidate.node, host) for candidate in attached for host in candidate.hostnames)
    own = frozenset(state.hostnames)
    return [(node, host, host if host in own else widest_written(host, state.hostnames)) for node, host in found]


def _delegated(simulation: Simulation) -> Mapping[ResourceKey, list[_Place]]:
    """Return the places of routes without parents to which others delegate: those of each rule that does."""
    below: dict[ResourceKey, list[Delegation]] = defaultdict(list)
    for delegation in without_cycles(simulation.topology.delegations):
        child = simulation.topology.route(delegation.child)
        if child is not None and not child.parents:
            below[delegation.parent].append(delegation)
    found: dict[ResourceKey, dict[_Place, None]] = defaultdict(dict)
    roots = (simulation.topology.route(key) for key in below)
    left = [(state.route.key, _places(state)) for state in roots if state is not None and state.parents]
    while left:
        parent, places = left.pop()
        for each in below.get(parent, ()):
            own = dict.fromkeys((node, host, f"{parent}#{each.rule}") for node, host, _ in places)
            new = [place for place in own if place not in found[each.child]]
            found[each.child].update(own)
            left += [(each.child, new)] if new else []
    return {key: list(places) for key, places in found.items()}


def _values(route: Resource) -> list[tuple[int, int, str]]:
    """Return every match by its numbers, with what of its path another one must share that takes all of its requests.

    That is its path or call as it is written; EXPRESSION for expressions, which may take the requests of any other.
    """
    found = []
    for rule in rules(route):
        for number, match in enumerate(map(mapping, sequence(rule.body.get("matches")) or [{}])):
            written = mapping(match.get("path") or match.get("method"))
            value = f"{written.get('service', '')}/{written.get('method', '')}/{written.get('value', '')}".rstrip("/")
            found.append((rule.number, number, EXPRESSION if written.get("type") == EXPRESSION else value))
    return found


def _winners(members: Sequence[WrittenMatch]) -> list[WrittenMatch | None]:
    """Return for each match the one to which it loses all of its requests, None where there is none: one of its own
    route, or of one that certainly is attached; if its own is not, it gets none in any case."""
    orders = [member.order for member in members]
    first: dict[object, int] = {}
    for number, member in enumerate(members):
        for among in (member.route.key, None) if not member.doubtful else (member.route.key,):
            best = first.setdefault((member.conditions, among), number)
            if orders[number] < orders[best]:
                first[member.conditions, among] = number
    found: list[WrittenMatch | None] = []
    for number, member in enumerate(members):
        named = (first.get((member.conditions, among), number) for among in (None, member.route.key))
        best = min(named, key=lambda each: orders[each])
        found.append(members[best] if orders[best] < orders[number] and member.takes_any else None)
    ranks = {member.rank for member in members}
    meeting = [number for number, member in enumerate(members) if len(ranks) > 1 or member.match.expressions]
    if len(meeting) * len(members) > _MOST_COMPARED:
        return found
    for one, other in product(meeting, range(len(members))):
        for own, winner in ((one, other), (other, one)):
            if members[own].match.grpc != members[winner].match.grpc:
                continue  # calls are told apart from other requests
            loses = found[own] is None and orders[winner] < orders[own] and members[own].takes_any
            may_miss = members[winner].doubtful and members[winner].route.key != members[own].route.key
            if loses and not may_miss and members[own].match.within(members[winner].match):
                found[own] = members[winner]
    return found


def _finding(simulation: Simulation, match: WrittenMatch, winner: WrittenMatch, place: _Place) -> Finding:
    listener, host, _ = place
    same = match.route.key == winner.route.key
    equal = match.conditions == winner.conditions
    ground = _ground(simulation, match, winner, place)
    scope = f"{listener}{f' for {host}' if host else ''}"
    matched = mapping(value_at(match.route.body, match.pointer))
    location = (*match.pointer, "path") if "path" in matched else match.pointer
    if equal and _shares(simulation, match, winner, place):
        return Finding(
            RULE,
            "note",
            f"{match} shares its requests with {winner}: both match the same requests",
            at(match.route, location, "value", "method", "name", "backendRefs"),
            resources=(match.route.key, winner.route.key),
            label=f"on {scope} they are balanced over the backends of both",
            related=(Related("the same conditions", winner.route.location(*winner.pointer)),),
            help=("fix: name all backends in one rule, or make the conditions of one narrower",),
            field=path(match.pointer),
        )
    if equal:
        verb = "is in a tie" if ground else "can never win"
        message = f"{match} {verb} against {winner}: both match the same requests"
    else:
        message = f"{match} can never win: {winner} takes all of its requests and comes first"
    taker = (
        str(winner.route.key) if not same else "the first rule" if winner.rule.number < match.rule.number else winner
    )
    return Finding(
        RULE,
        "warning",
        message,
        at(match.route, location, "value", "method", "name", "backendRefs"),
        resources=(match.route.key, winner.route.key),
        label=f"on {scope} {taker} gets these requests",
        related=(Related("the same conditions" if equal else "comes first", winner.route.location(*winner.pointer)),),
        help=("fix: remove one of the two, or make its conditions narrower",),
        confidence="assumed" if ground else "certain",
        ground=ground,
        field=path(match.pointer),
    )


def _shares(simulation: Simulation, match: WrittenMatch, winner: WrittenMatch, place: _Place) -> bool:
    """Return whether the Gateway sends requests of a match to the backends of both rules that have it, if the first one
    has any."""
    if not ranking(simulation, _gateway(simulation, place)).by.balances_equals:
        return False
    filters = map(mapping, sequence(winner.rule.body.get("filters")))
    redirects = any(each.get("type") == "RequestRedirect" for each in filters)
    return not redirects and bool(sequence(match.rule.body.get("backendRefs")))


def _ground(simulation: Simulation, match: WrittenMatch, winner: WrittenMatch, place: _Place) -> str:
    """Return what it rests on that a match comes second; "" where that is certain."""
    if match.rank != winner.rank:
        return ""
    if match.match.weights == winner.match.weights:
        stated = match.route.key == winner.route.key or bool(match.route.created and winner.route.created)
        return "" if stated else _AGES
    if winner.match.before(match.match):
        return ""
    if match.conditions == winner.conditions:
        return _SLASHES
    gateway = _gateway(simulation, place)
    known = gateway is not None and implementation_of(gateway, simulation.catalog) is not None
    return "" if known else _EXPRESSIONS
