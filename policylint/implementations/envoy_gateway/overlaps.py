"""Routes of which rules match the same requests at a listener: Envoy Gateway says so in a condition of its own.

Source: internal/gatewayapi/route.go @ v1.9.1, checkRouteOverlaps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import chain, islice

from policylint.implementations.envoy_gateway.isolation import Isolation
from policylint.implementations.envoy_gateway.listener_faults import PARTLY
from policylint.implementations.envoy_gateway.rule_faults import drops, named_filter
from policylint.implementations.generic.calls import by_path
from policylint.matches import Asked, matches
from policylint.model import Node, Resource, ResourceKey, mapping, sequence
from policylint.topology import Candidate, Condition, ListenerState, ParentState, Topology
from policylint.topology.routes import Rule, rules

_MOST_NAMED = 100
"""Other routes that a condition names; where all routes of a host overlap, all their names are the square of them."""


class Overlapping:
    """The routes of listeners that share a match and a hostname; others stay unread."""

    def __init__(self, topology: Topology, isolation: Isolation) -> None:
        self._topology, self._isolation = topology, isolation
        listeners = chain.from_iterable(each.listeners for each in topology.gateways)
        of_sets = chain.from_iterable(each.listeners for each in topology.listener_sets)
        serving = {each.node for each in chain(listeners, of_sets) if _is_programmed(each)}
        self._serving: dict[Node, list[tuple[Resource, Candidate]]] = defaultdict(list)
        for state in topology.routes:
            if state.route.key.kind in ("HTTPRoute", "GRPCRoute"):
                for each in chain.from_iterable(parent.candidates for parent in state.parents if parent.accepted):
                    if not each.failure and each.node in serving:
                        self._serving[each.node].append((state.route, each))
        self._written: dict[ResourceKey, set[Asked]] = {}
        self._known: dict[Node, Mapping[ResourceKey, list[list[str]]]] = {}

    def at(self, node: Node) -> Mapping[ResourceKey, list[list[str]]]:
        """Return by route of a listener the names of those that take the same requests there, its own among them: one
        list for each set of routes, which they share."""
        if node not in self._known:
            self._known[node] = self._at(node)
        return self._known[node]

    def _at(self, node: Node) -> Mapping[ResourceKey, list[list[str]]]:
        buckets: dict[tuple[str, Asked], set[ResourceKey]] = defaultdict(set)
        for route, candidate in self._serving.get(node, ()):
            for hostname in {*candidate.hostnames} - self._isolation.left_to_others(candidate):
                for asked in self._asked(route):
                    buckets[hostname, asked].add(route.key)
        found: dict[ResourceKey, list[list[str]]] = defaultdict(list)
        for routes in {frozenset(routes) for routes in buckets.values() if len(routes) > 1}:
            names = sorted(map(str, routes))
            for key in routes:
                found[key].append(names)
        return found

    def _asked(self, route: Resource) -> set[Asked]:
        if route.key not in self._written:
            self._written[route.key] = {key for rule in rules(route) for key in _keys(route, rule, self._topology)}
        return self._written[route.key]


def condition(route: Resource, parent: ParentState, found: Overlapping) -> Condition | None:
    """Return what is said of a route at a parent; None where no other route takes its requests there."""
    nodes = (each.node for each in parent.candidates if parent.accepted and not each.failure)
    alike = [names for node in nodes for names in found.at(node).get(route.key, ())]
    own, most = str(route.key), _MOST_NAMED + 1
    others = sorted({name for names in alike for name in islice(names, most + 1)} - {own})
    named = others[:_MOST_NAMED] + (["…"] if len(others) > _MOST_NAMED else [])
    message = f"Overlapping match conditions with route(s): {', '.join(named)}"
    return Condition("RouteRulesOverlap", "True", "RouteRulesOverlap", message) if others else None


def _is_programmed(listener: ListenerState) -> bool:
    """Tell whether the controller, which has been asked about its conditions, makes a listener of Envoy of it."""
    told = {(each.type, each.status): each.reason for each in listener.conditions}
    return ("Accepted", "True") in told and told.get(("ResolvedRefs", "False"), PARTLY) == PARTLY


def _keys(route: Resource, rule: Rule, topology: Topology) -> set[Asked]:
    """Return what the matches of a rule ask for; nothing for one that is left out, or that its filters narrow."""
    filters = (named_filter(route, each) for each in map(mapping, sequence(rule.body.get("filters"))))
    extensions = [topology.world.get(key) for key in filters if key is not None]
    if drops(route, rule) or any(each is not None and each.spec.get("matches") for each in extensions):
        return set()
    grpc = route.key.kind == "GRPCRoute"
    return {(by_path(match) if grpc else match).asked for match in matches(rule.body, grpc=grpc)}
