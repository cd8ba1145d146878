"""Which routes take the requests of a way, and to which backends these lead; where that is not known, all that may.

Whoever asks for the ways to a backend asks here: "not known" is not "none".
"""

from __future__ import annotations

from collections.abc import Mapping

from policylint.model import Resource, ResourceKey
from policylint.reach import Door, EntryPoint, Named, WayIn
from policylint.topology import Topology
from policylint.topology.hostnames import matches

Backend = tuple[ResourceKey, int | None]
"""What a route names, and the port of it."""


class Takers:
    """The routes of one environment by where requests come in."""

    def __init__(self, topology: Topology, named: Mapping[Door, Named]) -> None:
        self._topology = topology
        self._named = named

    def of(self, way: WayIn) -> list[Resource]:
        """Return the route that takes the requests of a way, or all that may.

        Of requests that cannot be told apart the way itself says so (`undecided`).
        """
        if way.trace.route is not None or not way.trace.outcome.unknown or way.undecided:
            return [] if way.trace.route is None else [way.trace.route]
        return self.at(way.entry)

    def at(self, entry: EntryPoint) -> list[Resource]:
        """Return the routes for a host where requests come in, all that are there if none is for it."""
        named = self._named.get((entry.gateway, entry.scheme, entry.port), {})
        hosts = [pattern for pattern in named if matches(entry.host, pattern)] or [*named]
        keys = dict.fromkeys(key for pattern in hosts for key in sorted(named[pattern]))
        return [state.route for key in keys if (state := self._topology.route(key)) is not None]

    def backends(self, way: WayIn) -> list[Backend]:
        """Return where the requests of a way go, or may go: what is behind its rule, or behind all of these routes."""
        trace = way.trace
        rule = trace.rule_pointer[2] if len(trace.rule_pointer) > 2 else None
        found: list[Backend] = [(share.key, share.port) for share in trace.outcome.shares]
        for route in self.of(way):
            found += self.behind(route, rule if route is trace.route else None)
        return found

    def behind(self, route: Resource, rule: object = None) -> list[Backend]:
        """Return the backends that a route names, or one of its rules; those of the routes below, too."""
        found: list[Backend] = []
        at, seen = [route.key], {route.key}
        while at:
            if (state := self._topology.route(at.pop())) is None:
                continue
            wanted = rule if state.route.key == route.key else None
            named = [each for each in state.backends if each.role == "backend" and wanted in (None, each.rule)]
            found += ((each.wanted, each.port) for each in named)
            at += {each.wanted for each in named} - seen
            seen.update(at)
        return found
