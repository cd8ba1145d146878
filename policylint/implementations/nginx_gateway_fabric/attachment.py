"""What NGINX Gateway Fabric writes on the parents of a route, and which routes it serves where.

A parentRef without a section stands for one of each listener, and the first that fails gives the reason. A listener
that is not valid takes routes all the same, and the whole route is said to have an invalid listener for it. A route
that names one listener twice is not looked at.

Source: state/graph/{route_common,httproute,grpcroute,tlsroute}.go, status/prepare_requests.go @ e55bfe339, asked by
tests/witness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from policylint.implementations.nginx_gateway_fabric.listeners import CONTROLLERS, Standing, Standings
from policylint.implementations.nginx_gateway_fabric.proxy import effective_proxy
from policylint.implementations.nginx_gateway_fabric.refusals import match_fault, rule_fault, unread_fields
from policylint.model import Node, Resource, ResourceKey, mapping, sequence, text
from policylint.topology import BackendState, Candidate, Condition, ParentState, RouteState, Topology
from policylint.topology.routes import rules

_LEVEL_SEVEN = ("HTTPRoute", "GRPCRoute")
_INVALID_LISTENER = Condition("Accepted", "False", "InvalidListener", "The Listener is invalid for this parent ref")
_NO_PARENT = Condition("Accepted", "False", "NoMatchingParent", "Listener is not found for this parent ref")
SERVED = frozenset({"InvalidListener"})
"""Reasons for which a route is said not to be accepted that is served where a listener of it is valid."""


class ListenerBinding:
    """How the routes of a topology are bound to the listeners of the controller's Gateways.

    Attributes:
        standings: of these listeners.
    """

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self.standings = Standings(topology)
        self._gateways = {
            each.gateway.key
            for each in topology.gateways
            if not each.controller or each.controller.startswith(CONTROLLERS)
        }
        """Those that are the controller's, or may be: it has no say on the others."""
        self._last: tuple[RouteState, dict[str, Condition]] | None = None
        self._twice: dict[ResourceKey, str] = {}

    def conditions(self, route: RouteState, parent: ParentState) -> tuple[Condition, ...]:
        """Return the conditions of a parent of a route; those that topology writes where its Gateway was not seen."""
        gateway = self._topology.gateway(parent.gateway) if parent.gateway is not None else None
        if gateway is None or gateway.class_resolution.missing or parent.mesh:
            return parent.conditions
        if twice := self.names_twice(route):
            message = f"it names listener {twice} twice, and nothing is made of such a route"
            return (Condition("Accepted", "False", "UnsupportedValue", message),)
        own, attaches = self._told_of(route), _is_attachable(route)
        if attaches and any(self._has_invalid_listener(route, each) for each in route.parents):
            own["Accepted"] = _INVALID_LISTENER
        if attaches and (failure := self._failure(route, parent)) is not None:
            own["Accepted"] = failure
        told = {each.type: each for each in parent.conditions if each.type != "PartiallyInvalid"}
        told["Accepted"] = Condition("Accepted", "True", "Accepted")
        return tuple((told | own).values())

    def is_told(self, route: RouteState, parent: ParentState) -> bool:
        """Tell whether there is an entry for a parent: none where it names no listener of any."""
        if self.names_twice(route):
            return False
        return bool(parent.section or parent.port is not None or self._candidates(parent))

    def names_twice(self, route: RouteState) -> str:
        """Return a name for which two listeners of one parent stand in a route, "" for none; a port does not count.

        A Gateway's are those of the ListenerSets that it lets in as well, as far as these are valid.
        """
        if route.route.key not in self._twice:
            self._twice[route.route.key] = self._named_twice(route)
        return self._twice[route.route.key]

    def _named_twice(self, route: RouteState) -> str:
        counted: Counter[tuple[str, str]] = Counter()
        for parent in route.parents:
            if parent.section:
                counted[parent.wanted.path, parent.section] += 1
            elif parent.port is None:
                names = [candidate.node.section for candidate in self._candidates(parent)]
                gateway = self._topology.gateway(parent.wanted)
                standings = {} if gateway is None else self.standings.of(gateway)
                names += [
                    node.section
                    for node, standing in standings.items()
                    if standing.valid and node.key.kind != parent.wanted.kind
                ]
                counted.update((parent.wanted.path, name) for name in names)
        return next((name for (_, name), times in counted.items() if times > 1), "")

    def attached(self) -> Iterator[tuple[Node, RouteState, frozenset[str]]]:
        """Yield each route at each listener that it is bound to, with its hostnames there."""
        for route in self._routes:
            if _is_attachable(route) and not self.names_twice(route):
                parents = (parent for parent in route.parents if self._refused(route, parent) is None)
                for candidate in (each for parent in parents for each in self._candidates(parent)):
                    if self._takes(candidate):
                        yield candidate.node, route, frozenset(candidate.hostnames)

    def counts(self) -> Counter[Node]:
        """Return how many routes are bound to each listener, those included that are made for mirrors."""
        bound = {(node, route.route.key): route.route for node, route, _ in self.attached()}
        found: Counter[Node] = Counter()
        for (node, _), route in bound.items():
            found[node] += 1 + _mirrors(route, self._topology)
        return found

    def unbound(self) -> Iterator[tuple[Node, RouteState, frozenset[str]]]:
        """Yield each route at each listener that topology attaches it to and the controller does not."""
        bound = {(node, route.route.key) for node, route, _ in self.attached()}
        for route in self._routes:
            for candidate in (each for parent in route.parents for each in self._candidates(parent)):
                if not candidate.failure and (candidate.node, route.route.key) not in bound:
                    yield candidate.node, route, frozenset(candidate.hostnames)

    @cached_property
    def _routes(self) -> list[RouteState]:
        """The routes that name a Gateway of the controller."""
        routes = self._topology.routes
        return [each for each in routes if any(parent.gateway in self._gateways for parent in each.parents)]

    def _candidates(self, parent: ParentState) -> Sequence[Candidate]:
        """Return the listeners of a parent that are there for the controller: none of a Gateway that it refuses."""
        return [each for each in parent.candidates if self._standing(each.node) is not None]

    def _standing(self, node: Node) -> Standing | None:
        listener = self._topology.listener(node)
        if listener is None or listener.gateway is None or listener.gateway not in self._gateways:
            return None
        gateway = self._topology.gateway(listener.gateway)
        return None if gateway is None else self.standings.of(gateway).get(node)

    def _takes(self, candidate: Candidate) -> bool:
        standing = self._standing(candidate.node)
        return standing is not None and standing.attachable and not candidate.failure

    def _has_invalid_listener(self, route: RouteState, parent: ParentState) -> bool:
        """Tell whether a parent binds a route to listeners that are not valid: to any, for a port to these alone."""
        if self._refused(route, parent):
            return False
        valid = [self._is_valid(each.node) for each in self._candidates(parent) if self._takes(each)]
        by_port = parent.port is not None and not parent.section
        return bool(valid) and not (any(valid) if by_port else all(valid))

    def _is_valid(self, node: Node) -> bool:
        standing = self._standing(node)
        return standing is not None and standing.valid

    def _refused(self, route: RouteState, parent: ParentState) -> Condition | None:
        """Return why no listener of a parent is tried."""
        listener_set = self._topology.listener_set(parent.wanted)
        candidates = self._candidates(parent)
        if not candidates:
            return _NO_PARENT
        if listener_set is not None and not any(self._is_valid(each.node) for each in listener_set.listeners):
            return Condition("Accepted", "False", "InvalidListenerSet", f"{parent.wanted} is not valid")
        proxy = None if parent.gateway is None else effective_proxy(parent.gateway, self._topology)
        if route.route.key.kind == "GRPCRoute" and proxy is not None and proxy.get("disableHTTP2") is True:
            message = "HTTP2 is disabled - cannot configure GRPCRoutes"
            return Condition("Accepted", "False", "UnsupportedConfiguration", message)
        return None

    def _failure(self, route: RouteState, parent: ParentState) -> Condition | None:
        """Return why a route is not bound to any listener of a parent, None where it is."""
        refused = self._refused(route, parent)
        candidates = self._candidates(parent)
        if refused is not None or any(self._takes(each) for each in candidates):
            return refused
        attachable = [
            each for each in candidates if (standing := self._standing(each.node)) is not None and standing.attachable
        ]
        if parent.port is not None and not parent.section and attachable:
            # all listeners of a port at once: the furthest test that one of them fails
            furthest = max(attachable, key=lambda each: each.failure != "NotAllowedByListeners")
            return Condition("Accepted", "False", furthest.failure, furthest.message)
        first = candidates[0]
        if first not in attachable:
            return _INVALID_LISTENER
        return Condition("Accepted", "False", first.failure, first.message)

    def _told_of(self, route: RouteState) -> dict[str, Condition]:
        """Return what is said of a route whatever its parents are, by type; the last one of a type counts."""
        if self._last is None or self._last[0] is not route:  # asked parent by parent
            self._last = route, dict(self._of_route(route))
        return dict(self._last[1])

    def _of_route(self, route: RouteState) -> Iterator[tuple[str, Condition]]:
        resource = route.route
        if unread := unread_fields(resource):
            yield "Accepted", Condition("Accepted", "True", "UnsupportedField", f"{unread[0]} is not read")
        if resource.key.kind in _LEVEL_SEVEN:
            faults = list(_faults(resource, self._topology))
            invalid = [why for _, why, is_invalid in faults if is_invalid]
            usable = {rule.number for rule in rules(resource)}.difference(rule for rule, _, _ in faults)
            if invalid and usable:
                yield "PartiallyInvalid", Condition("PartiallyInvalid", "True", "UnsupportedValue", invalid[0])
            elif invalid:
                message = f"All rules are invalid: {invalid[0]}"
                yield "Accepted", Condition("Accepted", "False", "UnsupportedValue", message)
            if unresolved := [why for _, why, is_invalid in faults if not is_invalid]:
                yield "ResolvedRefs", Condition("ResolvedRefs", "False", "InvalidFilter", unresolved[0])
            else:
                yield "ResolvedRefs", Condition("ResolvedRefs", "True", "ResolvedRefs")
        elif not _is_attachable(route):
            message = "it must have one rule with one backend, and nothing is made of any other"
            if any(len(self._candidates(each)) > 1 and not each.section for each in route.parents):
                message += "; its controller ends in a panic over it, as one parentRef stands for several listeners"
            yield "ResolvedRefs", Condition("ResolvedRefs", "False", "UnsupportedValue", message)
            return
        else:
            yield "ResolvedRefs", Condition("ResolvedRefs", "True", "ResolvedRefs")
            usable = {0}
        for backend in _as_looked_at(route.backends):
            if backend.reason and backend.rule in usable:
                yield "ResolvedRefs", Condition("ResolvedRefs", "False", backend.reason, backend.message)


