"""GWP302, its second half: a route can be reached on a new way, and no policy demands there what was demanded before.

A way is a listener and a rule. Every way that was there before demanded authentication or authorization, a new one does
not. A new listener (a second Gateway, a hostname that another listener answers to, a Gateway that gains a listener)
opens what the rules behind it serve. A new rule opens requests that a protected rule used to take or, where no rule
took them before, only itself: a warning. Silent where something unknown may demand it after all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from policylint.checks.confidence import NOT_RENDERED
from policylint.checks.kit.locations import at
from policylint.checks.kit.unseen_authentication import may_authenticate_unseen
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import target_place
from policylint.compare.protection.guards import LEFT_OPEN, Demand, Guard, ways
from policylint.compare.settings import sources
from policylint.matches import Match, matches
from policylint.model import Finding, Location, Node, Related, Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import SEVERITY_OF_LOSS, TurnedAway
from policylint.topology import RouteState
from policylint.topology.routes import rules

RULE = "GWP302"
_PURPOSES = ("authentication", "authorization")
_MOST_RELATED = 4


class _RouteWays(NamedTuple):
    """A route on both sides, and its ways.

    Args:
        old, new: rule → listeners, both in names of the side after.
        places: rules and listeners of `old` in names of the side before.
    """

    was: RouteState
    now: RouteState
    old: dict[Node, frozenset[Node]]
    new: dict[Node, frozenset[Node]]
    places: dict[Node, Node]


class _Bypass(NamedTuple):
    """One reason: what used to be demanded, by whom, and the way on which it is not.

    Args:
        way: the listener, or the rule.
        turned_away: on the other ways.
        taken: for a rule, whether it takes requests from a protected one.
    """

    purpose: str
    names: tuple[str, ...]
    owners: tuple[ResourceKey, ...]
    way: Node
    turned_away: TurnedAway = "without"
    taken: bool = True


def protection_bypassed(sides: Sides) -> Iterator[Finding]:
    """Yield one finding per reason."""
    gained = {route_ways.now.route.key: route_ways for route_ways in _gained_ways(sides)}
    if not gained:
        return
    before = {route_ways.was.route.key for route_ways in gained.values()}
    routes_by_bypass: dict[_Bypass, list[_RouteWays]] = defaultdict(list)
    for purpose in _PURPOSES:
        guards = Guard(sides.before, purpose, before), Guard(sides.after, purpose, gained.keys())
        if not all(guard.whole for guard in guards):
            continue
        for route_ways in gained.values():
            for bypass in dict.fromkeys(_bypasses(route_ways, purpose, *guards)):
                routes_by_bypass[bypass].append(route_ways)
    keys = {route_ways.now.route.key for routes in routes_by_bypass.values() for route_ways in routes}
    unclear = {key for key in keys if may_authenticate_unseen(sides.after, gained[key].now)}
    for bypass, routes in routes_by_bypass.items():
        clear_routes = [route_ways for route_ways in routes if route_ways.now.route.key not in unclear]
        if clear_routes:
            yield _finding(sides, bypass, clear_routes)


def _gained_ways(sides: Sides) -> Iterator[_RouteWays]:
    """Yield the routes that were reached before and are reached on more or other ways now."""
    before, after, pairing = sides
    for now in after.topology.routes:
        was = before.topology.route(pairing.was(now.route.key))
        if was is None or (was.route.spec == now.route.spec and was.attached == now.attached):
            continue
        old, new = ways(was), ways(now)
        if not old or not new:
            continue
        places = {pairing.node(node): node for rule, listeners in old.items() for node in (rule, *listeners)}
        translated = {pairing.node(rule): frozenset(map(pairing.node, nodes)) for rule, nodes in old.items()}
        if any(rule not in translated or nodes - translated[rule] for rule, nodes in new.items()):
            yield _RouteWays(was, now, translated, new, places)


def _bypasses(route_ways: _RouteWays, purpose: str, before: Guard, after: Guard) -> Iterator[_Bypass]:
    """Yield the reasons of one purpose for which a route can be reached without protection."""
    demands: dict[Node, Demand] = {}
    for rule, listeners in route_ways.old.items():
        place = route_ways.places[rule]
        former_demands = [before.on(route_ways.places[listener], place) for listener in sorted(listeners)]
        if former_demands[0] is not None and all(former_demands):
            demands[rule] = former_demands[0]
    for rule, listeners in route_ways.new.items():
        unguarded = sorted(listener for listener in listeners if after.on(listener, rule) is None)
        if not unguarded:
            continue
        if rule in demands:
            if any(listener in route_ways.old[rule] for listener in unguarded):
                continue  # a loss on a way that stays is reported for that way (`removed`)
            for listener in unguarded:
                yield _bypass(purpose, demands[rule], listener)
        elif rule not in route_ways.old:
            was, now, places = route_ways.was.route, route_ways.now.route, route_ways.places
            taken = [old_rule for old_rule in demands if _takes_over(now, rule, was, places[old_rule])]
            if taken:
                yield _bypass(purpose, demands[taken[0]], rule)
            elif demands and demands.keys() == route_ways.old.keys():
                yield _bypass(purpose, demands[min(demands)], rule)._replace(taken=False)


def _takes_over(holder: Resource, rule: Node, former_holder: Resource, former: Node) -> bool:
    """Return whether a rule of a route certainly gets requests that a rule of the same route got before.

    Of two matches that some request meets, the one that comes first gets it (docs/design/request-precedence.md §4).
    """
    new, old = _matches_of(holder, rule), _matches_of(former_holder, former)
    return any(
        (match.before(old_match) or match.ties(old_match)) and match.overlaps(old_match)
        for match in new
        for old_match in old
    )


def _matches_of(holder: Resource, node: Node) -> list[Match]:
    """Return the matches of a rule of an HTTPRoute or GRPCRoute, none for other routes."""
    found = next((rule for rule in rules(holder) if rule.node.section == node.section), None)
    if found is None or holder.key.kind not in ("HTTPRoute", "GRPCRoute"):
        return []
    return matches(found.body, grpc=holder.key.kind == "GRPCRoute")


def _bypass(purpose: str, demand: Demand, way: Node) -> _Bypass:
    """Return the reason for a way on which a demand of before is not made."""
    owners = {source.policy for name in demand.names for source in sources(demand.effective, name)}
    return _Bypass(purpose, demand.names, tuple(sorted(owners)), way, demand.turned_away)


def _finding(sides: Sides, bypass: _Bypass, routes: list[_RouteWays]) -> Finding:
    """Return the finding of one reason."""
    routes = sorted(routes, key=lambda route_ways: route_ways.now.route.key)
    first = routes[0]
    key = first.now.route.key
    owners = " and ".join(map(str, bypass.owners))
    names = ", ".join(bypass.names)
    purpose = f"{LEFT_OPEN[bypass.turned_away]}{bypass.purpose}"
    of_rule = bypass.way.key == key
    places = list(_causes(sides, bypass, routes))
    subject = str(key) if len(routes) == 1 else f"{len(routes)} routes"
    if of_rule and bypass.taken:
        change = f"{key} loses its {purpose} for what its new rule {bypass.way.section} takes over"
    elif of_rule:
        change = f"{key} gains rule {bypass.way.section} without the {purpose} of its other rules"
    else:
        possessive = "its" if len(routes) == 1 else "their"
        change = f"{subject} can be reached without {possessive} {purpose} through {bypass.way}"
    (location, label), *related = places
    severity = SEVERITY_OF_LOSS[bypass.turned_away]
    return Finding(
        RULE,
        "warning" if severity == "error" and not bypass.taken else severity,
        f"{change}: {names} of {owners} does not act there",
        location,
        resources=(key, *bypass.owners, *(() if of_rule else (bypass.way.key,))),
        label=label,
        related=tuple(Related(text, place) for place, text in related[:_MOST_RELATED]),
        help=(f"fix: let {owners} act there too, or another policy of that kind", "note: every way to it asked before"),
        confidence="assumed" if sides.after.world.movable else "certain",
        ground=NOT_RENDERED if sides.after.world.movable else "",
        field=f"{names} {bypass.way.section}",
        environments=(sides.after.world.name,),
    )


def _causes(sides: Sides, bypass: _Bypass, routes: list[_RouteWays]) -> Iterator[tuple[Location, str]]:
    """Yield the places where a person would edit, each with a label.

    For a rule that is the new rule, for a listener the parentRef or hostnames that lead to it and the listener itself;
    then the policies that act on the other ways.
    """
    first = routes[0].now.route
    if bypass.way.key == first.key:
        number = next(rule.number for rule in rules(first) if rule.node.section == bypass.way.section)
        yield at(first, ("spec", "rules", number), "name", "matches", "backendRefs"), "nobody asks here"
    else:
        for route_ways in routes[:_MOST_RELATED]:
            yield from _leading(route_ways, bypass.way)
        listener = sides.after.topology.listener(bypass.way)
        if listener is not None:
            yield at(listener.holder, listener.pointer, "name"), f"{bypass.way} asks for none of it"
    for owner in bypass.owners:
        state = sides.after.policies.get(sides.pairing.key(owner))
        if state is not None:
            yield target_place(state), f"{state.key} acts on the other ways"


def _leading(route_ways: _RouteWays, listener: Node) -> Iterator[tuple[Location, str]]:
    """Yield the places of a route that lead to a listener."""
    resource = route_ways.now.route
    parent = next(candidate for candidate in route_ways.now.parents if listener in candidate.attached)
    yield at(resource, parent.pointer, "sectionName", "name"), f"{resource.key} is attached to {listener} here"
    if route_ways.was.hostnames != route_ways.now.hostnames and "hostnames" in resource.spec:
        yield resource.location("spec", "hostnames", key=True), f"{listener} answers to one of these"
