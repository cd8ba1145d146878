"""Matches, filters and backends that NGINX Gateway Fabric refuses.

A rule with a filter that it cannot use answers 500, and so does a backend; of a rule with a match that it cannot use it
makes nothing.

Source: state/graph/{common_filter,authentication_filter,httproute,backend_refs,route_common}.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.backend_tls import ca_faults
from policylint.implementations.nginx_gateway_fabric.proxy import effective_proxy
from policylint.model import (
    Resource,
    ResourceKey,
    World,
    holds_variable,
    is_symbolic,
    mapping,
    sequence,
    text,
    value_at,
)
from policylint.model.kinds import TLS_POLICY
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.topology import BackendState, RouteState, Topology
from policylint.topology.extensions import FilterExtension, extensions_of
from policylint.topology.routes import rules
from policylint.topology.secret_data import contents

_GROUP = "gateway.nginx.org"
_LOGIN = (_GROUP, "AuthenticationFilter")
_IN_CLEAR = "OIDC authentication requires an HTTPS listener"
_FAMILIES = {"ipv4": "IPv6", "ipv6": "IPv4"}
"""The address family that a Service may not have, by the one of the proxy."""
_UNSUPPORTED = {"HTTPRoute": ("kubernetes.io/h2c",), "GRPCRoute": ("kubernetes.io/ws", "kubernetes.io/wss")}
"""The protocols of Service ports to which no route of a kind sends requests."""
_SESSION = ("caCertificateRefs", "wellKnownCACertificates", "hostname")
"""The fields of a BackendTLSPolicy in which all backends of a rule agree."""
_PATH = Pattern(r"/[^\s{};]*")
_INTERNAL = "_ngf-internal"
_VALUE = Pattern(r'([^"\\]|\\.)*')
_OF_REQUESTS_ALONE = ("RequestRedirect", "URLRewrite", "CORS", "ExternalAuth")
_UNREAD = {
    "HTTPRoute": ("name", "timeouts", "retry", "sessionPersistence"),
    "GRPCRoute": ("name", "sessionPersistence"),
}
"""Fields of rules that are not read, by the kind of route."""
_Fault = tuple[str, str]


class RuleFault(NamedTuple):
    """What is wrong with the filters of a rule: it is `invalid`, or a filter cannot be resolved."""

    message: str
    invalid: bool = False


def match_fault(rule: Mapping[str, Any], *, grpc: bool) -> str:
    """Return why nothing is made of a rule, "" where its matches can be used (validateMatch, validateGRPCMatch)."""
    faults = (fault for match in map(mapping, sequence(rule.get("matches"))) for fault in _of_match(match, grpc))
    return next(faults, "")


def _of_match(match: Mapping[str, Any], grpc: bool) -> Iterator[str]:
    call = match.get("method")
    if grpc and isinstance(call, dict):
        if call.get("type") not in (None, "Exact") and not is_symbolic(call.get("type")):
            yield "a call is matched by its exact name alone"
        yield from (f"a method match needs a {field}" for field in ("service", "method") if not call.get(field))
    if not grpc and call in ("TRACE", "CONNECT"):
        yield f"method {call} is not supported"
    path = mapping(match.get("path")).get("value")
    written = [path] if path is not None else []
    written += [f"/{call[field]}" for field in ("service", "method") if isinstance(call, dict) and call.get(field)]
    for value in written:
        if not is_symbolic(value) and (not _PATH.fullmatch(text(value)) or text(value)[1:].startswith(_INTERNAL)):
            yield f"{text(value)} is no path that NGINX can be told"
    for field in ("headers", "queryParams"):
        for entry in map(mapping, sequence(match.get(field))):
            if not text(entry.get("value"), "?").strip():
                yield f"{text(entry.get('name'))} is to be empty"


def rule_fault(route: Resource, rule: Mapping[str, Any], topology: Topology) -> RuleFault | None:
    """Return the first fault of the filters of a rule, None without one (processRouteRuleFilters)."""
    if why := next(_of_filters(rule, grpc=route.key.kind == "GRPCRoute"), ""):
        return RuleFault(why, invalid=True)
    named = list(extensions_of(topology.world, route, rule.get("filters"), ()))
    foreign = next((extension.wanted for extension in named if _is_foreign(extension.wanted)), None)
    if foreign is not None:
        return RuleFault(f"a filter names {foreign}, a kind that is not supported", invalid=True)
    if (number := sum(map(_is_login, sequence(rule.get("filters"))))) > 1:
        return RuleFault(f"it names {number} AuthenticationFilters, and only one is allowed", invalid=True)
    faults = [_unresolved(extension, route, topology) for extension in named]
    return next((RuleFault(why) for why in (*faults, _two_limits(route, rule, topology.world)) if why), None)


def _is_login(written: object) -> bool:
    """Tell whether a filter is a login: a second one is refused though it names the same object."""
    named = mapping(mapping(written).get("extensionRef"))
    return (named.get("group"), named.get("kind")) == _LOGIN


def _of_filters(rule: Mapping[str, Any], *, grpc: bool) -> Iterator[str]:
    """Yield what filters of Gateway API's own cannot be (validateFilterType, validateFilterHeaderModifierFields)."""
    for each in map(mapping, sequence(rule.get("filters"))):
        kind = text(each.get("type"))
        if grpc and kind in _OF_REQUESTS_ALONE:
            yield f"filter {kind} is not supported in a GRPCRoute"
        for field in ("requestHeaderModifier", "responseHeaderModifier"):
            changes = mapping(each.get(field))
            for entry in (*sequence(changes.get("add")), *sequence(changes.get("set"))):
                value = mapping(entry).get("value")
                if not is_symbolic(value) and not _VALUE.fullmatch(text(value)):
                    yield f"{text(value)} is no value that NGINX can be told"
            for action in ("add", "set", "remove"):
                named = [mapping(entry).get("name", entry) for entry in sequence(changes.get(action))]
                names = [text(name).lower() for name in named]
                yield from (f"header {name} is named twice" for name in names if names.count(name) > 1)


