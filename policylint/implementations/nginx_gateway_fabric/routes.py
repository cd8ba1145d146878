"""Overlap of routes: two routes with one path share one NGINX location, so a policy on one would leak.

Source: docs/design/implementations/kgateway-nginx-gloo.md §1.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from policylint.catalog.kinds import Catalog
from policylint.implementations.nginx_gateway_fabric.attachment import usable_rules
from policylint.implementations.nginx_gateway_fabric.listeners import refusal
from policylint.model import ResourceKey, mapping, sequence, text
from policylint.policy.results import PolicyState
from policylint.topology import Topology
from policylint.topology.ancestry import implementation_of
from policylint.topology.state import RouteState

OVERLAP = "route-overlap"
"""The invalid_code of a policy whose target shares a location with another route."""
_KINDS = ("HTTPRoute", "GRPCRoute")
_OURS = "nginx-gateway-fabric"
_NOT_NAMED = ("InvalidKind", "RefNotPermitted")
"""Reasons for which a backend does not count as named."""
_Location = tuple[ResourceKey, str, int | None, str]
"""Gateway, accepted hostname, listener port, path value; hostnames are compared as they are written."""


class Overlaps:
    """The routes of a topology by the locations that they make, at the Gateways that are asked about."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._routes: dict[_Location, set[ResourceKey]] = {}
        self._at: dict[ResourceKey, list[RouteState]] = {}
        for route in topology.routes:
            if route.route.key.kind in _KINDS:
                for gateway in {parent.gateway for parent in route.parents if parent.gateway is not None}:
                    self._at.setdefault(gateway, []).append(route)

    def of(self, state: PolicyState) -> tuple[ResourceKey, ...]:
        """Return the routes that a policy does not target and that share a location with one that it does, sorted.

        Those of ListenerSets of the Gateway count; a route of another kind with the name of a target counts as one.
        """
        targeted = {node.key for target in state.targets for node in target.nodes if node.key.kind in _KINDS}
        routes = [route for key in targeted if (route := self._topology.route(key)) is not None]
        rivals = {rival for route in routes for location in _locations(route) for rival in self._sharing(location)}
        names = {key.path for key in targeted}
        return tuple(sorted(rival for rival in rivals if rival.path not in names))

    def _sharing(self, location: _Location) -> set[ResourceKey]:
        """Return the routes that make a location."""
        for route in self._at.pop(location[0], ()):
            for made in _locations(route):
                if made[0] == location[0]:
                    self._routes.setdefault(made, set()).add(route.route.key)
        return self._routes[location]


def referenced_services(topology: Topology, catalog: Catalog) -> dict[ResourceKey, tuple[ResourceKey, ...]]:
    """Return the Services that routes name, each with the Gateways that those name, attached or not.

    Gateways of other controllers do not count; one that was not seen may be ours. Nor do rules that cannot be used, and
    backends that a route may not name (buildReferencedServices).
    """
    found: dict[ResourceKey, dict[ResourceKey, None]] = {}
    for route in topology.routes:
        gateways = []
        for parent in route.parents:
            state = None if parent.gateway is None else topology.gateway(parent.gateway)
            if state is not None and implementation_of(state, catalog) in (None, _OURS) and refusal(state) is None:
                gateways.append(state.gateway.key)
        maybe = any(parent.resolution.unknown or parent.unseen is not None for parent in route.parents)
        usable = usable_rules(route.route, topology) if gateways or maybe else set()
        for backend in route.backends:
            if backend.rule in usable and backend.reason not in _NOT_NAMED:
                found.setdefault(backend.wanted, {}).update(dict.fromkeys(gateways))
    return {service: tuple(named) for service, named in found.items()}


def _locations(route: RouteState) -> Iterator[_Location]:
    paths = sorted(set(_paths(route)))
    for parent in route.parents:
        if parent.gateway is None or parent.mesh:
            continue
        for candidate in parent.candidates:
            if not candidate.failure:
                port = _port(candidate.holder.spec, candidate.pointer)
                yield from ((parent.gateway, *location) for location in product(candidate.hostnames, [port], paths))


def _port(spec: Any, pointer: tuple[str | int, ...]) -> int | None:
    """Return the port of the listener in which a candidate's pointer stands: ("spec", "listeners", 0, …)."""
    listeners = sequence(mapping(spec).get("listeners"))
    index = pointer[2] if len(pointer) > 2 else None
    listener = mapping(listeners[index]) if isinstance(index, int) and index < len(listeners) else {}
    port = listener.get("port")
    return port if isinstance(port, int) else None


def _paths(route: RouteState) -> Iterator[str]:
    """Yield the path of every match; the API server fills in `/` where a rule or match has none."""
    for rule in map(mapping, sequence(route.route.spec.get("rules"))):
        matches = sequence(rule.get("matches"))
        for match in map(mapping, matches or [{}]):
            if route.route.key.kind == "GRPCRoute":
                method = mapping(match.get("method"))
                service, name = text(method.get("service")), text(method.get("method"))
                yield f"/{service}/{name}" if service or name else "/"
            else:
                yield text(mapping(match.get("path")).get("value"), "/")
