"""Certificates of the mesh that DestinationRules have clients show to pods which have no proxy to take them.

Source: istio.io/docs/ops/common-problems/network-issues, «TLS configuration mistakes»; istio/istio#33208.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.istio import labels
from policylint.implementations.istio.client_tls import MUTUAL, originates
from policylint.implementations.istio.mesh import Mesh
from policylint.model import GATEWAY_GROUP, Resource, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.hosts import services_named
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.topology.workloads import servers_behind

_RULE = ("networking.istio.io", "DestinationRule")
_INTERNAL = "MESH_INTERNAL"
_ENCRYPTED = frozenset({"HTTPS", "TLS"})
"""Protocols of ports at which clients encrypt themselves."""
_SPEAKING = frozenset({labels.INJECTION, labels.REVISION, labels.DATAPLANE_MODE})


def unmet(world: World) -> Iterator[DeadEnd]:
    """Yield the rules whose clients are to show certificates to pods outside the mesh."""
    for rule in world.of_kind(*_RULE):
        place = next(_places(rule), None)
        host = text(rule.spec.get("host"))
        if place is None or "*" in host:
            continue
        yield from _at_others(rule, place, host, world)
        for service in services_named(world, host, rule.key.namespace):
            if found := outside(service, world):
                does = (
                    f"has clients show a certificate of the mesh to {service.key}, whose pods have no proxy to take it"
                )
                fix = "leave `tls` out: it is used by itself where pods can take it; or take them into the mesh"
                about = (service.key, *(each.key for each in found.pods[:3]))
                then = "the handshake fails: 503"
                yield DeadEnd(rule, place, does, fix, about, found.doubt, then)


def _at_others(rule: Resource, place: Pointer, host: str, world: World) -> Iterator[DeadEnd]:
    """Yield a rule for a host that a ServiceEntry says to be outside the mesh, as it does where it says nothing.

    Source: istio.io/docs/reference/config/networking/service-entry, «ServiceEntry.Location».
    """
    for entry in world.of_kind(*labels.SERVICE_ENTRY):
        location = text(entry.spec.get("location"), "MESH_EXTERNAL")
        if location == _INTERNAL or is_symbolic(location) or host not in texts(entry.spec.get("hosts")):
            continue
        does = f"has clients show a certificate of the mesh to {host}, which {entry.key} says is outside of it"
        fix = f"set SIMPLE or MUTUAL, or `location: {_INTERNAL}` where it is one of the mesh"
        ground = "the host may be one of a mesh with the same root of trust"
        yield DeadEnd(rule, place, does, fix, (entry.key,), ground, "the handshake fails: 503")


def twice(world: World) -> Iterator[DeadEnd]:
    """Yield the rules that encrypt what clients of a host outside encrypt themselves (the same page, «Double TLS»).

    Where a VirtualService, a route or a Service leads to the host, plain requests may come there by it.
    """
    outside = {host for entry in world.of_kind(*labels.SERVICE_ENTRY) for host in texts(entry.spec.get("hosts"))}
    rules = [each for each in world.of_kind(*_RULE) if text(each.spec.get("host")) in outside]
    led = set(_led_to(world)) if rules else set()
    for rule in rules:
        host, policy = text(rule.spec.get("host")), mapping(rule.spec.get("trafficPolicy"))
        if host in led:
            continue
        for entry in world.of_kind(*labels.SERVICE_ENTRY):
            if host not in texts(entry.spec.get("hosts")):
                continue
            for port in map(mapping, sequence(entry.spec.get("ports"))):
                number = port.get("number")
                if (
                    text(port.get("protocol")).upper() in _ENCRYPTED
                    and isinstance(number, int)
                    and originates(rule, number)
                ):
                    does = f"encrypts what clients of port {number} of {host} encrypt themselves"
                    fix = f"leave `tls` out, or have clients send plain text to a port of protocol HTTP of {entry.key}"
                    then = "TLS within TLS: the other end takes neither, and the connection fails"
                    ground = "clients may send plain text to that port"
                    place = ("spec", "trafficPolicy", "tls" if "tls" in policy else "portLevelSettings")
                    yield DeadEnd(rule, place, does, fix, (entry.key,), ground, then, "warning")
                    break


def _led_to(world: World) -> Iterator[str]:
    """Yield the hosts to which VirtualServices, routes and Services lead."""
    for virtual in world.of_kind(*VIRTUAL_SERVICE):
        yield from map(text, _destinations(virtual))
    for route in world.of_kind(GATEWAY_GROUP, "HTTPRoute"):
        for rule in map(mapping, sequence(route.spec.get("rules"))):
            yield from (text(mapping(each).get("name")) for each in sequence(rule.get("backendRefs")))
    yield from (text(service.spec.get("externalName")) for service in world.of_kind("", "Service"))


def _destinations(virtual: Resource) -> Iterator[Any]:
    """Yield the hosts to which a VirtualService leads."""
    for kind in ("http", "tls", "tcp"):
        for route in map(mapping, sequence(virtual.spec.get(kind))):
            for each in map(mapping, sequence(route.get("route"))):
                yield mapping(each.get("destination")).get("host")


class Outside:
    """Pods that are not in the mesh; `doubt` says why they may be."""

    __slots__ = ("doubt", "pods")

    def __init__(self, pods: list[Resource], doubt: str = "") -> None:
        self.pods, self.doubt = pods, doubt


def outside(service: Resource, world: World) -> Outside | None:
    """Return the pods behind a Service where none of them is in the mesh; None where one is, or none was seen.

    A Namespace that nothing takes into the mesh, where another Namespace is, is taken at its word.
    """
    pods = servers_behind(world, service)
    mesh = world.once(Mesh)
    proxies = [mesh.proxy(each.key) for each in pods]
    if not pods or any(proxy is not None and proxy.sure for proxy in proxies):
        return None
    if all(proxy is None for proxy in proxies):
        return Outside(pods)
    namespaces = world.of_kind("", "Namespace")
    silent = [each for each in namespaces if each.key.name == service.key.namespace]
    speak = any(_SPEAKING & set(map(str, each.labels)) for each in namespaces)
    if not silent or _SPEAKING & set(map(str, silent[0].labels)) or not speak:
        return None
    return Outside(pods, f"Namespace {service.key.namespace} may be taken into the mesh elsewhere")


def _places(rule: Resource) -> Iterator[Pointer]:
    """Yield where a rule says that certificates are to be shown."""
    bodies: list[tuple[Mapping[str, Any], Pointer]] = [(rule.spec, ("spec",))]
    bodies += [(mapping(each), ("spec", "subsets", at)) for at, each in enumerate(sequence(rule.spec.get("subsets")))]
    for body, above in bodies:
        policy, place = mapping(body.get("trafficPolicy")), (*above, "trafficPolicy")
        if _is_mutual(policy):
            yield (*place, "tls", "mode")
        for at, each in enumerate(map(mapping, sequence(policy.get("portLevelSettings")))):
            if _is_mutual(each):
                yield (*place, "portLevelSettings", at, "tls", "mode")


def _is_mutual(policy: Mapping[str, Any]) -> bool:
    return mapping(policy.get("tls")).get("mode") == MUTUAL
