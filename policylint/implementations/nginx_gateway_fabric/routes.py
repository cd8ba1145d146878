"""Overlap of routes: two routes with one path share one NGINX location, so a policy on one would leak.

Source: docs/design/implementations/kgateway-nginx-gloo.md §1.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.model import ResourceKey, mapping, sequence, text
from policylint.policy.results import PolicyState
from policylint.topology import Topology
from policylint.topology.state import RouteState

OVERLAP = "route-overlap"
"""The invalid_code of a policy whose target shares a location with another route."""
_KINDS = ("HTTPRoute", "GRPCRoute")
_Place = tuple[ResourceKey, str, int | None, str]
"""Gateway, accepted hostname, listener port, path value; hostnames are compared as they are written."""


class Overlaps:
    """Every route by the locations that it makes."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._routes: dict[_Place, set[ResourceKey]] = {}
        for route in topology.routes:
            if route.route.key.kind in _KINDS:
                for place in _places(route):
                    self._routes.setdefault(place, set()).add(route.route.key)

    def of(self, state: PolicyState) -> tuple[ResourceKey, ...]:
        """The routes that this policy does not target and that share a location with one that it does."""
        targeted = {node.key for target in state.targets for node in target.nodes if node.key.kind in _KINDS}
        routes = [route for key in targeted if (route := self._topology.route(key)) is not None]
        found = {rival for route in routes for place in _places(route) for rival in self._routes[place]}
        return tuple(sorted(found - targeted))


def _places(route: RouteState) -> Iterator[_Place]:
    paths = sorted(set(_paths(route)))
    for parent in route.parents:
        if parent.gateway is None or parent.wanted.kind != "Gateway":
            continue
        for candidate in parent.candidates:
            if candidate.failure:
                continue
            port = _port(candidate.holder.spec, candidate.pointer)
            for hostname in candidate.hostnames:
                for path in paths:
                    yield parent.gateway, hostname, port, path


def _port(spec: Any, pointer: tuple[str | int, ...]) -> int | None:
    """The port of the listener that a pointer of a candidate stands in: ("spec", "listeners", 0, …)."""
    listeners = sequence(mapping(spec).get("listeners"))
    index = pointer[2] if len(pointer) > 2 else None
    listener = mapping(listeners[index]) if isinstance(index, int) and index < len(listeners) else {}
    port = listener.get("port")
    return port if isinstance(port, int) else None


def _paths(route: RouteState) -> Iterator[str]:
    """The path of every match; the API server fills in `/` where a rule or match has none."""
    for rule in map(mapping, sequence(route.route.spec.get("rules"))):
        matches = sequence(rule.get("matches"))
        for match in map(mapping, matches or [{}]):
            if route.route.key.kind == "GRPCRoute":
                method = mapping(match.get("method"))
                service, name = text(method.get("service")), text(method.get("method"))
                yield f"/{service}/{name}" if service or name else "/"
            else:
                yield text(mapping(match.get("path")).get("value"), "/")
