"""Delegated routes: a rule whose backendRef names HTTPRoutes, by name, `*` or label (interfaces.md, «Context»)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, World, mapping, sequence
from policylint.topology.backends import is_delegation
from policylint.topology.references import parent_target
from policylint.topology.state import Delegation, RouteState

LABEL = "delegation.kgateway.dev/label"
EVERY_NAMESPACE = "all"


class _Children:
    """The HTTPRoutes of a world by namespace and by delegation label."""

    __slots__ = ("_by_label", "_by_namespace", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_namespace: dict[str, list[Resource]] = defaultdict(list)
        self._by_label: dict[object, list[Resource]] = defaultdict(list)
        for route in world.of_kind(GATEWAY_GROUP, "HTTPRoute"):
            self._by_namespace[route.key.namespace].append(route)
            label = route.labels.get(LABEL)
            if isinstance(label, str):
                self._by_label[label].append(route)

    def of(self, wanted: ResourceKey) -> list[Resource]:
        """The routes that a reference stands for."""
        if wanted.kind != "HTTPRoute":
            everywhere = wanted.namespace == EVERY_NAMESPACE
            found = self._by_label.get(wanted.name, [])
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
