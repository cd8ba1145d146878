"""Narrower policies that override a broader one, as the controller writes it down.

Source: docs/design/implementations/envoy-gateway.md §4 and §5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from policylint.implementations.envoy_gateway.managed import Fleet, Scope
from policylint.model import ResourceKey
from policylint.topology import Condition


class Overrides:
    """The edges from broader to narrower scopes, recorded while policies are processed.

    It does not matter whether a broader policy is there to be overridden; a route's policy counts even when refused.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._routes: dict[Scope, set[str]] = defaultdict(set)
        self._merged: dict[Scope, set[str]] = defaultdict(set)
        self._listeners: dict[ResourceKey, set[str]] = defaultdict(set)
        self._sets: dict[ResourceKey, set[ResourceKey]] = defaultdict(set)
        self._known_sets: dict[ResourceKey, set[ResourceKey]] = defaultdict(set)

    def by_route(self, parent: Scope, route: ResourceKey) -> None:
        """Record a policy on a route, or on a rule of it, seen from a parentRef as it is spelled."""
        self._routes[parent].add(route.path)
        self._know(parent.key)

    def merged(self, parent: Scope, route: ResourceKey) -> None:
        """Record that the policy that holds `parent` was merged into that of a route."""
        self._merged[parent].add(route.path)

    def by_scope(self, scope: Scope) -> None:
        """Record a policy on a ListenerSet or on a listener."""
        if scope.section:
            self._listeners[scope.key].add(scope.path)
            self._know(scope.key)
        else:
            gateway = self._fleet.gateway_of(scope.key)
            if gateway != scope.key:
                self._sets[gateway].add(scope.key)

    def _know(self, key: ResourceKey) -> None:
        gateway = self._fleet.gateway_of(key)
        if gateway != key:
            self._known_sets[gateway].add(key)

    def merging(self, scope: Scope, kinds: str) -> Condition | None:
        """Return Merged, for the policy of a scope that others merged into theirs; None for any other."""
        routes = self._merged.get(scope)
        if not routes:
            return None
        message = f"This policy is being merged by other {kinds} for these routes: {_listed(routes)}"
        return Condition("Merged", "True", "Merged", message)

    def overridden(self, scope: Scope, kinds: str) -> Condition | None:
        """Return Overridden, for a policy of a Gateway, ListenerSet or listener, apart from what merged it."""
        below: set[ResourceKey] = set() if scope.section else self._known_sets.get(scope.key, set())
        listeners = set() if scope.section else self._listeners.get(scope.key, set())
        of_sets = {path for key in below for path in self._listeners.get(key, ())}
        sets = set() if scope.section else {key.path for key in self._sets.get(scope.key, ())}
        routes = set(self._routes.get(Scope(scope.key), ())) | self._routes.get(scope, set())
        if not scope.section:
            above = {scope.key, *below}
            routes.update(*(paths for parent, paths in self._routes.items() if parent.key in above))
        routes -= self._merged.get(scope, set())
        on_gateway = self._fleet.gateway_of(scope.key) == scope.key
        parts = [
            ("gateway listeners" if on_gateway else "listenerset listeners", listeners),
            ("listenersets", sets),
            ("listenerset listeners", of_sets),
            ("routes", routes),
        ]
        named = [f"these {sort}: {_listed(paths)}" for sort, paths in parts if paths]
        if not named:
            return None
        return overridden(kinds, " and ".join(named))


def overridden(kinds: str, by: str) -> Condition:
    message = f"This policy is being overridden by other {kinds} for {by}"
    return Condition("Overridden", "True", "Overridden", message)


def _listed(names: Iterable[str]) -> str:
    return f"[{' '.join(sorted(names))}]"
