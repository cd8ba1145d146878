"""Where a route's rules send requests: does the object exist, has it the port, may the route name it.

docs/design/request-precedence.md §6 and §7 (InvalidKind, RefNotPermitted, BackendNotFound); httproute_types.go
HTTPBackendRef.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import (
    GATEWAY_GROUP,
    Node,
    Resolution,
    Resource,
    ResourceKey,
    World,
    is_symbolic,
    mapping,
    sequence,
    text,
)
from policylint.namedtuple import NamedTuple
from policylint.topology.grants import Grants
from policylint.topology.references import backend_target, port_number, resolve
from policylint.topology.state import BackendState

SERVICE = ("", "Service")
SERVICE_IMPORT = ("multicluster.x-k8s.io", "ServiceImport")
BACKEND_KINDS: frozenset[tuple[str, str]] = frozenset(
    {
        SERVICE,
        SERVICE_IMPORT,
        ("gateway.networking.k8s.io", "Backend"),
        ("gateway.networking.x-k8s.io", "XBackend"),
        ("inference.networking.k8s.io", "InferencePool"),
        ("inference.networking.x-k8s.io", "InferencePool"),
        ("gateway.envoyproxy.io", "Backend"),
        ("aigateway.envoyproxy.io", "AIServiceBackend"),
        ("gateway.kgateway.dev", "Backend"),
        ("agentgateway.dev", "AgentgatewayBackend"),
        ("gloo.solo.io", "Upstream"),
        ("networking.istio.io", "ServiceEntry"),
        ("net.gke.io", "ServiceImport"),
    }
)
"""Kinds that a backendRef may name. Another kind counts too when an object of it is there."""
VIRTUAL_KINDS = (("networking.istio.io", "Hostname"),)
"""Kinds that a backendRef may name though no object of them exists."""
ROUTE_SELECTORS = (("delegation.kgateway.dev", "label"), ("delegation.gateway.solo.io", "label"))
"""Kinds that stand for «the routes with this label» in a backendRef."""
VIRTUAL = Resolution("unknown", "the reference names a host, no object")
FILTER_BACKENDS = (("requestMirror", "RequestMirror"), ("externalAuth", "ExternalAuth"))


class Port(NamedTuple):
    """One port of a Service or ServiceImport."""

    name: str
    number: int | None
    protocol: str


def ports(resource: Resource) -> list[Port]:
    """The ports of a Service or ServiceImport; nothing for other kinds."""
    return resource.once(_ports)


def _ports(resource: Resource) -> list[Port]:
    if (resource.key.group, resource.key.kind) not in (SERVICE, SERVICE_IMPORT):
        return []
    return [
        Port(text(each.get("name")), port_number(each.get("port")), text(each.get("protocol"), "TCP"))
        for each in map(mapping, sequence(resource.spec.get("ports")))
    ]


def port_node(key: ResourceKey, name: str) -> Node:
    """The node of a named port: `ServicePort shop/checkout#http`."""
    return Node(key, name, "ServicePort")


def is_delegation(key: ResourceKey) -> bool:
    """Whether a backendRef hands over to other routes instead of a Service."""
    return (key.group, key.kind) == (GATEWAY_GROUP, "HTTPRoute") or (key.group, key.kind) in ROUTE_SELECTORS


class Backends:
    """Judges the backendRefs of one world."""

    __slots__ = ("_grants", "_kinds", "_ports", "_world")

    def __init__(self, world: World, grants: Grants, kinds: Collection[tuple[str, str]] = BACKEND_KINDS) -> None:
        self._world = world
        self._grants = grants
        self._kinds = frozenset(kinds)
        self._ports: dict[ResourceKey, list[Port]] = {}

    def of_route(self, route: Resource, mesh_parents: Collection[ResourceKey] = ()) -> tuple[BackendState, ...]:
        """Every backendRef of a route, those of filters included.

        A mesh route may name its own parent Service in another namespace without a grant (test MeshConsumerRoute).
        What the other side of a diff found holds here too if every backend is the very same object and is granted.
        """
        known = route.once(_settled, self._kinds)
        if known and all(self._stands(route, each, mesh_parents) for each in known[0]):
            return known[0]
        found = tuple(self._judge(route, *each, mesh_parents) for each in _references(route))
        if route.answers is not None and all(self._stands(route, each, mesh_parents) for each in found):
            known[:] = [found]
        return found

    def _stands(self, route: Resource, state: BackendState, mesh_parents: Collection[ResourceKey]) -> bool:
        """Whether a state follows from the route, the object that it names, and a permission that is there."""
        resource = state.resolution.resource
        if resource is None or self._world.get(state.wanted) is not resource:
            return False
        return state.wanted in mesh_parents or self._grants.allows(route.key, state.wanted) is True

    def _judge(
        self,
        route: Resource,
        rule: int,
        pointer: Pointer,
        role: str,
        reference: Mapping[str, Any],
        mesh_parents: Collection[ResourceKey],
    ) -> BackendState:
        wanted, _, port = backend_target(reference, route.key.namespace)
        if is_delegation(wanted):
            return self._delegation(rule, pointer, role, wanted)
        resolution = VIRTUAL if (wanted.group, wanted.kind) in VIRTUAL_KINDS else resolve(self._world, wanted)
        granted = True if wanted in mesh_parents else self._grants.allows(route.key, wanted)
        found, section = self._port(resolution.resource, port, route.key.kind)
        reason = message = ""
        if self._invalid_kind(wanted, resolution):
            reason, message = "InvalidKind", f"{_kind(wanted)} is no kind of backend"
        elif granted is False:
            reason = "RefNotPermitted"
            message = f"no ReferenceGrant in namespace {wanted.namespace} lets {route.key} name {wanted}"
        elif resolution.missing:
            reason, message = "BackendNotFound", resolution.reason
        elif found is False:
            # No reason of the spec is for this: the object exists, requests fail (test goldens of Istio agree).
            message = f"{wanted} has no port {port}"
        return BackendState(role, pointer, rule, wanted, port, resolution, found, section, granted, reason, message)

    def _delegation(self, rule: int, pointer: Pointer, role: str, wanted: ResourceKey) -> BackendState:
        """A reference to routes: `*` and labels select any number of them, so none is missing."""
        if wanted.kind != "HTTPRoute" or wanted.name == "*":
            resolution = Resolution("found", "selects routes")
        else:
            resolution = resolve(self._world, wanted)
        reason = "BackendNotFound" if resolution.missing else ""
        message = resolution.reason if reason else ""
        return BackendState(role, pointer, rule, wanted, None, resolution, None, None, True, reason, message)

    def _invalid_kind(self, wanted: ResourceKey, resolution: Resolution) -> bool:
        if (wanted.group, wanted.kind) in self._kinds or resolution.unknown:
            return False
        if is_symbolic(wanted.group) or is_symbolic(wanted.kind):
            return False
        return not wanted.group or not self._world.of_kind(wanted.group, wanted.kind)

    def _port(self, service: Resource | None, number: int | None, route_kind: str) -> tuple[bool | None, Node | None]:
        """Whether a Service has a port, and its node where it is named; UDP before TCP only for UDPRoutes."""
        if service is None or number is None:
            return None, None
        known = self._ports.get(service.key)
        if known is None:
            known = self._ports[service.key] = ports(service)
        if not known:
            return None, None
        fitting = [each for each in known if each.number == number]
        if not fitting:
            return (None if any(each.number is None for each in known) else False), None
        protocol = "UDP" if route_kind == "UDPRoute" else "TCP"
        best = next((each for each in fitting if each.protocol == protocol), fitting[0])
        return True, port_node(service.key, best.name) if best.name else None


def _settled(route: Resource, kinds: frozenset[tuple[str, str]]) -> list[tuple[BackendState, ...]]:  # noqa: ARG001
    """Room for the states of a route's backends where nothing but these objects decides them; empty at first."""
    return []


def _references(route: Resource) -> Iterator[tuple[int, Pointer, str, Mapping[str, Any]]]:
    """(rule, pointer, role, reference) of every backendRef, in the order in which they are written."""
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
) -> Iterator[tuple[int, Pointer, str, Mapping[str, Any]]]:
    for index, each in enumerate(sequence(holder.get("filters"))):
        for field, role in FILTER_BACKENDS:
            reference = mapping(mapping(each).get(field)).get("backendRef")
            if isinstance(reference, dict):
                yield rule, (*pointer, "filters", index, field, "backendRef"), role, reference


def _kind(key: ResourceKey) -> str:
    return f"{key.kind}.{key.group}" if key.group else key.kind
