"""Backends that are addresses or names of hosts instead of pods: EndpointSlices, ExternalName Services, Backends.

Sources: kubernetes.io, «Services without selectors»; envoyproxy/gateway api/v1alpha1/backend_types.go; kgateway
api/v1alpha1/kgateway/backend_types.go; agentgateway api/v1alpha1/agentgateway/agentgateway_backend_types.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.model import Resource, ResourceKey, World, integer, mapping, sequence, text
from policylint.model.kinds import ADDRESSES_OF, EACH
from policylint.namedtuple import NamedTuple

SERVICE = ("", "Service")
_HOSTS = ("hostname", "host", "address")
_SLICE = ("discovery.k8s.io", "EndpointSlice")
_SERVICE_NAME = "kubernetes.io/service-name"


class Destination(NamedTuple):
    """Where requests for a backend go.

    Args:
        host: an address, or a name that a resolver is asked for.
        port: None where it is not known.
    """

    host: str
    protocol: str
    port: int | None


def destinations(world: World, backend: Resource, port: int | None) -> list[Destination]:
    """Return the hosts behind a backend that selects no pods; none where the manifests do not name any.

    Args:
        port: the one that a route names; Services have several.
    """
    kind = (backend.key.group, backend.key.kind)
    if kind == SERVICE:
        return list(dict.fromkeys(_of_service(world, backend, port)))
    return list(dict.fromkeys(_of_backend(backend, ADDRESSES_OF.get(kind, ()))))


def service_named(world: World, host: str) -> ResourceKey | None:
    """Return the Service that a host's name means inside the cluster, None for any other name."""
    labels = host.rstrip(".").split(".")
    if len(labels) > 2 and labels[2] == "svc":
        return ResourceKey(*SERVICE, labels[1], labels[0])
    key = ResourceKey(*SERVICE, labels[1], labels[0]) if len(labels) == 2 else None
    return key if key is not None and world.get(key) is not None else None


def services_behind(world: World, backends: Iterable[Resource]) -> Iterator[ResourceKey]:
    """Yield the Services whose hosts backends of other kinds name."""
    for backend in dict.fromkeys(backends):
        named = (service_named(world, destination.host) for destination in destinations(world, backend, None))
        yield from filter(None, named)


def _of_service(world: World, service: Resource, port: int | None) -> Iterator[Destination]:
    if text(service.spec.get("type")) == "ExternalName":
        yield Destination(text(service.spec.get("externalName")), "TCP", port)
        return
    entries = [mapping(entry) for entry in sequence(service.spec.get("ports"))]
    is_only = port is None and len(entries) == 1
    entry = next((entry for entry in entries if is_only or entry.get("port") == port), None)
    if entry is None or service.spec.get("selector"):
        return
    name, protocol = text(entry.get("name")), text(entry.get("protocol"), "TCP")
    for endpoints in world.in_namespace(*_SLICE, service.key.namespace):
        if endpoints.labels.get(_SERVICE_NAME) == service.key.name:
            yield from _of_subset(endpoints.body, "endpoints", name, protocol)
    legacy = world.get(ResourceKey("", "Endpoints", service.key.namespace, service.key.name))
    for subset in sequence(legacy.body.get("subsets")) if legacy is not None else ():
        yield from _of_subset(subset, "addresses", name, protocol)


def _of_subset(subset: Any, field: str, name: str, protocol: str) -> Iterator[Destination]:
    """Yield the addresses of an EndpointSlice, or of a subset of Endpoints, for the port of a name."""
    ports = [port for port in map(mapping, sequence(mapping(subset).get("ports"))) if text(port.get("name")) == name]
    number = integer(ports[0].get("port")) if ports else None
    for entry in map(mapping, sequence(mapping(subset).get(field))):
        for address in sequence(entry.get("addresses")) or [entry.get("ip")]:
            if isinstance(address, str):
                yield Destination(address, protocol, number)


def _of_backend(backend: Resource, places: Iterable[tuple[str, ...]]) -> Iterator[Destination]:
    for place in places:
        for entry in map(mapping, _at(backend.spec, place)):
            host = next((text(entry.get(field)) for field in _HOSTS if text(entry.get(field))), "")
            if host:
                yield Destination(host, "TCP", integer(entry.get("port")))


def _at(value: Any, place: tuple[str, ...]) -> Iterator[Any]:
    """Yield what stands at a place in which `*` means every item of a list."""
    values = [value]
    for step in place:
        values = [
            inner
            for outer in values
            for inner in (sequence(outer) if step == EACH else [mapping(outer).get(step)])
            if inner is not None
        ]
    return iter(values)
