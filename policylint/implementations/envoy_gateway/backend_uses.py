"""The backends that Envoy Gateway connects to, and on whose behalf: where a BackendTLSPolicy is used.

Source: docs/design/implementations/envoy-gateway.md §7.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import getitem
from typing import Any

from policylint.implementations.envoy_gateway.backends import invalid, port_name
from policylint.implementations.envoy_gateway.managed import CONTROLLER, GROUP, Fleet, Scope, order, parent_scope
from policylint.implementations.generic import walk
from policylint.model import GATEWAY_GROUP, ROUTE_KINDS, Resource, ResourceKey, World, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.topology import BackendState
from policylint.topology.references import backend_target

KINDS = {("", "Service"), ("multicluster.x-k8s.io", "ServiceImport"), (GROUP, "Backend")}
ROLES = ("backend", "RequestMirror")
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
                    yield Use(backend.wanted, port, parent_scope(parent), fleet.controller(parent.wanted))


def _usable(route: Resource, backend: BackendState, world: World) -> bool:
    """Tell whether a backendRef leads to a connection: there, granted, its port there, and of some weight."""
    if backend.role not in ROLES or (backend.wanted.group, backend.wanted.kind) not in KINDS:
        return False
    if backend.reason or backend.port_found is False or backend.granted is False:
        return False
    own = world.get(backend.wanted)
    if own is not None and invalid(own, world) is not None:
        return False
    reference: Any = reduce(getitem, backend.pointer, route.body)  # type: ignore[arg-type]
    return bool(mapping(reference).get("weight") != 0)


def _of_policies(fleet: Fleet) -> Iterator[Use]:
    """Yield authorisers, issuers and processors that SecurityPolicies and EnvoyExtensionPolicies in use call."""
    for kind in ("SecurityPolicy", "EnvoyExtensionPolicy"):
        for policy in sorted(fleet.world.of_kind(GROUP, kind), key=order):
            holder = _served(fleet, policy)
            if holder is not None:
                yield from _of_spec(fleet, policy, fleet.controller(holder))


def _served(fleet: Fleet, policy: Resource) -> ResourceKey | None:
    """Return a Gateway or ListenerSet that a policy reaches, None without one; for selectors any will do."""
    named = [mapping(policy.spec.get("targetRef")), *map(mapping, sequence(policy.spec.get("targetRefs")))]
    for reference in named:
        key = ResourceKey(GATEWAY_GROUP, text(reference.get("kind")), policy.key.namespace, text(reference.get("name")))
        if key.kind in ROUTE_KINDS and key in fleet.routes:
            return fleet.routes[key][0].wanted
        if key in fleet.gateways or key in fleet.listener_sets:
            return key
    return next(iter(fleet.gateways), None) if policy.spec.get("targetSelectors") else None


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
    for pointer, reference in walk(holder.spec):
        if isinstance(reference, dict) and (pointer[-1:] == ("backendRef",) or pointer[-2:-1] == ("backendRefs",)):
            backend, _, port = backend_target(reference, holder.key.namespace)
            if backend.name and (backend.group, backend.kind) in KINDS and not fleet.world.resolve(backend).missing:
                yield Use(backend, port_name(fleet.world, backend, port), Scope(holder.key), controller)
