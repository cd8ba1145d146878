"""Objects of Istio's networking that its webhook refuses, and hosts of Sidecars that are those of nothing.

Source: pkg/config/validation/validation.go, ValidateServiceEntry and ValidateSidecar (1.30);
pilot/pkg/model/sidecar.go, selectServices, which compares whole names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from policylint.documents import Pointer
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.gateway_pods import OWN_GATEWAY
from policylint.implementations.istio.refused_routing import Fault, of_destination_rule, of_gateway, of_virtual_service
from policylint.model import Resource, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.keys import is_no_host_yet
from policylint.model.kinds import SIDECAR, VIRTUAL_SERVICE

_DESTINATION_RULE = ("networking.istio.io", "DestinationRule")
SERVICE_ENTRY = ("networking.istio.io", "ServiceEntry")
_BY_DNS = ("DNS", "DNS_ROUND_ROBIN")
TOLD_APART = ("HTTP", "HTTP2", "GRPC", "GRPC-WEB", "HTTPS", "TLS", "HTTP_PROXY")
"""Protocols of which a connection tells the host: by its requests, or by the server name of TLS."""
_LOCAL = ("", "127.0.0.1", "0.0.0.0", "[::1]", "[::]")
_THEN = "Istio refuses the object: what it holds stays as it was, and a new one is not there at all"


def refused(world: World) -> Iterator[DeadEnd]:
    """Yield what is wrong with each object first; what a variable fills in may be right."""
    checks: tuple[tuple[tuple[str, str], Callable[[Resource], Iterator[Fault]]], ...] = (
        (SERVICE_ENTRY, _of_entry),
        (SIDECAR, _of_sidecar),
        (OWN_GATEWAY, of_gateway),
        (VIRTUAL_SERVICE, of_virtual_service),
        (_DESTINATION_RULE, of_destination_rule),
    )
    for kind, faults in checks:
        for holder in world.of_kind(*kind):
            for pointer, does, fix in list(faults(holder))[:1]:
                yield DeadEnd(holder, ("spec", *pointer), does, fix, then=_THEN)
    for sidecar in world.of_kind(*SIDECAR):
        yield from _short(sidecar, world)


def _of_entry(entry: Resource) -> Iterator[Fault]:
    hosts, endpoints = texts(entry.spec.get("hosts")), sequence(entry.spec.get("endpoints"))
    resolution = text(entry.spec.get("resolution")) or "NONE"
    addresses = texts(entry.spec.get("addresses"))
    wild = next((number for number, host in enumerate(hosts) if host.startswith("*")), None)
    if any(map(is_symbolic, (*hosts, *addresses, resolution))):
        return
    if "*" in hosts:
        yield ("hosts", hosts.index("*")), "has host `*`, which Istio refuses", "name a domain: `*.example.com`"
    if entry.spec.get("workloadSelector") is not None and endpoints:
        fix = "keep one of workloadSelector and endpoints"
        yield ("workloadSelector",), "has both a workloadSelector and endpoints, and Istio accepts only one", fix
    if resolution in _BY_DNS and not endpoints and wild is not None:
        does = f"has {hosts[wild]} looked up (`resolution: {resolution}`), and DNS knows no wildcards"
        fix = "`resolution: NONE` sends requests to the address that the client asks for; or state endpoints"
        yield ("hosts", wild), does, fix
    if resolution in (*_BY_DNS, "DYNAMIC_DNS") and any("/" in address for address in addresses):
        does = f"has ranges of addresses, which go with `resolution: NONE` or STATIC and not with {resolution}"
        yield ("addresses",), does, "state single addresses, or `resolution: NONE`"
    if resolution == "NONE" and endpoints:
        does = "has endpoints, and with `resolution: NONE` requests go to the address that the client asks for"
        yield ("endpoints",), does, "`resolution: STATIC` for addresses, DNS for names"
    if resolution == "DNS_ROUND_ROBIN" and len(endpoints) > 1:
        yield ("endpoints",), "has several endpoints, and DNS_ROUND_ROBIN accepts only one", "`resolution: DNS`"
    if resolution == "DYNAMIC_DNS":
        plain = next((number for number, host in enumerate(hosts) if not host.startswith("*")), None)
        if plain is not None:
            yield ("hosts", plain), f"has host {hosts[plain]}, and DYNAMIC_DNS is for wildcards", "`resolution: DNS`"
        if addresses or endpoints:
            field = "addresses" if addresses else "endpoints"
            yield (field,), f"has {field}, which DYNAMIC_DNS does not take", f"leave {field} out"
    yield from _ports_of_entry(entry, resolution, hosts)


def _ports_of_entry(entry: Resource, resolution: str, hosts: list[str]) -> Iterator[Fault]:
    seen: set[object] = set()
    for number, port in enumerate(map(mapping, sequence(entry.spec.get("ports")))):
        place: Pointer = ("ports", number)
        for field in ("name", "number"):
            value = port.get(field)
            if not isinstance(value, str | int):
                continue
            if (field, value) in seen:
                yield (*place, field), f"has two ports of {field} {value}", f"give each port a {field} of its own"
            seen.add((field, value))
        protocol = text(port.get("protocol")).upper() or "TCP"
        if resolution != "NONE" and len(hosts) > 1 and protocol not in TOLD_APART and not is_symbolic(protocol):
            does = f"has several hosts on a port of {protocol}, by which nothing tells them apart"
            yield (*place, "protocol"), does, "write a ServiceEntry for each host, or a protocol that names the host"


def _of_sidecar(sidecar: Resource) -> Iterator[Fault]:
    fields = ("egress", "ingress", "outboundTrafficPolicy", "inboundConnectionPool")
    if not any(sidecar.spec.get(field) for field in fields):
        yield (), "is empty", f"state one of {', '.join(fields)}"
    listeners = sequence(sidecar.spec.get("egress"))
    for number, listener in enumerate(map(mapping, listeners)):
        if not sequence(listener.get("hosts")):
            yield ("egress", number), f"has no hosts in egress[{number}]", "name hosts: `./*`, or `~/*` for none"
        if listener.get("port") is None and number < len(listeners) - 1:
            does = f"has listeners after egress[{number}], which has no port and takes what no other listener takes"
            yield ("egress", number), does, "move it to the end"
        for index, host in enumerate(texts(listener.get("hosts"))):
            if "/" not in host and not is_no_host_yet(host):
                does = f"lists {host}, and hosts are written as NAMESPACE/HOST"
                yield ("egress", number, "hosts", index), does, f"`*/{host}`, or `./{host}` for this namespace alone"
    seen: set[object] = set()
    for number, listener in enumerate(map(mapping, sequence(sidecar.spec.get("ingress")))):
        port = mapping(listener.get("port")).get("number")
        if isinstance(port, int) and port in seen:
            yield ("ingress", number, "port"), f"has two listeners on port {port} in ingress", "keep one of them"
        seen.update([port] if isinstance(port, int) else [])
        endpoint = text(listener.get("defaultEndpoint"))
        if endpoint and not endpoint.startswith("unix://") and endpoint.rpartition(":")[0] not in _LOCAL:
            does = f"sends what comes in to {endpoint}, which is not of the pod itself"
            yield ("ingress", number, "defaultEndpoint"), does, "127.0.0.1:PORT, 0.0.0.0:PORT or unix://PATH"


def _short(sidecar: Resource, world: World) -> Iterator[DeadEnd]:
    """Yield the hosts of a Sidecar that are the short name of a Service: whole names are compared."""
    for number, listener in enumerate(map(mapping, sequence(sidecar.spec.get("egress")))):
        for index, written in enumerate(texts(listener.get("hosts"))):
            home, _, host = written.partition("/")
            namespace = sidecar.key.namespace if home == "." else home
            service = next(
                (
                    each.key
                    for each in world.of_kind("", "Service")
                    if host in (each.key.name, f"{each.key.name}.{each.key.namespace}")
                    and namespace in ("*", each.key.namespace)
                ),
                None,
            )
            if service is not None:
                full = f"{service.name}.{service.namespace}.svc.cluster.local"
                does = f"lists {written}, and Services are compared by their whole names: it shows none"
                place: Pointer = ("spec", "egress", number, "hosts", index)
                then = "the pods send to it as to what is not of the mesh, or, with REGISTRY_ONLY, not at all"
                yield DeadEnd(sidecar, place, does, f"`{home}/{full}`", (service,), then=then)