def unread_fields(route: Resource) -> list[str]:
    """Return what a route says that is accepted and not read, without NGINX Plus (checkForUnsupportedHTTPFields)."""
    if route.key.kind not in _UNREAD:
        return ["rules[1]"] if route.key.kind in ("TCPRoute", "UDPRoute") and len(rules(route)) > 1 else []
    found = [field for field in _UNREAD[route.key.kind] for rule in rules(route) if rule.body.get(field) is not None]
    for rule in rules(route):
        types = [mapping(each).get("type") for each in sequence(rule.body.get("filters"))]
        found += ["filters"] * (types.count("ExternalAuth") > 1)
    return found


def _two_limits(route: Resource, rule: Mapping[str, Any], world: World) -> str:
    """Return how two limits of a request's body are at odds: its filter's and a policy's of the route, or "".

    Source: state/graph/httproute.go, validateExternalAuthConflicts @ e55bfe339.
    """
    filters = (mapping(mapping(each).get("externalAuth")) for each in sequence(rule.get("filters")))
    if not any(mapping(each.get("forwardBody")).get("maxSize") for each in filters):
        return ""
    for policy in world.in_namespace(_GROUP, "ClientSettingsPolicy", route.key.namespace):
        aim = mapping(policy.spec.get("targetRef"))
        limit = mapping(policy.spec.get("body")).get("maxSize")
        if limit is not None and (aim.get("kind"), aim.get("name")) == (route.key.kind, route.key.name):
            return f"forwardBody.maxSize of its ExternalAuth filter conflicts with body.maxSize of {policy.key}"
    return ""


_BACKENDS = (("", "Service"), ("inference.networking.k8s.io", "InferencePool"))
"""Backends of HTTPRoutes, and the one of all others (validateBackendRef, validateBackendRefHTTPRoute @ e55bfe339)."""


