"""Backends that Envoy Gateway refuses though they are there: their addresses, their TLS, and what they stand beside.

Source: internal/gatewayapi/{backendtlspolicy,route}.go @ v1.9.1: applyBackendTLSSetting,
validateDestinationSettings, processHTTPRouteRules.
"""

from __future__ import annotations

from collections import defaultdict

from policylint.documents import Pointer
from policylint.implementations.envoy_gateway.backends import (
    BACKEND,
    ROLES,
    BackendPolicies,
    Fault,
    ca_fault,
    ca_fault_of_policy,
    endpoints,
    invalid,
    names_ca,
    port_name,
)
from policylint.model import Resource, ResourceKey, World, mapping, text, value_at
from policylint.topology import BackendState, RouteState, Topology
from policylint.topology.service_ports import ports_by_number

WITH_PORTS = {("", "Service"), ("multicluster.x-k8s.io", "ServiceImport")}
_ALONE = "dynamic resolver is not supported for multiple backendRefs"


def backend_faults(route: RouteState, topology: Topology) -> dict[Pointer, Fault]:
    """Return which backendRefs of a route are refused for what the backend or their filters say: reason and message."""
    from policylint.implementations.envoy_gateway.rule_faults import UNSUPPORTED_REFERENCE, of_backend

    world = topology.world
    protocol = protocol_of(route.route)
    faults: dict[Pointer, Fault] = {}
    rules: dict[int, list[BackendState]] = defaultdict(list)
    for backend in route.backends:
        filters = (
            mapping(value_at(route.route.body, backend.pointer)).get("filters") if backend.role == "backend" else ()
        )
        of_filters = of_backend(route.route, filters, topology) if filters else None
        if of_filters is not None and of_filters[0] == UNSUPPORTED_REFERENCE:
            faults[backend.pointer] = of_filters
        elif backend.role in ROLES and port_fault(backend, protocol) is None and backend.granted is not False:
            fault = _fault(route.route, backend, world) or of_filters
            if fault is not None:
                faults[backend.pointer] = fault
        if backend.role == "backend":
            rules[backend.rule].append(backend)
    for backends in rules.values():
        if len(backends) == 1:
            continue
        usable = [each for each in backends if each.pointer not in faults and port_fault(each, protocol) is None]
        counted = backends if route.route.key.kind == "HTTPRoute" else usable
        if (
            route.route.key.kind in ("HTTPRoute", "TLSRoute")
            and len(counted) > 1
            and any(_resolves(each, world) and _weight(route.route, each) for each in usable)
        ):
            faults |= {each.pointer: ("InvalidBackendRef", _ALONE) for each in usable}
    return faults


def protocol_of(route: Resource) -> str:
    return "UDP" if route.key.kind == "UDPRoute" else "TCP"


def _fault(route: Resource, backend: BackendState, world: World) -> Fault | None:
    """Return what is wrong with one backend, None for nothing."""
    own = world.get(backend.wanted) if backend.wanted[:2] == BACKEND else None
    fault = invalid(own, world) if own is not None else None
    if fault is not None or not _weight(route, backend):
        return fault
    why = _tls_fault(backend.wanted, backend.port, world) or (client_certificate_fault(own, world) if own else "")
    if why:
        return "InvalidBackendTLS", why
    if own is not None and len({"fqdn" in each for each in endpoints(own)}) > 1:
        return "UnsupportedAddressType", f"{own.key} mixes names of hosts with addresses"
    return None


def service_fault(key: ResourceKey, port: int | None, world: World) -> str:
    """Return why a backend that is there cannot be called for a policy (processExtServiceDestination); "" if it can."""
    own = world.get(key) if key[:2] == BACKEND else None
    if own is not None and own.spec.get("type") == "DynamicResolver":
        return f"{key} is a dynamic resolver, which serves routes alone"
    return _tls_fault(key, port, world)


def _tls_fault(key: ResourceKey, port: int | None, world: World) -> str:
    """Return why there can be no TLS towards a backend that is to have it (applyBackendTLSSetting); "" for nothing."""
    own = world.get(key) if key[:2] == BACKEND else None
    tls = mapping(own.spec.get("tls")) if own is not None else {}
    checks = bool(tls) and tls.get("insecureSkipVerify") is not True
    if own is not None and checks and names_ca(tls):
        why = ca_fault(own, tls.get("caCertificateRefs"), world)[1]
        if why:
            return why
    policy = world.once(BackendPolicies).policy(key, port_name(world, key, port))
    if policy is not None:
        return ca_fault_of_policy(policy, world)[1]
    if checks and not names_ca(tls):
        return f"CACertificate must be specified when InsecureSkipVerify is false: Backend {key.path}"
    return ""


def client_certificate_fault(backend: Resource, world: World) -> str:
    """Return why the certificate that a Backend is called with is of no use; "" where it is, or none is named."""
    reference = mapping(mapping(backend.spec.get("tls")).get("clientCertificateRef"))
    if not reference:
        return ""
    secret = ResourceKey("", "Secret", backend.key.namespace, text(reference.get("name")))
    missing = text(reference.get("kind")) not in ("", "Secret") or world.resolve(secret).missing
    return (
        f"failed to locate TLS secret for client auth: {secret.path} specified in Backend {backend.key.path}"
        if missing
        else ""
    )


def _resolves(backend: BackendState, world: World) -> bool:
    own = world.get(backend.wanted) if backend.wanted[:2] == BACKEND else None
    return own is not None and own.spec.get("type") == "DynamicResolver"


def _weight(route: Resource, backend: BackendState) -> bool:
    """Tell whether a backendRef gets any share of the requests."""
    return mapping(value_at(route.body, backend.pointer)).get("weight") != 0


def port_fault(backend: BackendState, protocol: str = "TCP") -> Fault | None:
    """Return what is wrong with a backendRef before what it names is looked into; None for nothing."""
    reason, message = backend.reason, backend.message
    # Whether a port is named is looked at before the object is; which ports it has, afterwards.
    if reason in ("", "BackendNotFound") and (backend.wanted.group, backend.wanted.kind) in WITH_PORTS:
        if backend.port is None:
            reason = "PortNotSpecified"
            message = "A valid port number corresponding to a port on the Service must be specified"
        elif not reason and (backend.port_found is False or not _speaks(backend, protocol)):
            reason = "PortNotFound"
            message = f"{protocol} Port {backend.port} not found on {backend.wanted.kind} {backend.wanted.path}"
    return (reason, message) if reason else None


def _speaks(backend: BackendState, protocol: str) -> bool:
    """Tell whether the port of a backend takes the protocol of the route: UDPRoutes need UDP, all others TCP."""
    service = backend.resolution.resource
    of_number = ports_by_number(service).get(backend.port, []) if service is not None else []
    return not of_number or any(port.protocol == protocol for port in of_number)
