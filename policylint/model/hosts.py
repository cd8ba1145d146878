"""Host names that mean a Service of the cluster."""

from __future__ import annotations

from policylint.model.keys import ResourceKey, filled_in, is_symbolic
from policylint.model.resource import Resource, texts
from policylint.model.world import World

_SUFFIXES = ("", ".svc", ".svc.cluster.local")


def names_service(host: str, home: str, service: ResourceKey) -> bool:
    """Tell whether a host of Istio's API means a Service: `web`, `web.shop.svc.cluster.local`, `*.svc.cluster.local`.

    Args:
        home: the namespace of the object that holds it, which a short name is completed with.
    """
    if host.startswith("*"):
        return f"{service.name}.{service.namespace}.svc.cluster.local".endswith(host[1:])
    name, _, rest = host.partition(".")
    of_namespace = (f"{service.namespace}{suffix}" for suffix in _SUFFIXES)
    return name == service.name and (rest in of_namespace if rest else home == service.namespace)


def services_named(world: World, host: str, home: str) -> list[Resource]:
    """Return the Services that a host of Istio's API means, sorted: only a wildcard is held against all of them."""
    if host.startswith("*"):
        return [each for each in world.of_kind("", "Service") if names_service(host, home, each.key)]
    name, _, rest = host.partition(".")
    homes = sorted({rest.removesuffix(suffix) for suffix in _SUFFIXES}) if rest else [home]
    found = (world.get(ResourceKey("", "Service", namespace, name)) for namespace in homes)
    return [each for each in found if each is not None]


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
    own = f"{service.name}.{service.namespace}"
    names = [*(f"{own}{suffix}" for suffix in _SUFFIXES), *([service.name] if home == service.namespace else [])]
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
    readers = texts(resource.spec.get("exportTo")) or ["*"]
    own = (".",) if namespace == resource.key.namespace else ()
    if not {"*", namespace, *own}.isdisjoint(readers):
        return True
    return None if any(map(is_symbolic, readers)) else False
