"""The backends of routes as istiod takes them: which kinds, by which object, and what is wrong with one.

A ServiceImport stands for the Service of its name, a Hostname for whoever has the host, and routes of the mesh need no
ReferenceGrant (buildDestination, `enforceRefGrant`).

Source: docs/design/implementations/istio.md §8, end; gateway/conversion.go.
"""

from __future__ import annotations

from policylint.implementations.istio.labels import SERVICE, SERVICE_ENTRY, service_of
from policylint.model import Resolution, Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, value_at
from policylint.model.kinds import SERVICE_IMPORT
from policylint.namedtuple import NamedTuple
from policylint.topology import BackendState, RouteState, Topology
from policylint.topology.service_ports import port_of

_HOSTNAME = ("networking.istio.io", "Hostname")
_X_BACKEND = ("gateway.networking.x-k8s.io", "XBackend")
_EXTERNAL = "ExternalHostname"
_POOLS = ("inference.networking.k8s.io", "InferencePool")
_KINDS = (SERVICE, SERVICE_IMPORT, _HOSTNAME, _X_BACKEND, _POOLS)
_PORTLESS = (_X_BACKEND, _POOLS)
"""Kinds that have a port of their own, so that a reference need not name one."""


class BackendFault(NamedTuple):
    """Why istiod cannot send requests to a backend.

    Args:
        stops: whether no part of the route is served for it.
    """

    reason: str
    message: str
    stops: bool = False


def backends(route: RouteState, topology: Topology, *, pools: bool) -> tuple[BackendState, ...]:
    """Return the backends of a route as istiod takes them, those marked that it cannot send requests to.

    Args:
        pools: whether InferencePools are among them, which it has to be told.
    """
    mesh = all(parent.mesh for parent in route.parents)
    read = route.backends if pools else map(_without_pools, route.backends)
    return tuple(_taken(each, route.route, topology, mesh) for each in read)


def _without_pools(backend: BackendState) -> BackendState:
    if backend.wanted[:2] != _POOLS:
        return backend
    message = "InferencePools are off in istiod (ENABLE_GATEWAY_API_INFERENCE_EXTENSION)"
    return backend._replace(reason="InvalidKind", message=message)


def _taken(backend: BackendState, route: Resource, topology: Topology, mesh: bool) -> BackendState:
    if mesh and backend.granted is False:
        backend = backend._replace(granted=True, reason="", message="")
    backend = _meant(backend, route, topology.world)
    fault = backend_fault(backend, route, topology, mesh)
    if fault is None or backend.reason:
        return backend
    unknown_host = fault.reason == "BackendNotFound" and backend.wanted[:2] == _HOSTNAME
    resolution = Resolution("missing", fault.message) if unknown_host else backend.resolution
    return backend._replace(reason=fault.reason, message=fault.message, resolution=resolution)


def _meant(backend: BackendState, route: Resource, world: World) -> BackendState:
    """Return a ServiceImport as the Service that it stands for."""
    service = service_of(backend.wanted)
    if service is None:
        return backend
    resolution = world.resolve_outer(service)
    found, section = port_of(resolution.resource, backend.port, route.key.kind)
    told = ("BackendNotFound", resolution.reason) if resolution.missing else ("", "")
    reason, message = (backend.reason, backend.message) if backend.granted is False else told
    return backend._replace(
        wanted=service, resolution=resolution, port_found=found, section=section, reason=reason, message=message
    )


def backend_fault(backend: BackendState, route: Resource, topology: Topology, mesh: bool) -> BackendFault | None:
    """Return what istiod has against a backend; None for nothing that is certain.

    Args:
        mesh: whether it is asked for a parent in the mesh.
    """
    wanted = backend.wanted
    if is_symbolic(wanted.group) or is_symbolic(wanted.kind):
        return None
    if backend.granted is False and not mesh:
        return BackendFault("RefNotPermitted", f"no ReferenceGrant lets {route.key} name {wanted}")
    if wanted[:2] == _POOLS and backend.reason == "InvalidKind":
        return BackendFault(backend.reason, backend.message)
    if wanted[:2] not in _KINDS:
        return BackendFault("InvalidKind", f"{wanted.kind} is no kind of backend that Istio reads")
    backend = _meant(backend, route, topology.world)
    if wanted[:2] in (SERVICE, _POOLS) and "." in wanted.name and not is_symbolic(wanted.name):
        return BackendFault("InvalidDestination", f"{wanted.name} is no name of a {wanted.kind}", stops=True)
    if wanted[:2] == _HOSTNAME and mapping(value_at(route.body, backend.pointer)).get("namespace") is not None:
        return BackendFault("InvalidDestination", "a Hostname is in no namespace", stops=True)
    if backend.port is None and wanted[:2] not in _PORTLESS and _names_no_port(backend, route):
        return BackendFault("InvalidDestination", f"{wanted} is named without a port", stops=True)
    if backend.resolution.missing or (wanted[:2] == _HOSTNAME and _is_unknown(wanted, topology.world)):
        return BackendFault("BackendNotFound", f"backend({wanted.name}) not found")
    own = backend.resolution.resource
    return _of_x_backend(own, backend.port) if own is not None and own.key[:2] == _X_BACKEND else None


def _names_no_port(backend: BackendState, route: Resource) -> bool:
    return mapping(value_at(route.body, backend.pointer)).get("port") is None


def _of_x_backend(own: Resource, port: int | None) -> BackendFault | None:
    """Return what is wrong with an XBackend: of the types there may be, one is read, and the port is the object's."""
    kind, host = text(own.spec.get("type")), text(mapping(own.spec.get("externalHostname")).get("hostname"))
    if (kind != _EXTERNAL and not is_symbolic(kind)) or not host:
        return BackendFault("InvalidKind", f"{own.key} is no {_EXTERNAL}, or names no host")
    exposed = mapping(own.spec.get("port")).get("port")
    if port is not None and isinstance(exposed, int) and exposed != port:
        return BackendFault("BackendNotFound", f"{own.key} exposes port {exposed}, not {port}")
    return None


def _is_unknown(key: ResourceKey, world: World) -> bool:
    """Tell whether nobody has a host."""
    if is_symbolic(key.name) or _is_known(key.name, world):
        return False
    return not world.unseen.reason(ResourceKey(*SERVICE_ENTRY, key.namespace, ""))


def _is_known(host: str, world: World) -> bool:
    """Tell whether a Service, ServiceEntry or XBackend has this host, with any cluster domain, as none is stated."""
    name, _, rest = host.partition(".")
    namespace, _, domain = rest.partition(".")
    if domain.startswith("svc") and world.get(ResourceKey(*SERVICE, namespace, name)) is not None:
        return True
    external = (mapping(own.spec.get("externalHostname")).get("hostname") for own in world.of_kind(*_X_BACKEND))
    entries = (known for entry in world.of_kind(*SERVICE_ENTRY) for known in sequence(entry.spec.get("hosts")))
    return host in external or any(
        host == known or (isinstance(known, str) and known.startswith("*.") and host.endswith(known[1:]))
        for known in entries
    )
