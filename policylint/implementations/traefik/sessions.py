"""How Traefik connects to Services: by TLS at port 443, and at ports whose names begin with `https`.

Source: pkg/provider/kubernetes/crd/kubernetes_http.go, parseServiceProtocol; pkg/provider/kubernetes/ingress/
kubernetes.go, getProtocol (the scheme that the Service states comes first); pkg/provider/kubernetes/gateway/
httproute.go, getHTTPServiceProtocol (`appProtocol` comes first).
"""

from __future__ import annotations

from policylint.implementations.generic.sessions import BackendSession, of_object, port_of_service
from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, World, text
from policylint.model.kinds import INGRESS

_SCHEME, _TRANSPORT = (
    f"traefik.ingress.kubernetes.io/service.{each}" for each in ("serversscheme", "serverstransport")
)
_ENCRYPTED = ("https", "kubernetes.io/wss")
_OF_CONTROLLER = "the default transport of Traefik says what is verified"
_PROVIDER = "@kubernetescrd"


def session(backend: ResourceKey, port: int | None, caller: Resource | None, world: World) -> BackendSession | None:
    """Return how a port of a Service is connected to where no policy says it; None where that is not known."""
    service = world.get(backend)
    entry = port_of_service(service, port)
    if service is None or not entry:
        return None
    place = ("spec", "ports", service.spec["ports"].index(entry))
    scheme, spoken = "", text(entry.get("appProtocol"))
    if caller is not None and caller.key.group == GATEWAY_GROUP and spoken:
        return (
            BackendSession("encrypted", _OF_CONTROLLER, service, (*place, "appProtocol"))
            if spoken.lower() in _ENCRYPTED
            else BackendSession("plain")
        )
    if caller is not None and caller.key[:2] == INGRESS:
        scheme = text(service.annotations.get(_SCHEME))
    if scheme:
        place = ("metadata", "annotations", _SCHEME)
    elif port != 443 and not text(entry.get("name")).startswith("https"):
        return BackendSession("plain")
    if scheme not in ("", "https"):
        return BackendSession("plain", "", service, place)
    transport = (
        _named(text(service.annotations.get(_TRANSPORT)), world) if caller and caller.key[:2] == INGRESS else None
    )
    found = None if transport is None else of_object(transport)
    return found or BackendSession("encrypted", _OF_CONTROLLER, service, place)


def _named(name: str, world: World) -> Resource | None:
    """Return the ServersTransport of a name that begins with its namespace, `shop-own@kubernetescrd`."""
    transports = world.of_kind("traefik.io", "ServersTransport") if name.endswith(_PROVIDER) else ()
    wanted = name.removesuffix(_PROVIDER)
    return next((each for each in transports if f"{each.key.namespace}-{each.key.name}" == wanted), None)
