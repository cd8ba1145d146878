"""Parents of routes as kgateway reports them.

All listeners of a Gateway or ListenerSet are asked for the kind and namespace of a route before the one that it names
is looked for. Where those that take the route do not stand, nothing is said. Backends are looked up where one does; of
those that fail, the last one is said.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.8; pkg/kgateway/query/route.go and translator/httproute
(2.4).
"""

from __future__ import annotations

from policylint.implementations.kgateway.listeners import Fates, has_one_rule
from policylint.model import Resource, is_symbolic, mapping, value_at
from policylint.model.kinds import SERVICE
from policylint.topology import BackendState, Condition, ListenerState, ParentState, RouteState, Topology
from policylint.topology.backends import is_delegation
from policylint.topology.namespaces import admits
from policylint.topology.status import RESOLVED

_BACKEND = ("gateway.kgateway.dev", "Backend")
_KINDS = (
    SERVICE,
    _BACKEND,
    ("networking.istio.io", "ServiceEntry"),
    ("networking.istio.io", "Hostname"),
    ("inference.networking.k8s.io", "InferencePool"),
)
OF_CONNECTIONS = ("TCPRoute", "TLSRoute")


def conditions(route: RouteState, parent: ParentState, fates: Fates, topology: Topology) -> tuple[Condition, ...]:
    """Return the topology's conditions with kgateway's reasons."""
    told = []
    for each in parent.conditions:
        if each.type == "Accepted":
            each = _accepted(each, route, parent, topology)
        elif each.type == "ResolvedRefs":
            each = _resolved(route, parent, fates, topology)
        told.append(each)
    return tuple(told)


def is_told_of(route: Resource, parent: ParentState, fates: Fates, topology: Topology) -> bool:
    """Tell whether anything is said of a parent: why it refuses the route, or that a listener that stands takes it.

    Of a route of connections with several rules nothing is said where it has a listener to itself.
    """
    gateway = None if parent.gateway is None else topology.gateway(parent.gateway)
    if gateway is None or not parent.attached:
        return True
    of_listeners = fates.of(gateway)
    standing = [node for node in parent.attached if node in of_listeners and of_listeners[node].stands]
    if route.key.kind not in OF_CONNECTIONS or has_one_rule(route):
        return bool(standing)
    return any(route.key not in fates.chosen(node) for node in standing)


def _accepted(condition: Condition, route: RouteState, parent: ParentState, topology: Topology) -> Condition:
    holder = topology.listener_set(parent.wanted) or topology.gateway(parent.wanted)
    failed = all(each.failure for each in parent.candidates)
    if holder is None or condition.status != "False" or not failed:
        return condition
    asked = [each for each in holder.listeners if _takes(each, route, topology)]
    if not asked:
        message = f"no listener of {parent.wanted} allows {route.route.key}"
        return Condition("Accepted", "False", "NotAllowedByListeners", message)
    named = {each.node for each in parent.candidates}
    if not any(each.node in named for each in asked):
        message = f"no listener of {parent.wanted} that allows {route.route.key} is {parent.text}"
        return Condition("Accepted", "False", "NoMatchingParent", message)
    return Condition("Accepted", "False", "NoMatchingListenerHostname", condition.message)


def _takes(listener: ListenerState, route: RouteState, topology: Topology) -> bool:
    """Tell whether a listener allows the kind and the namespace of a route, or may."""
    if route.route.key.kind not in listener.supported_kinds:
        return False
    written = mapping(mapping(value_at(listener.holder.body, listener.pointer)).get("allowedRoutes"))
    home, namespace = listener.holder.key.namespace, route.route.key.namespace
    return admits(topology.world, mapping(written.get("namespaces")), "Same", home, namespace).allowed is not False


def _resolved(route: RouteState, parent: ParentState, fates: Fates, topology: Topology) -> Condition:
    """Return ResolvedRefs: of routes of connections for all parents of a Gateway, as soon as one takes the route."""
    streams = route.route.key.kind in OF_CONNECTIONS
    parents = [each for each in route.parents if each.gateway == parent.gateway] if streams else [parent]
    if not any(translates(each, route, fates, topology) for each in parents):
        return RESOLVED
    faults = [fault for each in route.backends if (fault := fault_of(each)) is not None]
    return Condition("ResolvedRefs", "False", *faults[-1]) if faults else RESOLVED


def translates(
    parent: ParentState, route: RouteState, fates: Fates, topology: Topology, *, served: bool = False
) -> bool:
    """Tell whether the controller makes something of a route at a parent.

    Args:
        served: whether only listeners count that serve anything, whose certificates are there.
    """
    gateway = None if parent.gateway is None else topology.gateway(parent.gateway)
    if gateway is None or gateway.class_resolution.missing:
        return False
    of_listeners = fates.of(gateway)
    return any(
        fates.translates(route.route, node, of_listeners[node]) and (of_listeners[node].is_programmed or not served)
        for node in parent.attached
        if node in of_listeners
    )


def fault_of(backend: BackendState) -> tuple[str, str] | None:
    """Return what the controller has against a backend; mirrors fail otherwise."""
    if backend.role != "backend":
        return None
    if is_delegation(backend.wanted):
        return (backend.reason, backend.message) if backend.reason else None
    if backend.granted is False:
        return "RefNotPermitted", backend.message
    kind = backend.wanted[:2]
    if kind not in _KINDS and not is_symbolic(kind[0]) and not is_symbolic(kind[1]):
        return "InvalidKind", f"{backend.wanted.kind} is no kind of backend that kgateway reads"
    if backend.reason:
        return backend.reason, backend.message
    if backend.port_found is False or (backend.wanted[:2] == _BACKEND and backend.port is not None):
        return "BackendNotFound", backend.message or f"{backend.wanted} has no ports of its own"
    return None
