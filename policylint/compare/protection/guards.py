"""What asks for a login or an allow-list, and on which ways to which rules of a route (GWP302).

A way is a listener and a rule behind it. What a setting is for, the catalog says; one that only switches something off
asks for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

from policylint.model import Node, PolicyKind, ResourceKey, mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.policy.declared import is_opt_out
from policylint.policy.results import Effective, Group
from policylint.simulation import Simulation
from policylint.topology import RouteState
from policylint.topology.routes import rules

MOST_CONTEXTS = 200_000
"""Beyond, nothing is said of ways that open."""
_ANSWERING = ("RequestRedirect", "ExtensionRef", "ExternalAuth")
"""Filters that answer by themselves or may ask for a login."""
_Place = tuple[Node | None, Node | None]
"""A listener and a rule or route; None for all there are."""


def purposes(kind: PolicyKind) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a kind can ask for, with the fields that do."""
    if kind.settings.authentication:
        yield "authentication", kind.settings.authentication
    if kind.settings.authorization:
        yield "authorization", kind.settings.authorization


def asking(spec: Mapping[str, Any], fields: Collection[str]) -> tuple[str, ...]:
    """Those of the fields that ask for something."""
    return tuple(sorted(name for name in fields if name in spec and not is_opt_out(spec[name])))


class Asked(NamedTuple):
    """Who asks on a way: the effective policy, and its fields that do."""

    kind: PolicyKind
    effective: Effective
    names: tuple[str, ...]


class Guard:
    """Everything that serves one purpose on the ways to some routes of one side.

    Attributes:
        whole: whether all contexts could be looked at.
    """

    __slots__ = ("_by", "whole")

    def __init__(self, side: Simulation, purpose: str, routes: Collection[ResourceKey]) -> None:
        self._by: dict[_Place, Asked] = {}
        self.whole = True
        room = MOST_CONTEXTS
        for group in side.groups:
            names = asking(group.effective.spec, dict(purposes(group.kind)).get(purpose, ()))
            if not names or not _concerns(group, routes):
                continue
            asked = Asked(group.kind, group.effective, names)
            for path in islice(group.contexts(), room + 1):
                room -= 1
                place = _place(path)
                if place[1] is None or place[1].key in routes:
                    self._by.setdefault(place, asked)
            if room < 0:
                self.whole = False
                return

    def on(self, listener: Node, rule: Node) -> Asked | None:
        """Who asks on the way through a listener to a rule: at the rule, at its route, or at the listener."""
        route = Node(rule.key, "", rule.key.kind)
        places: tuple[_Place, ...] = (
            (listener, rule),
            (None, rule),
            (listener, route),
            (None, route),
            (listener, None),
        )
        return next((found for place in places if (found := self._by.get(place)) is not None), None)


def _concerns(group: Group, routes: Collection[ResourceKey]) -> bool:
    """Whether a group acts on some of the routes, or ends above all routes."""
    behind = group.routes()
    return not behind or any(each in routes for each in behind)


def _place(path: tuple[Node, ...]) -> _Place:
    """The last listener of a path, and its last rule, else its last route."""
    listener = below = None
    for node in path:
        if node.key.kind.endswith("Route"):
            below = node if node.section else Node(node.key, "", node.key.kind)
        elif node.section and below is None:
            listener = node
    return listener, below


def ways(state: RouteState) -> dict[Node, frozenset[Node]]:
    """The rules of a route that hand requests to a backend, and the listeners in front of them."""
    listeners = frozenset(node for parent in state.parents if parent.gateway is not None for node in parent.attached)
    if not listeners:
        return {}
    written = sequence(state.route.spec.get("rules"))
    return {rule.node: listeners for rule in rules(state.route) if serves(mapping(written[rule.number]))}


def serves(rule: Mapping[str, Any]) -> bool:
    """Whether a rule hands requests on; redirects need no login. A filter of the implementation may ask for one."""
    kinds = {mapping(each).get("type") for each in sequence(rule.get("filters"))}
    return bool(sequence(rule.get("backendRefs"))) and kinds.isdisjoint(_ANSWERING)
