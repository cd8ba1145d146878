"""The backends that a route's rules name: whether the object exists, has the port, and may be named from there.

docs/design/request-precedence.md §6 and §7 (InvalidKind, RefNotPermitted, BackendNotFound); httproute_types.go
HTTPBackendRef.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policylint.documents import Pointer
from policylint.model import (
    GATEWAY_GROUP,
    Resolution,
    Resource,
    ResourceKey,
    World,
    is_symbolic,
    mapping,
    sequence,
    value_at,
)
from policylint.model.kinds import (
    BACKEND_KINDS,
    MESH_ROUTE,
    OF_PROVIDERS,
    ROUTE_SELECTORS,
    VIRTUAL_KINDS,
)
from policylint.topology.grants import Grants
from policylint.topology.references import backend_target, of_core, resolve, resolve_outer
from policylint.topology.service_ports import port_of
from policylint.topology.state import BackendRole, BackendState

if TYPE_CHECKING:
    from policylint.topology.workloads import Labels

LABELS = "podLabels"
"""The field of a lowered backend that holds the labels of the pods, of all those behind its Service, that are meant."""
VIRTUAL = Resolution("unknown", "the reference names a host, no object")
OWN_SERVICE = Resolution("found", "a service of the controller's own")
"""What `api@internal` names: the dashboard, and the like (traefik pkg/provider/kubernetes/gateway/httproute.go)."""
OF_ANOTHER_PROVIDER = Resolution("unknown", "a service of another of the controller's providers")
FILTER_BACKENDS: tuple[tuple[str, BackendRole], ...] = (
    ("requestMirror", "RequestMirror"),
    ("externalAuth", "ExternalAuth"),
)


def is_delegation(key: ResourceKey) -> bool:
    """Return whether a backendRef delegates to other routes instead of naming a backend."""
    return (key.group, key.kind) == (GATEWAY_GROUP, "HTTPRoute") or (key.group, key.kind) in ROUTE_SELECTORS


def labels_of(route: Resource, pointer: Pointer) -> Labels:
    """Return the labels of the pods behind a backend that are meant; () for all of them."""
    labels = mapping(mapping(value_at(route.body, pointer)).get(LABELS))
    return tuple((name, str(value)) for name, value in labels.items())


class Backends:
    """Works out the state of every backendRef of one world."""

    __slots__ = ("_grants", "_knows_group", "_world")

    def __init__(self, world: World, grants: Grants, knows_group: Callable[[str], bool]) -> None:
        self._world = world
        self._knows_group = knows_group
        self._grants = grants

    def of_route(self, route: Resource, mesh_parents: Collection[ResourceKey] = ()) -> tuple[BackendState, ...]:
        """Return the state of every backendRef of a route, those of its filters included.

        A mesh route may name its own parent Service in another namespace without a grant (test MeshConsumerRoute).
        The two sides of a diff share a route that is the same in both, so states worked out for one side are reused for
        the other where every backend is the very same object and still granted.
        """
        known = route.once(_state_slot)
        if known and all(self._reusable(route, state, mesh_parents) for state in known[0]):
            return known[0]
        states = tuple(self.state(route, *reference, mesh_parents) for reference in _references(route))
        if route.answers is not None and all(self._reusable(route, state, mesh_parents) for state in states):
            known[:] = [states]
        return states

    def _reusable(self, route: Resource, state: BackendState, mesh_parents: Collection[ResourceKey]) -> bool:
        """Return whether a state depends only on the route, the very object it names, and a grant that is present."""
        resource = state.resolution.resource
        if resource is None or self._world.get(state.wanted) is not resource:
            return False
        return self._allowed(route, state.wanted, mesh_parents) is True

    def _allowed(self, route: Resource, target: ResourceKey, mesh_parents: Collection[ResourceKey]) -> bool | None:
        """Return whether a route may name a backend; of a mesh's own kind, of which no grant speaks, it always may.

        Source: linkerd2 policy-controller/k8s/index/src/outbound/index/http.rs, convert_backend: it reads no grants.
        """
        free = target in mesh_parents or route.key[:2] == MESH_ROUTE
        return True if free else self._grants.allows(route.key, target)

    def state(
        self,
        route: Resource,
        rule: int,
        pointer: Pointer,
        role: BackendRole,
        reference: Mapping[str, Any],
        mesh_parents: Collection[ResourceKey],
    ) -> BackendState:
        wanted = backend_target(reference, route.key.namespace)
        target, _, port = of_core(wanted) if mesh_parents else wanted
        if is_delegation(target):
            return self._delegation(rule, pointer, role, target)
        resolution = _virtual(target) or resolve(self._world, target)
        is_backend = not self._invalid_kind(target, resolution)
        if is_backend and resolution.missing:
            resolution = resolve_outer(self._world, target)
        elif not is_backend and self._world.partial and "." in target.group and not self._knows_group(target.group):
            is_backend, resolution = True, Resolution("unknown", "a controller may accept kinds of its own")
        granted = self._allowed(route, target, mesh_parents)
        port_found, section = port_of(resolution.resource, port, route.key.kind)
        reason = message = ""
        if not is_backend:
            reason, message = "InvalidKind", f"{_kind(target)} is no kind of backend"
        elif granted is False:
            reason = "RefNotPermitted"
            message = f"no ReferenceGrant in namespace {target.namespace} lets {route.key} name {target}"
        elif resolution.missing:
            reason, message = "BackendNotFound", resolution.reason
        elif port_found is False:
            # No reason of the spec is for this: the object exists, requests fail (test goldens of Istio agree). Of an
            # authoriser it is BackendNotFound (test HTTPRouteExternalAuthBackendRefNotFound).
            reason = "BackendNotFound" if role == "ExternalAuth" else ""
            message = f"{target} has no port {port}"
        return BackendState(
            role, pointer, rule, target, port, resolution, port_found, section, granted, reason, message
        )._replace(open_port=is_symbolic(reference.get("port")))

    def _delegation(self, rule: int, pointer: Pointer, role: BackendRole, target: ResourceKey) -> BackendState:
        """Return the state of a reference to routes: `*` and labels select any number of them, so none is missing."""
        resolution = resolve_outer(self._world, target._replace(group=GATEWAY_GROUP, kind="HTTPRoute"))
        if resolution.missing and (target.kind != "HTTPRoute" or target.name == "*"):
            resolution = Resolution("found", "selects routes")
        reason, message = ("BackendNotFound", resolution.reason) if resolution.missing else ("", "")
        return BackendState(role, pointer, rule, target, None, resolution, None, None, True, reason, message)

    def _invalid_kind(self, target: ResourceKey, resolution: Resolution) -> bool:
        if target[:2] in BACKEND_KINDS or resolution.unknown or is_symbolic(target.group) or is_symbolic(target.kind):
            return False
        return not target.group or not self._world.of_kind(target.group, target.kind)


def _virtual(target: ResourceKey) -> Resolution | None:
    """Return what a reference resolves to that names no object, None for all others."""
    if target[:2] in VIRTUAL_KINDS:
        return VIRTUAL
    if target[:2] == OF_PROVIDERS and "@" in target.name:
        return OWN_SERVICE if target.name.endswith("@internal") else OF_ANOTHER_PROVIDER
    return None


def _state_slot(route: Resource) -> list[tuple[BackendState, ...]]:  # noqa: ARG001 - kept with the route
    """Return an empty slot for backend states that depend only on the objects themselves."""
    return []


def _references(route: Resource) -> Iterator[tuple[int, Pointer, BackendRole, Mapping[str, Any]]]:
    """Yield (rule, pointer, role, reference) for every backendRef, in written order."""
    for index, value in enumerate(sequence(route.spec.get("rules"))):
        rule = mapping(value)
        pointer: Pointer = ("spec", "rules", index)
        yield from _of_filters(index, pointer, rule)
        for number, reference in enumerate(sequence(rule.get("backendRefs"))):
            if isinstance(reference, dict):
                place = (*pointer, "backendRefs", number)
                yield index, place, "backend", reference
                yield from _of_filters(index, place, reference)


def _of_filters(
    rule: int, pointer: Pointer, holder: Mapping[str, Any]
) -> Iterator[tuple[int, Pointer, BackendRole, Mapping[str, Any]]]:
    for index, route_filter in enumerate(sequence(holder.get("filters"))):
        for field, role in FILTER_BACKENDS:
            reference = mapping(mapping(route_filter).get(field)).get("backendRef")
            if isinstance(reference, dict):
                yield rule, (*pointer, "filters", index, field, "backendRef"), role, reference


def _kind(key: ResourceKey) -> str:
    return f"{key.kind}.{key.group}" if key.group else key.kind
