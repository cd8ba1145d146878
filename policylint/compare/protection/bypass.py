"""GWP302, its second half: a route can be reached on a new way, and nobody asks there for what was asked before.

A way is a listener and a rule. What is said of them: every way that was there before asked, a new one does not. A new
listener (a second Gateway, a hostname that another listener answers to, a Gateway that gains a listener) opens what the
rules behind it serve. A new rule opens requests that a rule with a login used to take, or, where nobody took them
before, only itself: a warning. Silent where something unknown may ask after all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from policylint.checks.kit.locations import at, target_at
from policylint.checks.unseen_authentication import may_authenticate_unseen
from policylint.compare.protection.guards import Asked, Guard, ways
from policylint.compare.protection.taking import takes_over
from policylint.compare.settings import sources
from policylint.compare.sides import Sides
from policylint.model import Finding, Location, Node, Related, Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.topology import ParentState, RouteState

RULE = "GWP302"
_PURPOSES = ("authentication", "authorization")
_MOST_RELATED = 4


class _Fresh(NamedTuple):
    """A route on both sides, and its ways.

    Args:
        old, new: rule → listeners, as of the side after.
        places: the same way as it was called before.
    """

    was: RouteState
    now: RouteState
    old: dict[Node, frozenset[Node]]
    new: dict[Node, frozenset[Node]]
    places: dict[Node, Node]


class _Opening(NamedTuple):
    """One reason: what used to be asked for, by whom, and the way that does not.

    Args:
        way: the listener, or the rule.
        taken: for a rule, whether it takes requests from one where somebody asks.
    """

    purpose: str
    names: tuple[str, ...]
    owners: tuple[ResourceKey, ...]
    way: Node
    taken: bool = True


def protection_bypassed(sides: Sides) -> Iterator[Finding]:
    """One finding per reason."""
    fresh = {each.now.route.key: each for each in _fresh(sides)}
    if not fresh:
        return
    before = {each.was.route.key for each in fresh.values()}
    found: dict[_Opening, list[_Fresh]] = defaultdict(list)
    for purpose in _PURPOSES:
        guards = Guard(sides.before, purpose, before), Guard(sides.after, purpose, fresh.keys())
        if not all(each.whole for each in guards):
            continue
        for route in fresh.values():
            for opening in dict.fromkeys(_openings(route, purpose, *guards)):
                found[opening].append(route)
    unclear = {
        key: may_authenticate_unseen(sides.after, fresh[key].now) for each in found.values() for key in _keys(each)
    }
    for opening, routes in found.items():
        clear = [each for each in routes if not unclear[each.now.route.key]]
        if clear:
            yield _finding(sides, opening, clear)


def _keys(routes: list[_Fresh]) -> list[ResourceKey]:
    return [each.now.route.key for each in routes]


def _fresh(sides: Sides) -> Iterator[_Fresh]:
    """The routes that were reached before and are reached on more or other ways now."""
    before, after, pairing = sides
    for now in after.topology.routes:
        was = before.topology.route(pairing.was(now.route.key))
        if was is None or (was.route.spec == now.route.spec and _attached(was) == _attached(now)):
            continue
        old, new = ways(was), ways(now)
        if not old or not new:
            continue
        places = {pairing.node(node): node for rule, listeners in old.items() for node in (rule, *listeners)}
        translated = {pairing.node(rule): frozenset(map(pairing.node, nodes)) for rule, nodes in old.items()}
        if any(rule not in translated or nodes - translated[rule] for rule, nodes in new.items()):
            yield _Fresh(was, now, translated, new, places)


def _attached(state: RouteState) -> set[Node]:
    return {node for parent in state.parents for node in parent.attached}


def _openings(route: _Fresh, purpose: str, before: Guard, after: Guard) -> Iterator[_Opening]:
    asked: dict[Node, Asked] = {}
    for rule, listeners in route.old.items():
        former = [before.on(route.places[each], route.places[rule]) for each in sorted(listeners)]
        if former[0] is not None and all(former):
            asked[rule] = former[0]
    for rule, listeners in route.new.items():
        open_ = sorted(each for each in listeners if after.on(each, rule) is None)
        if not open_:
            continue
        if rule in asked:
            if any(each in route.old[rule] for each in open_):
                continue  # what is lost on a way that stays is said of that way
            for each in open_:
                yield _opening(purpose, asked[rule], each)
        elif rule not in route.old:
            taken = next(
                (each for each in asked if takes_over(route.now.route, rule, route.was.route, route.places[each])), None
            )
            if taken is not None:
                yield _opening(purpose, asked[taken], rule)
            elif asked and asked.keys() == route.old.keys():
                yield _opening(purpose, asked[min(asked)], rule)._replace(taken=False)


def _opening(purpose: str, asked: Asked, way: Node) -> _Opening:
    owners = {each.policy for name in asked.names for each in sources(asked.effective, name)}
    return _Opening(purpose, asked.names, tuple(sorted(owners)), way)


def _finding(sides: Sides, opening: _Opening, routes: list[_Fresh]) -> Finding:
    routes = sorted(routes, key=lambda each: each.now.route.key)
    first = routes[0]
    key = first.now.route.key
    owners = " and ".join(map(str, opening.owners))
    names = ", ".join(opening.names)
    of_rule = opening.way.key == key
    places = list(_causes(sides, opening, routes))
    who = str(key) if len(routes) == 1 else f"{len(routes)} routes"
    if of_rule and opening.taken:
        said = f"{key} loses its {opening.purpose} for what its new rule {opening.way.section} takes over"
    elif of_rule:
        said = f"{key} gains rule {opening.way.section} without the {opening.purpose} of its other rules"
    else:
        whose = "its" if len(routes) == 1 else "their"
        said = f"{who} can be reached without {whose} {opening.purpose} through {opening.way}"
    (location, label), *related = places
    return Finding(
        RULE,
        "error" if opening.taken else "warning",
        f"{said}: {names} of {owners} does not act there",
        location,
        resources=(key, *opening.owners, *(() if of_rule else (opening.way.key,))),
        label=label,
        related=tuple(Related(text, place) for place, text in related[:_MOST_RELATED]),
        help=(f"fix: let {owners} act there too, or another policy of that kind", "note: every way to it asked before"),
        confidence="assumed" if sides.after.world.movable else "certain",
        field=f"{names} {opening.way.section}",
        environments=(sides.after.world.name,),
    )


def _causes(sides: Sides, opening: _Opening, routes: list[_Fresh]) -> Iterator[tuple[Location, str]]:
    """Where a person would edit: the new rule; the parentRef or hostnames that lead to the listener, the listener."""
    first = routes[0].now.route
    if opening.way.key == first.key:
        number = next(each for each, name in enumerate(_rule_names(routes[0])) if name == opening.way.section)
        yield at(first, ("spec", "rules", number), "name", "matches", "backendRefs"), "nobody asks here"
    else:
        for route in routes[:_MOST_RELATED]:
            yield from _leading(route, opening.way)
        listener = sides.after.topology.listener(opening.way)
        if listener is not None:
            yield at(listener.holder, listener.pointer, "name"), f"{opening.way} asks for none of it"
    for owner in opening.owners:
        state = sides.after.policies.get(sides.pairing.key(owner))
        if state is not None:
            place = target_at(state.policy, state.targets[0]) if state.targets else state.policy.name_location
            yield place, f"{state.key} acts on the other ways"


def _leading(route: _Fresh, listener: Node) -> Iterator[tuple[Location, str]]:
    resource = route.now.route
    parent = next(each for each in route.now.parents if listener in each.attached)
    yield _of_parent(resource, parent), f"{resource.key} is attached to {listener} here"
    if route.was.hostnames != route.now.hostnames and "hostnames" in resource.spec:
        yield resource.location("spec", "hostnames", key=True), f"{listener} answers to one of these"


def _of_parent(resource: Resource, parent: ParentState) -> Location:
    return at(resource, parent.pointer, "sectionName", "name")


def _rule_names(route: _Fresh) -> list[str]:
    from policylint.topology.routes import rules

    named = {each.number: each.node.section for each in rules(route.now.route)}
    return [named.get(number, "") for number in range(max(named, default=-1) + 1)]
