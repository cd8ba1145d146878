"""Delegated routes: a rule whose backendRef names HTTPRoutes, by name, `*` or label (docs/design/interfaces.md §3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, World, is_symbolic, mapping, sequence, text
from policylint.topology.backends import ROUTE_SELECTORS, is_delegation
from policylint.topology.references import parent_target
from policylint.topology.state import Delegation, RouteState

LABELS = tuple(f"{group}/{kind}" for group, kind in ROUTE_SELECTORS)
INHERITING = tuple(f"{group}/inherit-parent-matcher" for group, _ in ROUTE_SELECTORS)
"""Annotations of a child whose paths are relative to its parent's."""
EVERY_NAMESPACE = "all"
_ANY_PATH: Mapping[str, Any] = {"path": {"type": "PathPrefix", "value": "/"}}
"""What a rule without matches matches."""


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

    def of(self, wanted: ResourceKey) -> list[Resource]:
        """The routes that a reference stands for."""
        if wanted.kind != "HTTPRoute":
            everywhere = wanted.namespace == EVERY_NAMESPACE
            found = self._by_label.get((f"{wanted.group}/{wanted.kind}", wanted.name), [])
            return [each for each in found if everywhere or each.key.namespace == wanted.namespace]
        if wanted.name == "*":
            return self._by_namespace.get(wanted.namespace, [])
        one = self._world.get(wanted)
        return [one] if one is not None else []


def delegations(world: World, routes: Iterable[RouteState]) -> list[Delegation]:
    """Every hand-over from a rule to another route, in the order of the routes; empty in most worlds, at no cost."""
    children: _Children | None = None
    found = []
    for state in routes:
        for backend in state.backends:
            if backend.role == "backend" and is_delegation(backend.wanted):
                children = children or _Children(world)
                for child in children.of(backend.wanted):
                    if _consents(child, state.route.key, backend.wanted.name == child.key.name):
                        found.append(Delegation(state.route.key, backend.rule, backend.pointer, child.key))
    return found


def without_cycles(found: list[Delegation]) -> list[Delegation]:
    """The same without those that lead back to a route above, so that every path ends."""
    children: dict[ResourceKey, list[Delegation]] = defaultdict(list)
    for each in found:
        children[each.parent].append(each)
    back = _back_edges(children)
    return [each for each in found if (each.parent, each.child) not in back]


def _back_edges(children: Mapping[ResourceKey, list[Delegation]]) -> set[tuple[ResourceKey, ResourceKey]]:
    """Depth first over the routes, without recursion: edges to a route that is still open close a cycle."""
    back: set[tuple[ResourceKey, ResourceKey]] = set()
    done: set[ResourceKey] = set()
    for start in sorted(children):
        if start in done:
            continue
        open_routes = {start}
        stack = [(start, iter(children[start]))]
        while stack:
            route, rest = stack[-1]
            for each in rest:
                if each.child in open_routes:
                    back.add((route, each.child))
                elif each.child not in done:
                    open_routes.add(each.child)
                    stack.append((each.child, iter(children.get(each.child, ()))))
                    break
            else:
                stack.pop()
                open_routes.discard(route)
                done.add(route)
    return back


def _consents(child: Resource, parent: ResourceKey, by_name: bool) -> bool:
    """Whether a route lets itself be delegated to: one that names parent routes takes only those.

    One that is merely matched by `*` or a label and has other parents is left to them.
    """
    if child.key == parent and not by_name:
        return False
    named = [parent_target(mapping(each), child.key.namespace).key for each in sequence(child.spec.get("parentRefs"))]
    routes = [each for each in named if (each.group, each.kind) == (GATEWAY_GROUP, "HTTPRoute")]
    if routes:
        return parent in routes
    return by_name or not named


def apart(parent: Resource, rule: int, child: Resource) -> bool:
    """Whether no request that a rule gets could be one for the route that it hands over to: no match of the one goes
    with a match of the other, by path and method.

    The controllers ask for more (all that the parent matches); where a route's paths are relative, nothing is said.
    """
    if any(_inherits(each) for each in (parent, child)):
        return False
    above = _matches(mapping(sequence(parent.spec.get("rules"))[rule]))
    below = [each for value in sequence(child.spec.get("rules")) for each in _matches(mapping(value))]
    return bool(below) and not any(_together(one, other) for one in above for other in below)


def _inherits(route: Resource) -> bool:
    return any(text(route.annotations.get(each)).lower() in ("true", "yes", "enabled") for each in INHERITING)


def _matches(rule: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [mapping(each) for each in sequence(rule.get("matches"))] or [_ANY_PATH]


def _together(above: Mapping[str, Any], below: Mapping[str, Any]) -> bool:
    methods = {method for method in (text(above.get("method")), text(below.get("method"))) if method}
    if len(methods) > 1:
        return False
    (type_above, wide), (type_below, narrow) = _path(above), _path(below)
    if type_above != "PathPrefix" or type_below not in ("PathPrefix", "Exact"):
        return True
    if is_symbolic(wide) or is_symbolic(narrow):
        return True
    return narrow.startswith(wide) or (type_below == "PathPrefix" and wide.startswith(narrow))


def _path(match: Mapping[str, Any]) -> tuple[str, str]:
    path = mapping(match.get("path"))
    return text(path.get("type"), "PathPrefix"), text(path.get("value"), "/")
