"""Route parent status where Envoy Gateway says more than the spec (semantics §2): hostnames that another listener owns,
and ports that a Service has not (internal/gatewayapi/validate.go)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.implementations.envoy_gateway.switches import backend_off
from policylint.topology import BackendState, Candidate, Condition, ListenerState, ParentState, RouteState, Topology
from policylint.topology.hostnames import EVERY

WITH_PORTS = {("", "Service"), ("multicluster.x-k8s.io", "ServiceImport")}
NO_HOSTNAME = Condition(
    "Accepted",
    "False",
    "NoMatchingListenerHostname",
    "There were no hostname intersections between the route and this parent ref's Listener(s).",
)


def conditions(
    route: RouteState, parent: ParentState, topology: Topology, settings: Mapping[str, Any]
) -> tuple[Condition, ...]:
    """The conditions of a parentRef: Accepted by the hostnames that its listeners leave to it, ResolvedRefs by the
    first backendRef that fails, its port and the features that are off included."""
    replaced: dict[str, Condition] = {}
    first = next((found for each in route.backends if (found := _fault(each, settings)) is not None), None)
    if first is not None and (first.reason.startswith("Port") or first.reason == "UnsupportedValue"):
        replaced["ResolvedRefs"] = first
    if parent.accepted and EVERY not in route.hostnames and parent.attached and not _carried(parent, topology):
        replaced["Accepted"] = NO_HOSTNAME
    if not replaced:
        return parent.conditions
    return tuple(replaced.get(each.type, each) for each in parent.conditions)


def _carried(parent: ParentState, topology: Topology) -> bool:
    """Whether any listener has a hostname of the route that is not another listener's own on the same port."""
    return any(not each.failure and _left(each, topology) for each in parent.candidates)


def _left(candidate: Candidate, topology: Topology) -> bool:
    listener = topology.listener(candidate.node)
    if candidate.unknown or listener is None or listener.gateway is None:
        return True
    taken = {
        other.hostname
        for other in _listeners(topology, listener)
        if other.port == listener.port and other.node != listener.node and other.hostname
    }
    return not taken.issuperset(candidate.hostnames)


def _listeners(topology: Topology, listener: ListenerState) -> Iterator[ListenerState]:
    """All listeners of the Gateway that serves one."""
    gateway = None if listener.gateway is None else topology.gateway(listener.gateway)
    if gateway is None:
        return
    yield from gateway.listeners
    if gateway.attached_listener_sets:
        for each in topology.listener_sets:
            if each.parent == listener.gateway and each.allowed is not False:
                yield from each.listeners


def _fault(backend: BackendState, settings: Mapping[str, Any]) -> Condition | None:
    off = backend_off(backend, settings)
    if off is not None:
        return off
    reason, message = backend.reason, backend.message
    if not reason and (backend.wanted.group, backend.wanted.kind) in WITH_PORTS:
        if backend.port is None:
            reason = "PortNotSpecified"
            message = "A valid port number corresponding to a port on the Service must be specified"
        elif backend.port_found is False:
            reason = "PortNotFound"
            message = f"Port {backend.port} not found on {backend.wanted.kind} {backend.wanted.path}"
    return Condition("ResolvedRefs", "False", reason, message) if reason else None
