"""Headers that a policy sets from what tokens say, and where another one reads them that nobody sets (GWP319)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from policylint.catalog.content import places
from policylint.documents import Pointer
from policylint.model import Node, Resource, ResourceKey, mapping, sequence, text, texts, value_at
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Effective, Group
from policylint.simulation import Simulation
from policylint.topology import Topology
from policylint.topology.routes import rules

_CONDITION = "request.headers["
"""How a condition begins that is about a header."""


class Unset(NamedTuple):
    """A header of tokens that a policy reads where no policy sets it.

    Args:
        leaf, owner: the setting that reads it, and the policy that sets that.
        setter: a policy that sets it elsewhere.
        route: one of those where it is not set.
    """

    group: Group
    leaf: Pointer
    owner: ResourceKey
    header: str
    setter: ResourceKey
    route: ResourceKey


class Late(NamedTuple):
    """A match of a route by a header that a policy sets once the route is chosen.

    Args:
        setter: the policy, and `again` the field that would have the route chosen again, () without one.
    """

    route: Resource
    pointer: Pointer
    header: str
    setter: ResourceKey
    again: Pointer


def late(simulation: Simulation) -> Iterator[Late]:
    """Yield the matches by headers of tokens and logins that see what clients write."""
    for group in simulation.groups:
        again = texts(group.kind.headers.get("afresh"))
        made: dict[str, tuple[ResourceKey, Pointer]] = {}
        for place, name in (each for use in ("claims", "sets") for each in _named(group, use)) if again else ():
            leaf = _leaf(group.effective, place)
            field = next(filter(None, (_beside(place, each) for each in again)), ())
            if leaf is not None and value_at(group.effective.spec, field) is not True:
                made.setdefault(name.lower(), (leaf[1], field))
        nodes = {context[-1] for context in group.contexts()} if made else set()
        for key in sorted({node.key for node in nodes}):
            state = simulation.topology.route(key)
            for node, pointer, header in () if state is None else _matched(state.route):
                if state is not None and node in nodes and header.lower() in made:
                    yield Late(state.route, pointer, header, *made[header.lower()])


def _matched(route: Resource) -> Iterator[tuple[Node, Pointer, str]]:
    """Yield the headers that the rules of a route match, each with the rule and its place."""
    for rule in rules(route):
        for number, match in enumerate(map(mapping, sequence(rule.body.get("matches")))):
            for index, header in enumerate(map(mapping, sequence(match.get("headers")))):
                pointer = ("spec", "rules", rule.number, "matches", number, "headers", index, "name")
                yield rule.node, pointer, text(header.get("name"))


def _beside(place: Pointer, field: str) -> Pointer:
    """Return the field of a path that stands above a place, () where it does not."""
    *above, name = field.split(".")
    is_below = len(place) > len(above) and all(step in ("*", at) for step, at in zip(above, place, strict=False))
    return (*place[: len(above)], name) if is_below else ()


def unset(simulation: Simulation) -> Iterator[Unset]:
    """Yield the headers of tokens that policies read where only clients write them."""
    claims: dict[str, ResourceKey] = {}
    there: dict[tuple[Node, ...], set[str]] = defaultdict(set)
    reading = [group for group in simulation.groups if group.kind.headers.get("reads")]
    for group in simulation.groups if reading else ():
        made = [(name.lower(), place) for place, name in _named(group, "claims")]
        claims |= {name: leaf[1] for name, place in made if (leaf := _leaf(group.effective, place)) is not None}
        names = {name for name, _ in made} | {name.lower() for _, name in _named(group, "sets")}
        for context in group.contexts() if names else ():
            there[context] |= names
    for group in reading if claims else ():
        for at, owner, name in _read(group):
            setter = claims.get(name.lower())
            lacking = [] if setter is None else _lacking(group, name.lower(), there, simulation.topology)
            if setter is not None and lacking:
                yield Unset(group, at, owner, name, setter, min(lacking))


def _read(group: Group) -> Iterator[tuple[Pointer, ResourceKey, str]]:
    """Yield the headers that policies read, with the setting and the policy: of a union every policy counts."""
    for place, name in _named(group, "reads"):
        if (leaf := _leaf(group.effective, place)) is not None:
            yield *leaf, name
    for attachment in group.effective.stack if group.kind.merge.strategy == "union" else ():
        for path in texts(group.kind.headers.get("reads")):
            for place, name in places(attachment.policy.spec, path, ()):
                if isinstance(name, str) and name.startswith(_CONDITION):
                    yield place, attachment.key, name.removeprefix(_CONDITION).rstrip("]")


def _named(group: Group, use: str) -> Iterator[tuple[Pointer, str]]:
    for path in texts(group.kind.headers.get(use)):
        yield from ((place, name) for place, name in places(group.effective.spec, path, ()) if isinstance(name, str))


def _leaf(effective: Effective, place: Pointer) -> tuple[Pointer, ResourceKey] | None:
    """Return the setting that a place is part of, with the policy that it is from."""
    return next(((leaf, effective.owners[leaf]) for leaf in effective.leaves(place)), None)


def _lacking(
    group: Group, header: str, there: dict[tuple[Node, ...], set[str]], topology: Topology
) -> list[ResourceKey]:
    """Return the routes at which nothing on the way to a rule sets a header."""
    lacking = []
    serving = {parent.wanted for state in topology.routes for parent in state.parents if parent.accepted}
    for context in group.contexts():
        above = (context[: number + 1] for number in range(len(context)))
        if any(header in there.get(each, ()) for each in above):
            continue
        ends = (node.key for node in reversed(context) if node.key.kind.endswith("Route") or node.key in serving)
        route = next(ends, None)
        if route is not None and header not in _by_filters(topology, context[-1]):
            lacking.append(route)
    return lacking


def _by_filters(topology: Topology, node: Node) -> set[str]:
    """Return the headers that the filters of a rule write."""
    state = topology.route(node.key)
    named = set()
    for rule in () if state is None else rules(state.route):
        for each in map(mapping, sequence(rule.body.get("filters"))) if rule.node == node else ():
            for how in ("set", "add"):
                added = sequence(value_at(each, ("requestHeaderModifier", how)))
                named |= {text(mapping(one).get("name")).lower() for one in added}
    return named
