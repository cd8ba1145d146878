"""Rules of routes that Envoy Gateway does not accept: left out for an expression, answered with 500 for a filter.

Source: internal/gatewayapi/{route,filters}.go @ v1.9.1: processHTTPRouteRule, ProcessHTTPFilters, ProcessGRPCFilters;
docs/design/implementations/envoy-gateway.md §2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.implementations.envoy_gateway.backends import Fault
from policylint.implementations.envoy_gateway.content import HEADER_VALUE
from policylint.implementations.envoy_gateway.managed import GROUP
from policylint.implementations.envoy_gateway.references import broken
from policylint.matches import matches
from policylint.model import Resource, ResourceKey, holds_variable, mapping, sequence, text
from policylint.regex import expression
from policylint.topology import Topology
from policylint.topology.routes import Rule, rules

UNSUPPORTED = "UnsupportedValue"
_FIELDS = {
    "RequestHeaderModifier": "requestHeaderModifier",
    "ResponseHeaderModifier": "responseHeaderModifier",
}
_OF_BACKENDS = {
    "HTTPRoute": (*_FIELDS, "ExtensionRef", "URLRewrite"),
    "GRPCRoute": tuple(_FIELDS),
}
UNSUPPORTED_REFERENCE = "UnsupportedRefValue"
_REWRITTEN = ("hostname", "path")


def drops(route: Resource, rule: Rule) -> str:
    """Return why a rule is left out with all of its matches; "" where it is not."""
    return route.once(_dropped).get(rule.number, "")


def _dropped(route: Resource) -> Mapping[int, str]:
    """Return why rules are left out, by their numbers: it is asked for each backend and parent of a route."""
    grpc = route.key.kind == "GRPCRoute"
    found = {rule.number: (match.refusal for match in matches(rule.body, grpc=grpc)) for rule in rules(route)}
    return {number: why for number, refusals in found.items() if (why := next(filter(None, refusals), ""))}


def named_filter(route: Resource, route_filter: Mapping[str, Any]) -> ResourceKey | None:
    """Return which HTTPRouteFilter a filter names; None for other filters."""
    reference = mapping(route_filter.get("extensionRef"))
    key = ResourceKey(GROUP, "HTTPRouteFilter", route.key.namespace, text(reference.get("name")))
    return key if (reference.get("group"), reference.get("kind")) == key[:2] else None


def of_backend(route: Resource, filters: object, topology: Topology) -> Fault | None:
    """Return why filters of a backendRef fail it, and the requests to it; None where they do not."""
    for route_filter in map(mapping, sequence(filters)):
        kind = text(route_filter.get("type"))
        if kind not in _OF_BACKENDS[route.key.kind] or (
            kind == "ExtensionRef" and not named_filter(route, route_filter)
        ):
            return UNSUPPORTED_REFERENCE, f"a filter of type {kind} does nothing for one backend"
        if "path" in mapping(route_filter.get("urlRewrite")):
            return UNSUPPORTED_REFERENCE, "a path cannot be rewritten for one backend"
    fault = next(filter_faults(route, filters, topology), None)
    missing = (named_filter(route, each) for each in map(mapping, sequence(filters)))
    gone = next((key for key in missing if key is not None and topology.world.resolve(key).missing), None)
    if fault is None and gone is not None:
        return "InvalidBackendFilters", f"Unable to translate HTTPRouteFilter: {gone.path}"
    return None if fault is None else ("InvalidBackendFilters", fault[1])


def filter_faults(route: Resource, filters: object, topology: Topology) -> Iterator[Fault]:
    """Yield why filters of a rule are not accepted, as far as one that answers: its requests get 500."""
    rewritten: dict[str, str] = {}
    for route_filter in map(mapping, sequence(filters)):
        kind = text(route_filter.get("type"))
        if kind in _FIELDS:
            fault = _headers(mapping(route_filter.get(_FIELDS[kind])))
            if fault:
                yield UNSUPPORTED, fault
        elif kind == "URLRewrite":
            yield from _rewrite(mapping(route_filter.get("urlRewrite")), kind, rewritten)
        elif kind == "ExternalAuth":
            yield UNSUPPORTED, "filters of type ExternalAuth are not supported"
            return
        elif kind == "ExtensionRef":
            key = named_filter(route, route_filter)
            if key is None:
                reference = mapping(route_filter.get("extensionRef"))
                yield UNSUPPORTED, f"no filter of kind {reference.get('group')}/{reference.get('kind')} is known"
                return
            extension = topology.world.get(key)
            if extension is None:
                if topology.world.resolve(key).missing:
                    return  # which is said of its references
                continue
            yield from _rewrite(mapping(extension.spec.get("urlRewrite")), key.kind, rewritten)
            if reason := broken(extension, topology).reason:
                yield UNSUPPORTED, reason
                return
            answer = extension.spec.get("directResponse")
            if answer is not None:
                status = mapping(answer).get("statusCode", 200)
                if route.key.kind == "GRPCRoute" and isinstance(status, int) and status // 100 == 2:
                    yield UNSUPPORTED, "a call cannot be answered with a status of success alone"
                return


def _rewrite(rewrite: Mapping[str, Any], by: str, rewritten: dict[str, str]) -> Iterator[Fault]:
    """Yield why a filter may not rewrite what another one rewrites: two of a kind not at all, others not the same."""
    parts = [part for part in _REWRITTEN if rewrite.get(part) is not None]
    if parts and (by in rewritten.values() or any(part in rewritten for part in parts)):
        yield UNSUPPORTED, "one filter rewrites what another one rewrites"
        return
    for part in parts:
        place = mapping(mapping(rewrite[part]).get("replaceRegexMatch" if part == "path" else "pathRegex"))
        pattern = text(place.get("pattern"))
        if pattern and not holds_variable(pattern) and (refusal := expression(pattern).refusal):
            yield UNSUPPORTED, f"{pattern!r} is {refusal}"
            return
        rewritten[part] = by


def _headers(modifier: Mapping[str, Any]) -> str:
    """Return what is wrong with the headers that a filter adds, sets or removes; "" for nothing."""
    for change in ("add", "set"):
        for header in map(mapping, sequence(modifier.get(change))):
            name, value = text(header.get("name")), text(header.get("value"))
            if fault := _fixed(name):
                return fault
            if not HEADER_VALUE.fullmatch(value) and not holds_variable(value):
                return f"{value!r} is no value of a header"
    return next(filter(None, map(_fixed, map(text, sequence(modifier.get("remove"))))), "")


def _fixed(name: str) -> str:
    bad = not name or "/" in name or ":" in name or name.lower() == "host"
    return f"the header {name!r} cannot be changed by a filter" if bad and not holds_variable(name) else ""
