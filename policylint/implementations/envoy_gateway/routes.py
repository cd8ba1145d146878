"""The parent status of routes, where Envoy Gateway says more than the spec.

Hostnames that another listener owns, missing Namespaces and ports (internal/gatewayapi/validate.go), all reasons at
once (internal/gatewayapi/status/error.go), and routes of layer 4 with other than one rule
(internal/gatewayapi/route.go).

Source: docs/design/implementations/envoy-gateway.md §2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.envoy_gateway.backend_faults import port_fault, protocol_of
from policylint.implementations.envoy_gateway.backends import Fault
from policylint.implementations.envoy_gateway.cluster_dump import lacks_namespace
from policylint.implementations.envoy_gateway.feature_flags import backend_off
from policylint.implementations.envoy_gateway.isolation import Isolation
from policylint.implementations.envoy_gateway.references import broken
from policylint.implementations.envoy_gateway.rule_faults import (
    UNSUPPORTED,
    UNSUPPORTED_REFERENCE,
    drops,
    filter_faults,
    named_filter,
)
from policylint.model import Resource, World, mapping, sequence, text
from policylint.topology import BackendState, Condition, ParentState, RouteState, Topology
from policylint.topology.hostnames import EVERY
from policylint.topology.routes import Rule, rule_at, rules
from policylint.topology.status import RESOLVED

_WITHOUT_IDLE_TIMEOUT = (1, 9)
NO_HOSTNAME = Condition(
    "Accepted",
    "False",
    "NoMatchingListenerHostname",
    "There were no hostname intersections between the route and this parent ref's Listener(s).",
)
NOT_ALLOWED = Condition(
    "Accepted",
    "False",
    "NotAllowedByListeners",
    "No listeners included by this parent ref allowed this attachment.",
)
CONTRADICTORY = Condition(
    "Accepted", "False", "IncompatibleFilters", "what a rule answers or redirects cannot be mirrored as well"
)
ONE_RULE = Condition("Accepted", "False", "InvalidRule", "One and only one rule is supported")
OF_ONE_RULE = ("TCPRoute", "UDPRoute")


def conditions(
    route: RouteState,
    parent: ParentState,
    isolation: Isolation,
    settings: Mapping[str, Any],
    topology: Topology,
    refused_backends: Mapping[Pointer, Fault],
) -> tuple[Condition, ...]:
    """Return the conditions of a parentRef.

    Accepted hangs on the hostnames that its listeners leave to the route and on its Namespace, ResolvedRefs on all
    backendRefs that fail, their ports and the features that are off included.

    Args:
        refused_backends: the backendRefs that are refused for what the backend or their filters say.
    """
    if route.route.key.kind in OF_ONE_RULE and len(sequence(route.route.spec.get("rules"))) != 1:
        return (ONE_RULE,)
    replaced: dict[str, Condition] = {}
    fault = _fault(route, topology.world, settings, refused_backends)
    if fault is not None:
        replaced["ResolvedRefs"] = fault
    elif not all(is_processed(each, route.route, isolation.world) for each in route.backends):
        replaced["ResolvedRefs"] = RESOLVED
    if parent.accepted and EVERY not in route.hostnames and parent.attached and not _carried(parent, isolation):
        replaced["Accepted"] = NO_HOSTNAME
    if parent.accepted and lacks_namespace(isolation.world, route.route.key.namespace):
        replaced["Accepted"] = NOT_ALLOWED
    faults = {rule.number: _unaccepted(route, rule, topology) for rule in rules(route.route)}
    refused = [number for number, found in faults.items() if found]
    added: tuple[Condition, ...] = ()
    if refused and not parent.resolution.missing:
        told = [fault for found in faults.values() for fault in found]
        reason, message = _together(told)
        accepted = replaced.get("Accepted") or next(each for each in parent.conditions if each.type == "Accepted")
        if len(refused) == len(faults):
            if accepted.reason != NO_HOSTNAME.reason:  # which is said last
                replaced["Accepted"] = Condition("Accepted", "False", reason, message)
        else:
            added = (Condition("PartiallyInvalid", "True", reason, message),)
    if not replaced and not added:
        return parent.conditions
    kept = (each for each in parent.conditions if each.type != "PartiallyInvalid" or not added)
    return (*(replaced.get(condition.type, condition) for condition in kept), *added)


def _unaccepted(route: RouteState, rule: Rule, topology: Topology) -> list[Fault]:
    """Return why a rule is not accepted, whether it is left out or answers 500."""
    found = list(filter_faults(route.route, rule.body.get("filters"), topology))
    if is_contradictory(route, rule, topology.world):
        found.append((CONTRADICTORY.reason, CONTRADICTORY.message))
    dropped = drops(route.route, rule)
    return [*found, (UNSUPPORTED, dropped)] if dropped else found


def is_contradictory(state: RouteState, rule: Rule, world: World) -> bool:
    """Tell whether a rule answers or redirects what it mirrors to a backend that is of use (ProcessHTTPFilters)."""
    route = state.route
    looked_at = list(map(mapping, sequence(rule.body.get("filters"))))[: _looked_at(route, rule, world)]
    if not looked_at or not (_answers(route, looked_at[-1], world) or _redirects(looked_at)):
        return False
    mirrors = (each for each in state.backends if each.rule == rule.number and each.role == "RequestMirror")
    return any(is_processed(each, route, world) and port_fault(each) is None for each in mirrors)


def _redirects(filters: Iterable[Mapping[str, Any]]) -> bool:
    return any(each.get("type") == "RequestRedirect" for each in filters)


def _looked_at(route: Resource, rule: Rule, world: World) -> int:
    """Return how many filters of a rule are looked at: as far as one that answers, with an error, too."""
    filters = list(map(mapping, sequence(rule.body.get("filters"))))
    answering = (number for number, each in enumerate(filters) if _answers(route, each, world))
    return next(answering, len(filters)) + 1


def _answers(route: Resource, route_filter: Mapping[str, Any], world: World) -> bool:
    key = named_filter(route, route_filter)
    if key is None:
        return route_filter.get("type") == "ExtensionRef"  # one of another kind answers 500
    resolution = world.resolve(key)
    return resolution.missing or (resolution.resource is not None and "directResponse" in resolution.resource.spec)


def is_processed(backend: BackendState, route: Resource, world: World) -> bool:
    """Tell whether the controller comes to a backend: not behind an answer, nor in a rule left out."""
    rule, number = rule_at(route, backend.rule), backend.pointer[4]
    if rule is None or backend.role != "RequestMirror":
        return rule is not None and not drops(route, rule)
    return isinstance(number, int) and number < _looked_at(route, rule, world)


def rule_fault(
    route: Resource, rule: Rule, topology: Topology, release: tuple[int, ...] | None = None
) -> tuple[int, str] | None:
    """Return the status that a rule answers with because of itself or of its filters, and why; None where it does not.

    Filters are looked at in their order, as far as one that answers (internal/gatewayapi/{route,filters}.go,
    processHTTPRouteRule, ProcessHTTPFilters).

    Args:
        release: of the controller, None where it is not known: up to 1.8 it refused idleTimeout.
    """
    refuses_idle_timeout = release is None or release < _WITHOUT_IDLE_TIMEOUT
    if refuses_idle_timeout and "idleTimeout" in mapping(rule.body.get("sessionPersistence")):
        return 404, "a rule whose sessionPersistence has an idleTimeout is left out"
    fault = _filters_fault(route, rule, topology)
    return None if fault is not None and _answers_calls(route, rule, topology) else fault


def _answers_calls(route: Resource, rule: Rule, topology: Topology) -> bool:
    """Tell whether a rule for calls answers them whatever is wrong with its other filters (processGRPCRouteRules)."""
    state = topology.route(route.key)
    filters = list(map(mapping, sequence(rule.body.get("filters"))))[: _looked_at(route, rule, topology.world)]
    extension = _route_filter(route, filters[-1], topology) if filters and route.key.kind == "GRPCRoute" else None
    if state is None or extension is None or broken(extension, topology).reason:
        return False
    status = mapping(extension.spec.get("directResponse")).get("statusCode")
    return isinstance(status, int) and status // 100 != 2 and not is_contradictory(state, rule, topology.world)


def _filters_fault(route: Resource, rule: Rule, topology: Topology) -> tuple[int, str] | None:
    """Return what a rule answers because of a filter, and why; None where all are of use."""
    types = set()
    for number, route_filter in enumerate(map(mapping, sequence(rule.body.get("filters")))):
        kind = text(route_filter.get("type"))
        types.add(kind)
        unusable = _mirror_fault(route, rule, number, topology) if kind == "RequestMirror" else None
        if unusable is not None:
            return 500, f"its mirror is of no use: {unusable[1]}"
        extension = _route_filter(route, route_filter, topology) if kind == "ExtensionRef" else None
        if extension is None:
            continue
        if fault := broken(extension, topology).reason:
            return 500, f"{extension.key} cannot be used: {fault}"
        if "directResponse" in extension.spec:
            if "RequestMirror" in types:
                return 500, f"{extension.key} answers, and what is answered cannot be mirrored"
            break
    if {"RequestMirror", "RequestRedirect"} <= types:
        return 500, "what is redirected cannot be mirrored"
    return next(((500, message) for _, message in filter_faults(route, rule.body.get("filters"), topology)), None)


def _mirror_fault(route: Resource, rule: Rule, number: int, topology: Topology) -> Fault | None:
    """Return what is wrong with the backend of a mirror, which fails its rule as any filter does; None for nothing."""
    state = topology.route(route.key)
    place = ("spec", "rules", rule.number, "filters", number, "requestMirror", "backendRef")
    backends = () if state is None else state.backends
    faults = (port_fault(backend) for backend in backends if backend.pointer == place)
    return next(faults, None)


def _route_filter(route: Resource, route_filter: Mapping[str, Any], topology: Topology) -> Resource | None:
    """Return the HTTPRouteFilter that a filter names, None for others and where it is not there."""
    key = named_filter(route, route_filter)
    return None if key is None else topology.world.get(key)


def _carried(parent: ParentState, isolation: Isolation) -> bool:
    """Tell whether any listener has a hostname of the route that is not another listener's own on the same port."""
    return any(not candidate.failure and isolation.leaves(candidate) for candidate in parent.candidates)


