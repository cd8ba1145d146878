"""VirtualServices that name a Gateway of Istio's own which is not there, as it stands in another namespace, and those
that name none, though their hosts are no Services.

Source: istio.io/docs/reference/config/networking/virtual-service, `gateways`: «Gateways in other namespaces may be
referred to by <gateway namespace>/<gateway name>»; pilot/pkg/model/push_context.go, resolveGatewayName.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.gateway_pods import OWN_GATEWAY
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.hosts import services_named

_MESH = "mesh"
_VIRTUAL = ("networking.istio.io", "VirtualService")
_ENTRY = ("networking.istio.io", "ServiceEntry")
_INGRESS = ("networking.k8s.io", "Ingress")


def unbound(world: World) -> Iterator[DeadEnd]:
    """Yield the Gateways that VirtualServices name in the wrong namespace."""
    gateways = world.of_kind(*OWN_GATEWAY)
    for virtual in world.of_kind(*_VIRTUAL):
        for number, name in enumerate(map(text, sequence(virtual.spec.get("gateways")))):
            wanted = _key(name, virtual.key.namespace)
            if name in ("", _MESH) or is_symbolic(name) or world.get(wanted) is not None:
                continue
            like = [each.key for each in gateways if each.key.name == wanted.name]
            if like and world.resolve(wanted).missing:
                yield DeadEnd(
                    virtual,
                    ("spec", "gateways", number),
                    f"names missing {wanted} ({like[0].path} is there)",
                    f"write {like[0].path}",
                    tuple(like[:1]),
                    then="it is served nowhere for this entry: a name without a namespace means its own",
                )


def unasked(world: World) -> Iterator[DeadEnd]:
    """Yield the VirtualServices for the mesh alone whose hosts no Service or ServiceEntry is called, though they send
    requests to Services: what is sent to these by their own names does not meet them.

    What an Ingress of such a host sends on has that host still: proxies of its controller that are in the mesh ask for
    it (at port 80 of any address, pilot/pkg/networking/core/route/route.go, buildSidecarVirtualHostsForVirtualService).
    """
    entries = {host for entry in world.of_kind(*_ENTRY) for host in texts(entry.spec.get("hosts"))}
    ingresses = (*world.of_kind(*_INGRESS), *world.beside(*_INGRESS))
    entries |= {text(mapping(rule).get("host")) for each in ingresses for rule in sequence(each.spec.get("rules"))}
    known = world.of_kind("", "Service")
    delegates = {_delegated(route, virtual) for virtual in world.of_kind(*_VIRTUAL) for route in _http(virtual)}
    for virtual in world.of_kind(*_VIRTUAL):
        hosts, home = texts(virtual.spec.get("hosts")), virtual.key.namespace
        if set(texts(virtual.spec.get("gateways"))) - {_MESH} or not hosts or virtual.key in delegates:
            continue
        if any("*" in host or is_symbolic(host) or host in entries or "." not in host for host in hosts):
            continue
        if any(services_named(world, host, home) or (known and ".svc" in host) for host in hosts):
            continue
        ends = (
            text(mapping(mapping(end).get("destination")).get("host"))
            for route in _http(virtual)
            for end in sequence(route.get("route"))
        )
        services = [each for end in ends for each in services_named(world, end, home)]
        if services:
            then = f"it splits and routes nothing of what is sent to {services[0].key} by its name, or through Gateways"
            does = f"is for {hosts[0]} in the mesh alone, and no Service or ServiceEntry is called so"
            fix = "name the Gateways in `gateways`, or the Service in `hosts`"
            ground = "clients in the mesh may ask for these hosts"
            yield DeadEnd(virtual, ("spec", "hosts", 0), does, fix, (services[0].key,), ground, then)


def _http(virtual: Resource) -> list[Mapping[str, Any]]:
    return list(map(mapping, sequence(virtual.spec.get("http"))))


def _delegated(route: Mapping[str, Any], virtual: Resource) -> ResourceKey:
    """Return the VirtualService that a route delegates to."""
    delegate = mapping(route.get("delegate"))
    namespace = text(delegate.get("namespace")) or virtual.key.namespace
    return ResourceKey(*_VIRTUAL, namespace, text(delegate.get("name")))


def _key(name: str, namespace: str) -> ResourceKey:
    """Return the Gateway that an entry means: `namespace/name`, `name.namespace.svc…`, or a name beside it."""
    if "/" in name:
        namespace, _, name = name.partition("/")
    elif "." in name:
        name, namespace = name.split(".")[:2]
    return ResourceKey(*OWN_GATEWAY, namespace, name)
