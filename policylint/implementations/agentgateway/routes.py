"""Parents of routes as the controller reports them, and which routes it makes nothing of.

What a listener of a parent takes is told of all references to that parent, whichever listener each names. A rule with
a filter or a mirror that fails ends its whole route: none of its rules are served.

Source: controller/pkg/agentgateway/translator/{route_collections,conversion}.go and plugins/reference_indexes.go @
v1.4.1. Seen by tests/witness (agentgateway).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.route_hosts import shares_host
from policylint.model import Node, is_symbolic, mapping, sequence, text
from policylint.model.kinds import SERVICE
from policylint.namedtuple import NamedTuple
from policylint.topology import BackendState, Condition, ParentState, RouteState, Topology, whole
from policylint.topology.backends import is_delegation
from policylint.topology.status import ACCEPTED, RESOLVED

_HEADERS = ("RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror")
_FILTERS = {"HTTPRoute": (*_HEADERS, "RequestRedirect", "URLRewrite", "CORS", "ExternalAuth"), "GRPCRoute": _HEADERS}
_OF_BACKENDS = (*_HEADERS, "RequestRedirect")
_NAMED_BY_HOST = ("Service", "InferencePool")
_KINDS = (SERVICE, ("agentgateway.dev", "AgentgatewayBackend"), ("inference.networking.k8s.io", "InferencePool"))
_REFUSING = "NotAllowedByListeners"


class _RuleFault(NamedTuple):
    """What is wrong with a rule.

    Args:
        stops: whether no part of the route is served for it.
    """

    reason: str
    message: str
    stops: bool = False


def conditions(route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
    """Return the topology's conditions with the controller's reasons."""
    told = []
    for each in parent.conditions:
        if each.type == "Accepted":
            told.append(_accepted(each, route, parent, topology))
        elif each.type == "ResolvedRefs":
            told.append(_resolved(route))
    return tuple(told)


def _accepted(condition: Condition, route: RouteState, parent: ParentState, topology: Topology) -> Condition:
    if parent.mesh or condition.status == "Unknown" or not parent.resolution.found:
        return condition
    together = [each for each in route.parents if each.wanted == parent.wanted and each.gateway == parent.gateway]
    if any(not candidate.failure for each in together for candidate in each.candidates):
        return ACCEPTED
    reasons = [reason for each in together for reason in _reasons(each, route, topology)]
    if not reasons:
        return condition
    worst = next((each for each in (_REFUSING, "NoMatchingListenerHostname") if each in reasons), reasons[0])
    return Condition("Accepted", "False", worst, condition.message)


def _reasons(parent: ParentState, route: RouteState, topology: Topology) -> Iterator[str]:
    """Yield why each listener of a parent refuses a route: hosts are asked for before kinds."""
    holder = topology.listener_set(parent.wanted) or topology.gateway(parent.wanted)
    of_listeners = {each.node: each for each in parent.candidates}
    for listener in () if holder is None else holder.listeners:
        candidate = of_listeners.get(listener.node)
        if candidate is None:
            yield "NoMatchingParent"
        elif candidate.failure == _REFUSING and shares_host(candidate, route, topology):
            yield _REFUSING
        else:
            yield "NoMatchingListenerHostname"


def _resolved(route: RouteState) -> Condition:
    """Return ResolvedRefs: the last fault of the last rule that has one; one that stops the whole route stands."""
    told = RESOLVED
    for fault in _faults(route):
        told = Condition("ResolvedRefs", "False", fault.reason, fault.message)
        if fault.stops:
            break
    return told


def stopped(topology: Topology) -> Mapping[tuple[Node, Node], frozenset[str]]:
    """Return, by listener and route, the hostnames of routes of which the controller makes nothing: all of them."""
    found: dict[tuple[Node, Node], frozenset[str]] = {}
    for route in topology.routes:
        parents = [each for each in route.parents if each.gateway is not None and each.candidates]
        if not parents or not any(fault.stops for fault in _faults(route)):
            continue
        for candidate in (each for parent in parents for each in parent.candidates if not each.failure):
            found[candidate.node, whole(route.route.key)] = frozenset(candidate.hostnames)
    return found


def _faults(route: RouteState) -> Iterator[_RuleFault]:
    """Yield what is wrong with the rules of a route, one after the other."""
    for number, rule in enumerate(map(mapping, sequence(route.route.spec.get("rules")))):
        fault = _of_rule(route, number, rule)
        if fault is not None:
            yield fault


def _of_rule(route: RouteState, number: int, rule: Mapping[str, Any]) -> _RuleFault | None:
    """Return what is wrong with a rule: its filters first, and then its backends with theirs."""
    states = {state.pointer: state for state in route.backends if state.rule == number}
    place: Pointer = ("spec", "rules", number)
    kind = route.route.key.kind
    fault = _of_filters(rule, place, states, _FILTERS.get(kind, ()), kind)
    if fault is not None:
        return fault._replace(stops=True)
    last: _RuleFault | None = None
    for index, reference in enumerate(map(mapping, sequence(rule.get("backendRefs")))):
        state = states.get((*place, "backendRefs", index))
        if state is None or is_delegation(state.wanted):
            continue
        fault = _of_backend(state)
        if fault is not None and fault.stops:
            return fault._replace(reason="BackendError") if kind == "HTTPRoute" else fault
        last = fault or last
        own = _of_filters(reference, (*place, "backendRefs", index), states, _OF_BACKENDS, kind)
        if own is not None and kind in _FILTERS:
            return own._replace(reason="BackendError" if kind == "HTTPRoute" else own.reason, stops=True)
    return last


def _of_filters(
    holder: Mapping[str, Any],
    place: Pointer,
    states: Mapping[Pointer, BackendState],
    known: tuple[str, ...],
    kind: str,
) -> _RuleFault | None:
    """Return what is wrong with the filters of a rule or a backend: of mirrors the first one, of gRPC's the last."""
    first: _RuleFault | None = None
    redirects = 0
    for index, each in enumerate(map(mapping, sequence(holder.get("filters")))):
        called = text(each.get("type"))
        if is_symbolic(called):
            continue
        fault: _RuleFault | None = None
        if called == "ExtensionRef" and known and "CORS" in known:
            fault = _RuleFault("IncompatibleFilters", "agentgateway knows no filters of other kinds")
        elif called not in known:
            return _RuleFault("IncompatibleFilters", f"unsupported filter type {called}")
        elif called == "RequestRedirect":
            redirects += 1
            if redirects > 1:
                return _RuleFault("IncompatibleFilters", "a rule has one redirect at most")
        elif called in ("RequestMirror", "ExternalAuth"):
            field = "requestMirror" if called == "RequestMirror" else "externalAuth"
            state = states.get((*place, "filters", index, field, "backendRef"))
            fault = None if state is None else _of_backend(state)
        if fault is not None and (first is None or kind == "GRPCRoute"):
            first = fault
    return first


def _of_backend(backend: BackendState) -> _RuleFault | None:
    """Return what the controller has against a backend: first that it is not granted."""
    wanted = backend.wanted
    if is_symbolic(wanted.group) or is_symbolic(wanted.kind):
        return None
    if backend.granted is False:
        return _RuleFault("RefNotPermitted", backend.message)
    if wanted.kind in _NAMED_BY_HOST and "." in wanted.name and not is_symbolic(wanted.name):
        return _RuleFault("UnsupportedValue", f"{wanted.name} is no name of a {wanted.kind}", stops=True)
    if wanted[:2] not in _KINDS:
        return _RuleFault("InvalidKind", f"{wanted.kind} is no kind of backend that agentgateway reads")
    if backend.reason:
        return _RuleFault(backend.reason, backend.message)
    return None
