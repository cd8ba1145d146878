"""Which backends Envoy Gateway connects to, and on whose behalf: where a BackendTLSPolicy is used.

Source: docs/design/implementations/envoy-gateway.md §7.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.implementations.envoy_gateway.managed import CONTROLLER, GROUP, Fleet, Scope, order, parent_scope
from policylint.model import GATEWAY_GROUP, ROUTE_KINDS, Resource, ResourceKey, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.topology import BackendState
from policylint.topology.backends import ports
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
    """Every use of a backend, in the controller's order."""
    yield from _of_routes(fleet)
    yield from _of_policies(fleet)
    yield from _of_proxies(fleet)


def _of_routes(fleet: Fleet) -> Iterator[Use]:
    for kind in ROUTE_ORDER:
        keys = [key for key in fleet.routes if key.kind == kind]
        states = [state for key in keys if (state := fleet.topology.route(key)) is not None]
        for state in sorted(states, key=lambda each: order(each.route)):
            backends = [each for each in state.backends if _usable(state.route, each)]
            for parent in fleet.routes[state.route.key]:
                for backend in backends:
                    port = _port(fleet, backend.wanted, backend.port)
                    yield Use(backend.wanted, port, parent_scope(parent), fleet.controller(parent.wanted))


def _usable(route: Resource, backend: BackendState) -> bool:
    """Whether a backendRef leads to a connection: there, granted, its port there, and of some weight."""
    if backend.role not in ROLES or (backend.wanted.group, backend.wanted.kind) not in KINDS:
        return False
    if backend.reason or backend.port_found is False or backend.granted is False:
        return False
    value: Any = route.body
    for step in backend.pointer:
        value = value[step]
    return bool(mapping(value).get("weight") != 0)


def _port(fleet: Fleet, key: ResourceKey, number: int | None) -> str:
    if number is None:
        return ""
    if (key.group, key.kind) == (GROUP, "Backend"):
        return str(number)
    service = fleet.world.get(key)
    found = ports(service) if service is not None else []
    return next((each.name for each in found if each.number == number), "")


def _of_policies(fleet: Fleet) -> Iterator[Use]:
    """Authorisers, issuers and processors that SecurityPolicies and EnvoyExtensionPolicies in use call."""
    for kind in ("SecurityPolicy", "EnvoyExtensionPolicy"):
        for policy in sorted(fleet.world.of_kind(GROUP, kind), key=order):
            holder = _served(fleet, policy)
            if holder is not None:
                yield from _of_spec(fleet, policy, fleet.controller(holder))


def _served(fleet: Fleet, policy: Resource) -> ResourceKey | None:
    """A Gateway or ListenerSet that a policy reaches; None where it reaches none, by selectors any will do."""
    named = [mapping(policy.spec.get("targetRef")), *map(mapping, sequence(policy.spec.get("targetRefs")))]
    for each in named:
        key = ResourceKey(GATEWAY_GROUP, text(each.get("kind")), policy.key.namespace, text(each.get("name")))
        if key.kind in ROUTE_KINDS and key in fleet.routes:
            return fleet.routes[key][0].wanted
        if key in fleet.gateways or key in fleet.listener_sets:
            return key
    return next(iter(fleet.gateways), None) if policy.spec.get("targetSelectors") else None


def _of_proxies(fleet: Fleet) -> Iterator[Use]:
    """Collectors of telemetry that the EnvoyProxy of a class or Gateway in use names."""
    named: dict[ResourceKey, str] = {}
    for state in fleet.gateways.values():
        found = fleet.world.get(state.class_key)
        for reference, namespace in (
            (mapping(found.spec.get("parametersRef")) if found is not None else {}, ""),
            (
                mapping(mapping(state.gateway.spec.get("infrastructure")).get("parametersRef")),
                state.gateway.key.namespace,
            ),
        ):
            if text(reference.get("kind")) == "EnvoyProxy":
                place = namespace or text(reference.get("namespace"))
                named[ResourceKey(GROUP, "EnvoyProxy", place, text(reference.get("name")))] = state.controller
    for key, controller in sorted(named.items()):
        proxy = fleet.world.get(key)
        if proxy is not None:
            yield from _of_spec(fleet, proxy, controller or CONTROLLER)


def _of_spec(fleet: Fleet, holder: Resource, controller: str) -> Iterator[Use]:
    for reference in _references(holder.spec):
        wanted, _, port = backend_target(reference, holder.key.namespace)
        if wanted.name and (wanted.group, wanted.kind) in KINDS and not fleet.world.resolve(wanted).missing:
            yield Use(wanted, _port(fleet, wanted, port), Scope(holder.key), controller)


def _references(value: Any) -> Iterator[dict[str, Any]]:
    """Every `backendRef` and entry of `backendRefs` below a value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "backendRef" and isinstance(inner, dict):
                yield inner
            elif name == "backendRefs":
                yield from (each for each in sequence(inner) if isinstance(each, dict))
            else:
                yield from _references(inner)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)