def backend_faults(route: RouteState, topology: Topology) -> dict[Pointer, _Fault]:
    """Return the backendRefs that cannot be used, with reason and message (createBackendRef)."""
    gateways = [parent.gateway for parent in route.parents if parent.gateway is not None]
    proxies = [effective_proxy(gateway, topology) for gateway in gateways]
    found: dict[Pointer, _Fault] = {}
    sessions: dict[int, dict[Pointer, str]] = {}
    for backend in route.backends:
        service = backend.resolution.resource
        kinds = _BACKENDS if route.route.key.kind == "HTTPRoute" else _BACKENDS[:1]
        if backend.wanted[:2] not in kinds:
            found[backend.pointer] = ("InvalidKind", f"{backend.wanted.kind} is no kind of backend that it reads")
        elif sequence(mapping(value_at(route.route.body, backend.pointer)).get("filters")):
            found[backend.pointer] = ("UnsupportedValue", f"{backend.wanted} is named with filters of its own")
        elif service is not None and service.key.kind == "Service":
            policy = _tls_policy(backend, topology.world)
            for fault in _of_service(route.route.key.kind, backend, service, proxies, policy, topology.world):
                found.setdefault(backend.pointer, fault)
            if backend.role == "backend":
                sessions.setdefault(backend.rule, {})[backend.pointer] = _session(policy)
    for of_rule in sessions.values():
        if len(set(of_rule.values())) > 1:
            fault = ("UnsupportedValue", "Backend TLS policies do not match for all backends")
            found.update(dict.fromkeys(of_rule, fault))
    return found


def login_fault(login: Resource, world: World) -> str:
    """Return why an AuthenticationFilter cannot be used, "" where it can or where that is not known.

    The Secrets that it names must be there and hold the entry that it reads (validateAuthenticationFilter).
    """
    return next((fault for name, entry in _secrets(login.spec) if (fault := _secret(login, name, entry, world))), "")


