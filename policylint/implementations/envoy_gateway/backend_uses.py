"""The backends that Envoy Gateway connects to, and on whose behalf: where a BackendTLSPolicy is used.

Source: docs/design/implementations/envoy-gateway.md §7.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import getitem
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.envoy_gateway.backend_faults import port_fault, protocol_of
from policylint.implementations.envoy_gateway.backends import ROLES, invalid, port_name
from policylint.implementations.envoy_gateway.cluster_dump import lacks_namespace
from policylint.implementations.envoy_gateway.content import refused_early
from policylint.implementations.envoy_gateway.managed import CONTROLLER, GROUP, Fleet, Scope, order, parent_scope
from policylint.implementations.envoy_gateway.references import unreachable
from policylint.implementations.envoy_gateway.routes import is_processed
from policylint.implementations.generic import walk
from policylint.model import ROUTE_KINDS, PolicyKind, Resource, ResourceKey, World, mapping, text
from policylint.namedtuple import NamedTuple
from policylint.topology import BackendState
from policylint.topology.grants import Grants
from policylint.topology.references import backend_target

KINDS = {("", "Service"), ("multicluster.x-k8s.io", "ServiceImport"), (GROUP, "Backend")}
ROUTE_ORDER = ("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute")
"""The order in which the controller goes through routes; it shows only where ancestors are too many."""


class Use(NamedTuple):
    """One connection to a backend.

    Args:
        key, port: the backend, and the name of its port (of a Backend the number); "" where it has none.
        ancestor: on whose behalf: a parentRef of a route as it is spelled, or the policy or EnvoyProxy that names it.
    """

    key: ResourceKey
    port: str
    ancestor: Scope
    controller: str


def uses(fleet: Fleet) -> Iterator[Use]:
    """Yield every use of a backend, in the controller's order."""
    yield from _of_routes(fleet)
    yield from _of_policies(fleet)
    yield from _of_proxies(fleet)


def _of_routes(fleet: Fleet) -> Iterator[Use]:
    for kind in ROUTE_ORDER:
        keys = [key for key in fleet.routes if key.kind == kind]
        states = [state for key in keys if (state := fleet.topology.route(key)) is not None]
        for state in sorted(states, key=lambda state: order(state.route)):
            backends = [each for each in state.backends if _usable(state.route, each, fleet.world)]
            for parent in fleet.routes[state.route.key]:
                for backend in backends:
                    port = port_name(fleet.world, backend.wanted, backend.port)
                    scope = parent_scope(parent)._replace(port=parent.port)
                    yield Use(backend.wanted, port, scope, fleet.controller(parent.wanted))


def _usable(route: Resource, backend: BackendState, world: World) -> bool:
    """Tell whether a backendRef leads to a connection: there, granted, with a port for the route, and weight."""
    if backend.role not in ROLES or (backend.wanted.group, backend.wanted.kind) not in KINDS:
        return False
    if not is_processed(backend, route, world):
        return False
    if port_fault(backend, protocol_of(route)) is not None or backend.granted is False:
        return False
    own = world.get(backend.wanted)
    if own is not None and invalid(own, world) is not None:
        return False
    reference: Any = reduce(getitem, backend.pointer, route.body)  # type: ignore[arg-type]
    return bool(mapping(reference).get("weight") != 0)


def _of_policies(fleet: Fleet) -> Iterator[Use]:
    """Yield authorisers, issuers and processors that SecurityPolicies and EnvoyExtensionPolicies in use call."""
    for name in ("SecurityPolicy", "EnvoyExtensionPolicy"):
        kind = fleet.catalog.get(GROUP, name)
        holders: dict[Scope, Resource] = {}
        for policy in sorted(fleet.world.of_kind(GROUP, name) if kind is not None else (), key=order):
            for scope in _scopes(fleet, policy, kind):
                if holders.setdefault(scope, policy) is policy and _translated(fleet, policy, scope):
                    parents = fleet.routes.get(scope.key)
                    yield from _of_spec(fleet, policy, fleet.controller(parents[0].wanted if parents else scope.key))


def _scopes(fleet: Fleet, policy: Resource, kind: PolicyKind | None) -> Iterator[Scope]:
    """Yield what a policy targets and what is there."""
    from policylint.implementations.envoy_gateway.selectors import targets

    if kind is not None:
        for target in targets(policy, kind, fleet.topology, Grants(fleet.world)):
            yield from (Scope(node.key, target.section) for node in target.nodes)


def _translated(fleet: Fleet, policy: Resource, scope: Scope) -> bool:
    """Tell whether what a policy calls is looked into for a target: of a route, where a listener is open to it."""
    if scope.key.kind not in ROUTE_KINDS:
        return scope.key in fleet.gateways or scope.key in fleet.listener_sets
    if refused_early(policy, scope.key.kind).code or lacks_namespace(fleet.world, scope.key.namespace):
        return False
    candidates = (each for parent in fleet.routes.get(scope.key, ()) for each in parent.candidates)
    return any(candidate.failure != "NotAllowedByListeners" for candidate in candidates)


def _of_proxies(fleet: Fleet) -> Iterator[Use]:
    """Yield collectors of telemetry that the EnvoyProxy of a class or Gateway in use names."""
    named: dict[ResourceKey, str] = {}
    for state in fleet.gateways.values():
        gateway_class, gateway = fleet.world.get(state.class_key), state.gateway
        of_class = mapping(gateway_class.spec.get("parametersRef")) if gateway_class is not None else {}
        own = mapping(mapping(gateway.spec.get("infrastructure")).get("parametersRef"))
        for reference, namespace in ((of_class, text(of_class.get("namespace"))), (own, gateway.key.namespace)):
            if text(reference.get("kind")) == "EnvoyProxy":
                named[ResourceKey(GROUP, "EnvoyProxy", namespace, text(reference.get("name")))] = state.controller
    for key, controller in sorted(named.items()):
        proxy = fleet.world.get(key)
        if proxy is not None:
            yield from _of_spec(fleet, proxy, controller or CONTROLLER)


def _of_spec(fleet: Fleet, holder: Resource, controller: str) -> Iterator[Use]:
    """Yield what an object calls; of several backends of one service, none after one that cannot be called."""
    broken: set[Pointer] = set()
    for pointer, reference in walk(holder.spec):
        if isinstance(reference, dict) and (pointer[-1:] == ("backendRef",) or pointer[-2:-1] == ("backendRefs",)):
            backend, _, port = backend_target(reference, holder.key.namespace)
            if not backend.name or backend[:2] not in KINDS or pointer[:-1] in broken:
                continue
            if unreachable(holder, backend, port, fleet.topology):
                broken.add(pointer[:-1])
            elif reference.get("weight") != 0:
                yield Use(backend, port_name(fleet.world, backend, port), Scope(holder.key), controller)
