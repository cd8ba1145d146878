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
from policylint.topology import Condition, ListenerState, ParentState, Topology
from policylint.topology.routes import Rule, rules

Overlaps = Mapping[Node, Mapping[ResourceKey, list[list[str]]]]
"""By listener and route the names of those that take the same requests there, its own among them: one list for each set
of routes, which they share."""
_MOST_NAMED = 100
"""Other routes that a condition names; where all routes of a host overlap, all their names are the square of them."""


def overlaps(topology: Topology, isolation: Isolation) -> Overlaps:
    """Return the routes of each listener that share a match and a hostname."""
    listeners = chain.from_iterable(each.listeners for each in topology.gateways)
    of_sets = chain.from_iterable(each.listeners for each in topology.listener_sets)
    serving = {each.node for each in chain(listeners, of_sets) if _is_programmed(each)}
    buckets: dict[tuple[Node, str, Asked], set[ResourceKey]] = defaultdict(set)
    for state in topology.routes:
        if state.route.key.kind not in ("HTTPRoute", "GRPCRoute"):
            continue
        candidates = [each for parent in state.parents if parent.accepted for each in parent.candidates]
        candidates = [each for each in candidates if not each.failure and each.node in serving]
        rules_of_it = rules(state.route) if candidates else ()
        written = {key for rule in rules_of_it for key in _keys(state.route, rule, topology)}
        for candidate in candidates:
            for hostname in {*candidate.hostnames} - isolation.left_to_others(candidate):
                for key in written:
                    buckets[candidate.node, hostname, key].add(state.route.key)
    found: dict[Node, dict[ResourceKey, list[list[str]]]] = defaultdict(lambda: defaultdict(list))
    for node, routes in {(node, frozenset(routes)) for (node, _, _), routes in buckets.items() if len(routes) > 1}:
        names = sorted(map(str, routes))
        for route in routes:
            found[node][route].append(names)
    return found


def condition(route: Resource, parent: ParentState, found: Overlaps) -> Condition | None:
    """Return what is said of a route at a parent; None where no other route takes its requests there."""
    nodes = (each.node for each in parent.candidates if parent.accepted and not each.failure)
    alike = [names for node in nodes for names in found.get(node, {}).get(route.key, ())]
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