def _secrets(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the Secrets of an AuthenticationFilter, each with the entry that it must hold."""
    tokens, connect = mapping(spec.get("jwt")), mapping(spec.get("oidc"))
    named: Iterable[tuple[Any, str]] = ()
    match spec.get("type"):
        case "Basic":
            named = ((mapping(spec.get("basic")).get("secretRef"), "auth"),)
        case "JWT" if tokens.get("source") == "File":
            named = ((mapping(tokens.get("file")).get("secretRef"), "auth"),)
        case "JWT":
            named = ((ref, "ca.crt") for ref in sequence(mapping(tokens.get("remote")).get("caCertificateRefs")))
        case "OIDC":
            authorities = ((reference, "ca.crt") for reference in sequence(connect.get("caCertificateRefs")))
            clients = ((connect.get("clientSecretRef"), "client-secret"), (connect.get("crlSecretRef"), "ca.crl"))
            named = (*clients, *authorities)
    yield from ((name, entry) for reference, entry in named if (name := text(mapping(reference).get("name"))))


def _secret(login: Resource, name: str, entry: str, world: World) -> str:
    secret = ResourceKey("", "Secret", login.key.namespace, name)
    resolution = world.resolve_inner(secret)
    if resolution.missing:
        return f"{login.key} names missing {secret}"
    held = None if resolution.resource is None else contents(resolution.resource, world)
    return "" if held is None or entry in held else f"{secret}, which {login.key} names, has no entry {entry!r}"


def _is_foreign(wanted: ResourceKey) -> bool:
    """Tell whether a filter is of a kind that is not supported; a kind of its own may be one of a later release."""
    return wanted.group != _GROUP and not holds_variable(wanted.group)


def _unresolved(extension: FilterExtension, route: Resource, topology: Topology) -> str:
    """Return why a filter of a supported kind cannot be used."""
    if extension.resolution.missing:
        return f"a filter names {extension.wanted}, which is missing"
    login = extension.resolution.resource
    if login is None or login.key[:2] != _LOGIN:
        return ""
    in_clear = login.spec.get("type") == "OIDC" and _is_in_clear(topology.route(route.key), topology)
    return _IN_CLEAR if in_clear else login_fault(login, topology.world)


def _is_in_clear(route: RouteState | None, topology: Topology) -> bool:
    """Tell whether any listener that serves a route is not one for HTTPS (hasNonHTTPSAttachment)."""
    attached = () if route is None else route.attached
    listeners = (topology.listener(node) for node in attached)
    protocols = {listener.protocol for listener in listeners if listener is not None}
    return any(protocol != "HTTPS" and not holds_variable(protocol) for protocol in protocols)


def _of_service(
    kind: str,
    backend: BackendState,
    service: Resource,
    proxies: list[Mapping[str, Any] | None],
    policy: Resource | None,
    world: World,
) -> Iterator[_Fault]:
    """Yield what keeps a Service from being used: at every Gateway of the route, for what hangs on its NginxProxy."""
    if service.spec.get("type") == "ExternalName":
        if not text(service.spec.get("externalName")).strip():
            yield "UnsupportedValue", "ExternalName service has empty or invalid externalName field"
        if proxies and all(proxy is not None and "dnsResolver" not in proxy for proxy in proxies):
            message = "ExternalName service requires DNS resolver configuration in Gateway's NginxProxy"
            yield "UnsupportedValue", message
    if backend.port_found is False:
        yield "BackendNotFound", f"{service.key} has no port {backend.port}"
    if kind not in ("TCPRoute", "UDPRoute") and (fault := _tls_fault(policy, world)):
        yield "UnsupportedValue", fault
    families = sequence(service.spec.get("ipFamilies"))
    if proxies and all(
        proxy is not None and _FAMILIES.get(text(proxy.get("ipFamily"))) in families for proxy in proxies
    ):
        yield "InvalidServiceIPFamily", f"{service.key} has an address family that the NginxProxy has not"
    ports = map(mapping, sequence(service.spec.get("ports")))
    protocol = next((text(port.get("appProtocol")) for port in ports if port.get("port") == backend.port), "")
    if policy is None and (kind, protocol) == ("HTTPRoute", "kubernetes.io/wss"):
        yield "UnsupportedProtocol", f"{service.key} speaks {protocol}, and no BackendTLSPolicy is for it"
    if protocol in _UNSUPPORTED.get(kind, ()):
        yield "UnsupportedProtocol", f"The Route type {kind} does not support service port appProtocol {protocol}"


def _session(policy: Resource | None) -> str:
    """Return what the TLS policy of a backend says of its certificate, "" for none (checkPoliciesEqual)."""
    if policy is None:
        return ""
    validation = mapping(policy.spec.get("validation"))
    return repr([validation.get(field) for field in _SESSION])


def _tls_policy(backend: BackendState, world: World) -> Resource | None:
    """Return the oldest TLS policy for a backend and its port (selectBackendTLSPolicyForService)."""
    section = "" if backend.section is None else backend.section.section
    for policy in sorted(world.of_kind(*TLS_POLICY), key=lambda policy: policy.age):
        targets = map(mapping, sequence(policy.spec.get("targetRefs")))
        named = any(
            target.get("name") == backend.wanted.name and target.get("sectionName") in (None, section)
            for target in targets
        )
        if named and policy.key.namespace == backend.wanted.namespace:
            return policy
    return None


def _tls_fault(policy: Resource | None, world: World) -> str:
    """Return why the TLS policy of a backend is not valid, "" where it is (validateBackendTLSPolicy)."""
    if policy is None:
        return ""
    named = map(mapping, sequence(mapping(policy.spec.get("validation")).get("caCertificateRefs")))
    authorities = [
        "" if _is_pair(policy, reference, world) else fault
        for reference, fault in zip(named, ca_faults(policy, world), strict=True)
    ]
    if not authorities or authorities == [""]:
        return ""
    why = f"it names {len(authorities)} CAs, and one is taken" if len(authorities) > 1 else "its CA is none"
    return f"{policy.key} is not valid: {why}"


def _is_pair(policy: Resource, reference: Mapping[str, Any], world: World) -> bool:
    """Tell whether a CA is named by a Secret with a certificate and its key, which need not have one (resolver)."""
    secret = ResourceKey("", "Secret", policy.key.namespace, text(reference.get("name")))
    found = world.resolve(secret).resource if reference.get("kind") == "Secret" else None
    return found is not None and found.body.get("type") == "kubernetes.io/tls"