def _fault(
    route: RouteState, world: World, settings: Mapping[str, Any], refused: Mapping[Pointer, Fault]
) -> Condition | None:
    """Combine all references of rules that fail: their reasons once each and sorted, and their messages."""
    protocol = protocol_of(route.route)
    faults: list[Fault] = []
    of_filters: dict[int, list[Fault]] = defaultdict(list)
    for backend in route.backends:
        if not is_processed(backend, route.route, world):
            continue
        own = refused.get(backend.pointer)
        first = own if own is not None and own[0] == UNSUPPORTED_REFERENCE else None
        fault = first or backend_off(backend, settings) or port_fault(backend, protocol) or own
        if backend.reason == "InvalidKind" or (backend.reason == "UnsupportedValue" and fault is None):
            fault = backend.reason, backend.message
        if fault is not None:
            (of_filters[backend.rule] if backend.role == "RequestMirror" else faults).append(fault)
    for number, fault in _missing_filters(route.route, world):
        of_filters[number].append(fault)
    faults += (_together(found) for found in of_filters.values())
    return Condition("ResolvedRefs", "False", *_together(faults)) if faults else None


def _together(faults: Iterable[Fault]) -> Fault:
    """Return the reasons of several faults, once each and sorted, and all messages."""
    reasons, messages = zip(*faults, strict=True)
    return ",".join(sorted(set(reasons))), "; ".join(messages)


def _missing_filters(route: Resource, world: World) -> Iterator[tuple[int, Fault]]:
    """Yield the HTTPRouteFilters that rules name and that are not there, by rule (processUnresolvedHTTPFilter)."""
    for rule in rules(route):
        for route_filter in map(mapping, sequence(rule.body.get("filters"))):
            extension = named_filter(route, route_filter)
            if extension is not None and world.resolve(extension).missing:
                yield rule.number, (UNSUPPORTED, f"Unable to translate HTTPRouteFilter: {extension.path}")
                break
