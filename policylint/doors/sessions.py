"""How the proxies of doors connect to backends: by annotations (`connects` of schemas/doors.yaml), by fields of their
objects, else as their implementation has it.

Source: projectcontour/contour, internal/dag/httpproxy_processor.go (getProtocol); traefik/traefik,
pkg/provider/kubernetes/crd/kubernetes_http.go (parseServiceProtocol); nginx/kubernetes-ingress, docs of VirtualServer,
Upstream.TLS; openshift/router, haproxy-config.template (a reencrypted backend is verified by its own CA, else by that
of the cluster's services).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policylint.catalog.content import owner_of_object
from policylint.documents import Pointer
from policylint.doors.annotations import passes_on, server_of
from policylint.doors.vendors import Vendor
from policylint.implementations import implementation
from policylint.implementations.generic.sessions import BackendSession, against, of_object
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.model.kinds import INGRESS
from policylint.model.resource import value_at
from policylint.regex import expression

Backend = tuple[ResourceKey, int | None]
Found = BackendSession | None
_OF_CLIENT = "of the client, passed on as it is"


def session(
    world: World, door: ResourceKey, route: Resource, pointer: Pointer, backend: ResourceKey, port: int | None
) -> BackendSession | None:
    """Return how a backend of a door's object is connected to; None where that is not known.

    Args:
        route: the object, as the engine has it.
        pointer: of the backend in that.
    """
    original = world.get(route.key)
    if original is None:
        return None
    if route.key[:2] == INGRESS:
        return _of_ingress(world, original, (backend, port))
    rule = route.location(*pointer[:3]).pointer
    reader = _READERS.get(route.key.kind)
    return None if reader is None else reader(world, door, original, rule, (backend, port))


def _of_ingress(world: World, ingress: Resource, backend: Backend) -> BackendSession | None:
    vendor = server_of(world, ingress.key)
    if vendor is None or not vendor.name:
        return None
    if passes_on(world, vendor, ingress):
        return None  # of requests over http nothing is passed on
    if not vendor.connects:
        return implementation(vendor.catalogued).session(*backend, ingress, world, None)
    service = world.get(backend[0])
    return _by_annotations(vendor, ingress, service, backend[0])


def _by_annotations(
    vendor: Vendor, ingress: Resource, service: Resource | None, backend: ResourceKey
) -> BackendSession | None:
    about = vendor.connects
    holders = [ingress]
    if about.get("atService") is True:
        holders = [each for each in (service, ingress) if each is not None]

    def stated(name: object) -> tuple[Resource, str] | None:
        found = ((each, vendor.value(each, text(name))) for each in holders if name)
        return next(((each, value) for each, value in found if value), None)

    spoken = stated(about.get("protocol") or about.get("names"))
    value = "" if spoken is None else spoken[1]
    if about.get("open") and expression(text(about["open"])).is_within(value):
        return None
    if about.get("names"):
        secure = backend.name in (each.strip() for each in value.split(","))
    else:
        secure = bool(value) and expression(text(about.get("tls"))).is_within(value) is True
    if spoken is None or not secure:
        return None if about.get("settings") is True else BackendSession("plain")
    written = text(about.get("protocol") or about.get("names"))
    place: Pointer = ("metadata", "annotations", f"{vendor.prefix}{written}")
    if about.get("authority") == "unread":
        return BackendSession("encrypted", "", spoken[0], place)
    authority = None if about.get("authority") == "none" else stated(about.get("authority"))
    is_on = all((found := stated(name)) and found[1] == wanted for name, wanted in mapping(about.get("verify")).items())
    if authority is None or not is_on:
        return BackendSession("unverified", "", spoken[0], place)
    named = stated(about.get("name"))
    name = named[1] if named is not None else text(about.get("unnamed"))
    place = ("metadata", "annotations", f"{vendor.prefix}{about['authority']}")
    return BackendSession(
        "verified",
        against([name] if name else [], [f"Secret {authority[1]}"]),
        authority[0],
        place,
        name,
        () if named is None else (name,),
    )


def _entry(
    holder: Resource, rule: Pointer, backend: Backend, field: str = "services"
) -> tuple[Pointer, Mapping[str, Any]]:
    """Return the entry of a rule that names a backend, and where it stands; nothing where none does."""
    for number, entry in enumerate(map(mapping, sequence(mapping(value_at(holder.body, rule)).get(field)))):
        is_port = entry.get("port") in (backend[1], None) or isinstance(entry.get("port"), str)
        if text(entry.get("name")) == backend[0].name and is_port:
            return (*rule, field, number), entry
    return (), {}


def _of_owner(world: World, holder: Resource, backend: Backend) -> Found:
    """Return how the controller of an object connects to a backend where nothing of the object says it."""
    return implementation(owner_of_object(*holder.key[:2])).session(*backend, holder, world, None)


def _of_traefik(
    world: World, _: ResourceKey, holder: Resource, rule: Pointer, backend: Backend
) -> BackendSession | None:
    pointer, entry = _entry(holder, rule, backend)
    if not entry or text(entry.get("kind"), "Service") != "Service" or holder.key.kind != "IngressRoute":
        return None
    scheme, named = text(entry.get("scheme")), text(entry.get("serversTransport"))
    if scheme and scheme != "https":
        return BackendSession("plain", "", holder, (*pointer, "scheme"))
    own = _of_owner(world, holder, backend)
    if not scheme and (own is None or own.state == "plain"):
        return own
    if not named:
        return (
            own
            if own is not None and own.state != "plain"
            else BackendSession("encrypted", "", holder, (*pointer, "scheme"))
        )
    return _by_transport(world, holder, "ServersTransport", named, pointer)


def _of_connections(
    world: World, _: ResourceKey, holder: Resource, rule: Pointer, backend: Backend
) -> BackendSession | None:
    """Return how Traefik connects for an IngressRouteTCP (pkg/tcp/dialer.go: without `tls` in the clear)."""
    pointer, entry = _entry(holder, rule, backend)
    if not entry:
        return None
    if mapping(holder.spec.get("tls")).get("passthrough") is True:
        return BackendSession("encrypted", _OF_CLIENT, holder, ("spec", "tls", "passthrough"))
    if entry.get("tls") is not True:
        return BackendSession("plain")
    named = text(entry.get("serversTransport"))
    if not named:
        return BackendSession("encrypted", "", holder, (*pointer, "tls"))
    return _by_transport(world, holder, "ServersTransportTCP", named, pointer)


def _by_transport(world: World, holder: Resource, kind: str, named: str, pointer: Pointer) -> BackendSession:
    transport = world.get(ResourceKey(holder.key.group, kind, holder.key.namespace, named))
    found = None if transport is None else of_object(transport)
    return found or BackendSession("encrypted", f"{kind} {named} says what is verified", holder, pointer)


def _of_contour(
    world: World, _: ResourceKey, holder: Resource, rule: Pointer, backend: Backend
) -> BackendSession | None:
    pointer, entry = _entry(holder, rule, backend)
    if not entry:
        return None
    protocol = text(entry.get("protocol"))
    own = _of_owner(world, holder, backend)
    if protocol == "h2c" or (not protocol and (own is None or own.state == "plain")):
        return BackendSession("plain", "", holder, (*pointer, "protocol")) if protocol else own
    checked = mapping(entry.get("validation"))
    names = [text(name) for name in sequence(checked.get("subjectNames"))] or [text(checked.get("subjectName"))]
    if checked.get("caSecret") and any(names):
        asked = tuple(filter(None, names))
        said = against(asked, [f"Secret {checked['caSecret']}"])
        return BackendSession("verified", said, holder, (*pointer, "validation"), names=asked)
    return BackendSession("unverified", "", holder, (*pointer, "protocol")) if protocol else own


def _of_nginx(_: World, __: ResourceKey, holder: Resource, rule: Pointer, backend: Backend) -> Found:
    upstreams = map(mapping, sequence(holder.spec.get("upstreams")))
    named = [
        each for each in upstreams if text(each.get("service")) == backend[0].name and each.get("port") == backend[1]
    ]
    if not named:
        return None
    if any(mapping(each.get("tls")).get("enable") is not True for each in named):
        secure = any(mapping(each.get("tls")).get("enable") is True for each in named)
        return None if secure else BackendSession("plain")
    number = sequence(holder.spec.get("upstreams")).index(named[0])
    place: Pointer = ("spec", "upstreams", number, "tls")
    asked = holder.spec.get("policies") or mapping(value_at(holder.body, rule)).get("policies")
    if asked or holder.key.kind != "VirtualServer":
        return BackendSession("encrypted", "a Policy may have it verified", holder, place)
    return BackendSession("unverified", "", holder, place)


def _of_openshift(_: World, __: ResourceKey, holder: Resource, ___: Pointer, ____: Backend) -> BackendSession | None:
    tls = mapping(holder.spec.get("tls"))
    place: Pointer = ("spec", "tls", "termination")
    match tls.get("termination"):
        case "passthrough":
            return BackendSession("encrypted", _OF_CLIENT, holder, place)
        case "reencrypt":
            own = ["its `destinationCACertificate`"] if tls.get("destinationCACertificate") else []
            return BackendSession(
                "verified", against([], own or ["the authority of the cluster's services"]), holder, place
            )
    return BackendSession("plain")


def _of_istio(world: World, door: ResourceKey, _: Resource, __: Pointer, backend: Backend) -> BackendSession | None:
    gateway = world.get(door)
    return None if gateway is None else _of_owner(world, gateway, backend)


_READERS: Mapping[str, Callable[[World, ResourceKey, Resource, Pointer, Backend], BackendSession | None]] = {
    "HTTPProxy": _of_contour,
    "IngressRoute": _of_traefik,
    "IngressRouteTCP": _of_connections,
    "Route": _of_openshift,
    "VirtualServer": _of_nginx,
    "VirtualServerRoute": _of_nginx,
    "VirtualService": _of_istio,
}
