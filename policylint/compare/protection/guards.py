"""Policies that demand authentication or authorization, and the ways to rules of a route that they guard (GWP302).

A way is a listener and a rule behind it. The catalog says what a setting is for; a setting that only switches something
off demands nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

from policylint.model import Node, PolicyKind, ResourceKey, mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import TurnedAway, asked, asks, strongest
from policylint.policy.results import Effective, Group
from policylint.simulation import Simulation
from policylint.topology import RouteState
from policylint.topology.routes import rules

MOST_CONTEXTS = 200_000
"""Most contexts of one side; beyond, ways that open are not reported."""
_ANSWERING = ("RequestRedirect", "ExtensionRef", "ExternalAuth")
"""Filters that answer by themselves or may demand authentication."""
_Place = tuple[Node | None, Node | None]
"""A listener, and a rule or route; None stands for all of them."""


def purposes(kind: PolicyKind) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the purposes that a kind can serve, with the fields that serve them."""
    if kind.settings.authentication:
        yield "authentication", kind.settings.authentication
    if kind.settings.authorization:
        yield "authorization", kind.settings.authorization


LEFT_OPEN: Mapping[TurnedAway, str] = {"without": "", "false": "optional ", "nobody": "unenforced "}
"""What such a login is called before the word for its purpose."""


def demanding(kind: PolicyKind, spec: Mapping[str, Any], purpose: str) -> tuple[str, ...]:
    """Return the settings that ask something for a purpose, sorted."""
    return tuple(sorted(ask.path for ask in asks(kind, spec) if ask.purpose == purpose))


class Demand(NamedTuple):
    """An effective policy that demands something on a way, its fields that do, and whom they turn away."""

    kind: PolicyKind
    effective: Effective
    names: tuple[str, ...]
    turned_away: TurnedAway


class Guard:
    """Everything that serves one purpose on the ways to some routes of one side.

    Attributes:
        whole: whether all contexts could be looked at.
    """

    __slots__ = ("_by", "whole")

    def __init__(self, side: Simulation, purpose: str, routes: Collection[ResourceKey]) -> None:
        self._by: dict[_Place, Demand] = {}
        self.whole = True
        room = MOST_CONTEXTS
        for group in side.groups:
            names = demanding(group.kind, group.effective.spec, purpose)
            if not names or not _concerns(group, routes):
                continue
            asking = asked(group.kind, group.effective, side.world, side.catalog)
            turned_away = strongest(ask for ask in asking if ask.purpose == purpose)
            demand = Demand(group.kind, group.effective, names, turned_away)
            for path in islice(group.contexts(), room + 1):
                room -= 1
                place = _place(path)
                if place[1] is None or place[1].key in routes:
                    self._by.setdefault(place, demand)
            if room < 0:
                self.whole = False
                return

    def on(self, listener: Node, rule: Node) -> Demand | None:
        """Return the demand on the way through a listener to a rule: at the rule, at its route, or at the listener."""
        route = Node(rule.key, "", rule.key.kind)
        places: tuple[_Place, ...] = (
            (listener, rule),
            (None, rule),
            (listener, route),
            (None, route),
            (listener, None),
        )
        return next((demand for place in places if (demand := self._by.get(place)) is not None), None)


def _concerns(group: Group, routes: Collection[ResourceKey]) -> bool:
    """Return whether a group acts on some of the routes, or ends above all routes."""
    group_routes = group.routes()
    return not group_routes or any(route_key in routes for route_key in group_routes)


def _place(path: tuple[Node, ...]) -> _Place:
    """Return the last listener of a path, and its last rule or, failing that, its last route."""
    listener = below = None
    for node in path:
        if node.key.kind.endswith("Route"):
            below = node if node.section else Node(node.key, "", node.key.kind)
        elif node.section and below is None:
            listener = node
    return listener, below


def ways(state: RouteState) -> dict[Node, frozenset[Node]]:
    """Return the rules of a route that send requests to a backend, each with the listeners in front of it."""
    listeners = frozenset(node for parent in state.parents if parent.gateway is not None for node in parent.attached)
    if not listeners:
        return {}
    return {rule.node: listeners for rule in rules(state.route) if serves(rule.body)}


def serves(rule: Mapping[str, Any]) -> bool:
    """Return whether a rule sends requests on.

    Redirects need no authentication, and a filter of the implementation may demand it.
    """
    kinds = {mapping(route_filter).get("type") for route_filter in sequence(rule.get("filters"))}
    return bool(sequence(rule.get("backendRefs"))) and kinds.isdisjoint(_ANSWERING)