def usable_rules(route: Resource, topology: Topology) -> set[int]:
    """Return the rules of which the backends are looked at: of one for TCP or UDP the first."""
    if route.key.kind not in _LEVEL_SEVEN:
        return {0}
    return {rule.number for rule in rules(route)}.difference(rule for rule, _, _ in _faults(route, topology))


def is_useless(route: Resource, topology: Topology) -> bool:
    """Tell whether no rule of a route can be used, so that no policy is attached to it."""
    if route.key.kind not in _LEVEL_SEVEN:
        return False
    faults = list(_faults(route, topology))
    return any(is_invalid for _, _, is_invalid in faults) and len({rule for rule, _, _ in faults}) == len(rules(route))


def _is_attachable(route: RouteState) -> bool:
    """Tell whether a route is bound to listeners: one for TLS has one rule with one backend."""
    bodies = [rule.body for rule in rules(route.route)]
    if route.route.key.kind != "TLSRoute":
        return bool(bodies) or route.route.key.kind in _LEVEL_SEVEN
    return len(bodies) == 1 and len(sequence(bodies[0].get("backendRefs"))) == 1


def _faults(route: Resource, topology: Topology) -> Iterator[tuple[int, str, bool]]:
    """Yield the rules of a route that cannot be used, with why, and whether they are invalid or lack a filter."""
    grpc = route.key.kind == "GRPCRoute"
    for rule in rules(route):
        if why := match_fault(rule.body, grpc=grpc):
            yield rule.number, why, True
        fault = rule_fault(route, rule.body, topology)
        if fault is not None:
            yield rule.number, fault.message, fault.invalid


def _as_looked_at(backends: Iterable[BackendState]) -> list[BackendState]:
    """Return backends in their order: of each rule its own before those of its filters."""
    return sorted(backends, key=lambda backend: (backend.rule, backend.role != "backend"))


def _mirrors(route: Resource, topology: Topology) -> int:
    """Return how many routes the controller makes for the mirrors of a route, each of which counts as attached."""
    made = {
        (rule.number, text(to.get("namespace"), route.key.namespace), text(to.get("name")))
        for rule in rules(route)
        for each in map(mapping, sequence(rule.body.get("filters")))
        if (to := mapping(mapping(each.get("requestMirror")).get("backendRef")))
        and rule_fault(route, rule.body, topology) is None
    }
    return len(made)
