"""Route parents as istiod reports them where it says more than the spec.

Source: docs/design/implementations/istio.md §8, end; gateway/{conditions,conversion,route_collections}.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.route_hosts import shares_host
from policylint.implementations.istio.labels import OWN_CLASSES, is_istio
from policylint.implementations.istio.listeners import is_parent
from policylint.implementations.istio.route_backends import BackendFault, backend_fault
from policylint.model import Node, Resource, mapping, sequence, text
from policylint.topology import Candidate, Condition, ParentState, RouteState, Topology, whole
from policylint.topology.status import RESOLVED

_HEADERS = ("RequestHeaderModifier", "ResponseHeaderModifier")
_FILTERS = {
    "HTTPRoute": (*_HEADERS, "RequestRedirect", "RequestMirror", "URLRewrite", "CORS"),
    "GRPCRoute": (*_HEADERS, "RequestMirror"),
}
"""What istiod translates; any other filter stops the whole route, and so does one of a backend but for headers."""
_NOT_ALLOWED = "NotAllowedByListeners"
_NO_HOSTNAME = "NoMatchingListenerHostname"


def conditions(route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
    """Return the topology's conditions with Istio's reasons: the listener that refused, and the backends."""
    own = {"ResolvedRefs": _resolved(route, topology, parent.mesh)}
    return tuple(
        _accepted(each, route, parent, topology) if each.type == "Accepted" else own.get(each.type, each)
        for each in parent.conditions
    )


def _accepted(condition: Condition, route: RouteState, parent: ParentState, topology: Topology) -> Condition:
    """Return Accepted: Istio asks a listener for the hostname, then for namespace and kind (referenceAllowed).

    It reports a listener that does not allow the route before hostnames (createRouteStatus), and asks those alone that
    it makes something of. A Service or ServiceEntry only has to be there, whatever port the route names.
    """
    if parent.mesh and parent.resolution.found and condition.reason == "NoMatchingParent":
        return Condition("Accepted", "True", "Accepted")
    asked = [each for each in parent.candidates if _is_asked(each, topology)]
    if len(asked) == len(parent.candidates):
        if condition.status != "False" or condition.reason not in (_NOT_ALLOWED, _NO_HOSTNAME):
            return condition
    elif not asked:
        return Condition("Accepted", "False", "NoMatchingParent", f"{parent.text}: no such listener stands")
    elif not all(each.failure for each in asked):
        return condition
    refusing = [each for each in asked if each.failure == _NOT_ALLOWED and shares_host(each, route, topology)]
    if refusing:
        return Condition("Accepted", "False", _NOT_ALLOWED, refusing[0].message)
    return Condition("Accepted", "False", _NO_HOSTNAME, f"no listener of {parent.text} serves a hostname of the route")


def _is_asked(candidate: Candidate, topology: Topology) -> bool:
    listener = topology.listener(candidate.node)
    return listener is None or is_parent(listener, topology)


def _resolved(route: RouteState, topology: Topology, mesh: bool) -> Condition:
    """Return ResolvedRefs: the last fault of the last rule that has one; one that stops the whole route stands.

    The backends of a rule come before its mirrors (convertHTTPRoute, computeRoute).
    """
    told = RESOLVED
    for number, rule in enumerate(map(mapping, sequence(route.route.spec.get("rules")))):
        fault = _of_rule(route, number, rule, topology, mesh)
        if fault is not None:
            told = Condition("ResolvedRefs", "False", fault.reason, fault.message)
        if fault is not None and fault.stops:
            break
    return told


def stopped(topology: Topology) -> Mapping[tuple[Node, Node], frozenset[str]]:
    """Return, by listener and route, the hostnames of routes that istiod makes nothing of at Gateways: all."""
    return {
        (candidate.node, whole(route.route.key)): frozenset(candidate.hostnames)
        for route in topology.routes
        for parent in route.parents
        if _is_served_by_istio(parent, topology) and _is_stopped(route, topology)
        for candidate in parent.candidates
        if not candidate.failure
    }


def rule_fault(route: Resource, number: int, topology: Topology) -> tuple[int, str] | None:
    """Return what requests get for a rule that makes istiod stop its whole route, and why; None for any other."""
    state = topology.route(route.key)
    rules = sequence(route.spec.get("rules"))
    if state is None or number >= len(rules):
        return None
    fault = _of_rule(state, number, mapping(rules[number]), topology, mesh=False)
    if fault is None or not fault.stops:
        return None
    return 404, f"Istio serves nothing of {route.key} for it: {fault.message}"


def _is_served_by_istio(parent: ParentState, topology: Topology) -> bool:
    gateway = None if parent.gateway is None else topology.gateway(parent.gateway)
    if gateway is None:
        return False
    return is_istio(gateway.controller or OWN_CLASSES.get(gateway.class_key.name, ""))


def _is_stopped(route: RouteState, topology: Topology) -> bool:
    rules = enumerate(map(mapping, sequence(route.route.spec.get("rules"))))
    faults = (_of_rule(route, number, rule, topology, mesh=False) for number, rule in rules)
    return any(fault is not None and fault.stops for fault in faults)


def _of_rule(
    route: RouteState, number: int, rule: Mapping[str, Any], topology: Topology, mesh: bool
) -> BackendFault | None:
    """Return what is wrong with a rule: first its filters, then its backends with theirs, one after the other.

    Backends without weight are left out, and all of them where none has any.
    """
    mirror: BackendFault | None = None
    states = {state.pointer: state for state in route.backends if state.rule == number}
    place: Pointer = ("spec", "rules", number)
    filters = list(map(mapping, sequence(rule.get("filters"))))
    kind = route.route.key.kind
    for index, each in enumerate(filters):
        if text(each.get("type")) not in _FILTERS.get(kind, ()):
            return BackendFault("InvalidFilter", f"unsupported filter type {each.get('type')}", stops=True)
        state = states.get((*place, "filters", index, "requestMirror", "backendRef"))
        fault = backend_fault(state, route.route, topology, mesh) if state is not None else None
        if fault is not None:
            mirror = fault._replace(stops=kind == "GRPCRoute")
            if mirror.stops:
                return mirror
    last: BackendFault | None = None
    for index, reference in enumerate(map(mapping, sequence(rule.get("backendRefs")))):
        state = states.get((*place, "backendRefs", index))
        if state is None or reference.get("weight") == 0:
            continue
        last = backend_fault(state, route.route, topology, mesh) or last
        if last is not None and last.stops:
            return last
        wrong = [each for each in map(mapping, sequence(reference.get("filters"))) if each.get("type") not in _HEADERS]
        if wrong:
            return BackendFault("InvalidFilter", f"unsupported filter type {wrong[0].get('type')}", stops=True)
    return last or mirror
