"""Delegated routes: a rule whose backendRef names HTTPRoutes, by name, `*` or label (docs/design/interfaces.md §3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, World, mapping, sequence
from policylint.model.kinds import ROUTE_SELECTORS
from policylint.topology.backends import is_delegation
from policylint.topology.references import parent_target
from policylint.topology.state import Delegation, RouteState

LABELS = tuple(f"{group}/{kind}" for group, kind in ROUTE_SELECTORS)
EVERY_NAMESPACE = "all"
MOST_LEVELS = 100
"""Levels of delegation that are followed: at each, what acts is merged with all that acts above it."""


class _Children:
    """The HTTPRoutes of a world by namespace and by delegation label."""

    __slots__ = ("_by_label", "_by_namespace", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_namespace: dict[str, list[Resource]] = defaultdict(list)
        self._by_label: dict[tuple[str, object], list[Resource]] = defaultdict(list)
        for route in world.of_kind(GATEWAY_GROUP, "HTTPRoute"):
            self._by_namespace[route.key.namespace].append(route)
            for label in LABELS:
                value = route.labels.get(label)
                if isinstance(value, str):
                    self._by_label[label, value].append(route)

    def of(self, reference: ResourceKey) -> list[Resource]:
        """Return the routes that a reference selects."""
        if reference.kind != "HTTPRoute":
            everywhere = reference.namespace == EVERY_NAMESPACE
            labelled = self._by_label.get((f"{reference.group}/{reference.kind}", reference.name), [])
            return [route for route in labelled if everywhere or route.key.namespace == reference.namespace]
        if reference.name == "*":
            return self._by_namespace.get(reference.namespace, [])
        route = self._world.get(reference)
        return [route] if route is not None else []


def delegations(world: World, routes: Iterable[RouteState]) -> list[Delegation]:
    """Return every delegation from a rule to another route, in the order of the routes; most worlds have none."""
    children: _Children | None = None
    delegated = []
    for state in routes:
        for backend in state.backends:
            if backend.role == "backend" and is_delegation(backend.wanted):
                children = children or _Children(world)
                for child in children.of(backend.wanted):
                    if _consents(child, state.route.key, backend.wanted.name == child.key.name):
                        delegated.append(Delegation(state.route.key, backend.rule, backend.pointer, child.key))
    return delegated


def within_levels(all_delegations: list[Delegation]) -> tuple[list[Delegation], list[Delegation]]:
    """Return the delegations that are followed, and those that lead further down, on whichever way."""
    below: dict[ResourceKey, list[ResourceKey]] = defaultdict(list)
    for delegation in without_cycles(all_delegations):
        below[delegation.parent].append(delegation.child)
    reached = below.keys() - {child for children in below.values() for child in children}
    for _ in range(MOST_LEVELS):
        reached = {child for parent in reached for child in below.get(parent, ())}
    further = [each for each in all_delegations if each.parent in reached]
    return [each for each in all_delegations if each.parent not in reached], further


def without_cycles(all_delegations: list[Delegation]) -> list[Delegation]:
    """Return the delegations without those that lead back to a route above, so that every path ends."""
    children: dict[ResourceKey, list[Delegation]] = defaultdict(list)
    for delegation in all_delegations:
        children[delegation.parent].append(delegation)
    back = _back_edges(children)
    return [delegation for delegation in all_delegations if (delegation.parent, delegation.child) not in back]


def _back_edges(children: Mapping[ResourceKey, list[Delegation]]) -> set[tuple[ResourceKey, ResourceKey]]:
    """Return the edges that close a cycle, found depth first without recursion: those to a route still open."""
    back: set[tuple[ResourceKey, ResourceKey]] = set()
    done: set[ResourceKey] = set()
    for start in sorted(children):
        if start in done:
            continue
        open_routes = {start}
        stack = [(start, iter(children[start]))]
        while stack:
            route, rest = stack[-1]
            for delegation in rest:
                if delegation.child in open_routes:
                    back.add((route, delegation.child))
                elif delegation.child not in done:
                    open_routes.add(delegation.child)
                    stack.append((delegation.child, iter(children.get(delegation.child, ()))))
                    break
            else:  # every child is done
                stack.pop()
                open_routes.discard(route)
                done.add(route)
    return back


def _consents(child: Resource, parent: ResourceKey, by_name: bool) -> bool:
    """Return whether a route accepts delegation from a parent: one that names parent routes takes only those.

    One that is merely matched by `*` or a label, and has other parents, is left to them.
    """
    if child.key == parent and not by_name:
        return False
    named = [
        parent_target(mapping(reference), child.key.namespace).key
        for reference in sequence(child.spec.get("parentRefs"))
    ]
    routes = [key for key in named if (key.group, key.kind) == (GATEWAY_GROUP, "HTTPRoute")]
    if routes:
        return parent in routes
    return by_name or not named
