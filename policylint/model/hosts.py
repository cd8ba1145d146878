"""Host names that mean a Service of the cluster."""

from __future__ import annotations

from policylint.model.keys import ResourceKey, filled_in, is_symbolic
from policylint.model.resource import Resource, texts


def names_service(host: str, home: str, service: ResourceKey) -> bool:
    """Tell whether a host of Istio's API means a Service: `web`, `web.shop.svc.cluster.local`, `*.svc.cluster.local`.

    Args:
        home: the namespace of the object that holds it, which a short name is completed with.
    """
    if host.startswith("*"):
        return f"{service.name}.{service.namespace}.svc.cluster.local".endswith(host[1:])
    name, _, rest = host.partition(".")
    of_namespace = (f"{service.namespace}{suffix}" for suffix in ("", ".svc", ".svc.cluster.local"))
    return name == service.name and (rest in of_namespace if rest else home == service.namespace)


def in_full(host: str, home: str) -> str:
    """Return a host as Istio knows it: what has no dot is a Service of the namespace of the object."""
    return host.lower() if "." in host or host == "*" else f"{host.lower()}.{home}.svc.cluster.local"


def is_service_in_full(host: str, home: str, service: ResourceKey) -> bool:
    """Tell whether a host is a Service for Istio, which completes what has no dot: `web.shop` is a name of its own.

    Source: pilot/pkg/model/config.go, ResolveShortnameToFQDN.
    """
    is_whole = "." not in host or host.endswith(".svc.cluster.local") or host.startswith("*")
    return is_whole and host != "*" and names_service(host.lower(), home, service)


def may_name_service(host: str, home: str, service: ResourceKey) -> bool:
    """Tell whether a host that may hold a variable means a Service, or may."""
    if not is_symbolic(host):
        return names_service(host, home, service)
    own, suffixes = f"{service.name}.{service.namespace}", ("", ".svc", ".svc.cluster.local")
    names = [*(f"{own}{suffix}" for suffix in suffixes), *([service.name] if home == service.namespace else [])]
    return any(filled_in(host, name) is not None for name in names)


def readers_of(resource: Resource) -> frozenset[str]:
    """Return the only namespaces for which a DestinationRule or VirtualService counts; none where it may for all."""
    readers = texts(resource.spec.get("exportTo"))
    if not readers or "*" in readers or any(map(is_symbolic, readers)):
        return frozenset()
    return frozenset(resource.key.namespace if each == "." else each for each in readers if each not in ("", "~"))


def is_exported(resource: Resource, namespace: str) -> bool | None:
    """Return whether a DestinationRule or VirtualService counts for a namespace; None where a variable says so.

    Source: istio.io/docs/reference/config/networking, `exportTo` of both.
    """
    readers = texts(resource.spec.get("exportTo"))
    if (
        not readers
        or "*" in readers
        or namespace in readers
        or ("." in readers and namespace == resource.key.namespace)
    ):
        return True
    return None if any(map(is_symbolic, readers)) else False
