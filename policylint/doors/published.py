"""Services and pods that are reached from outside by themselves: nobody is asked there but by addresses.

Source: kubernetes.io/docs/concepts/services-networking/service, types of Services; the `hostPort` and `hostNetwork` of
pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.doors import is_on_node, node_ports, published_as
from policylint.doors.lowered import Door, DoorRule, Guard, Opening, door, made_of
from policylint.doors.vendors import addresses_of_services, guards, ranges_of_services
from policylint.model import Resolution, Resource, ResourceKey, World, integer, mapping, sequence, text, texts
from policylint.topology import BackendState
from policylint.topology.workloads import WORKLOADS

UNSTATED = 0
"""The port of a door whose port no manifest states: the cluster chooses it."""
_FIELDS = {"LoadBalancer": "port", "NodePort": "nodePort", "ExternalIP": "port"}
_STREAMS = ("tcp", "tls", "https", "mongo", "mysql", "redis")
_NO_REQUESTS = (
    *("amqp", "bittorrent", "dns", "imap", "kafka", "ldap", "ldaps", "mqtt", "mqtts", "nfs", "postgres", "postgresql"),
    *("psql", "rcon", "rtmp", "rtsp", "sftp", "smtp", "smtps", "ssh", "submission", "syslog"),
)
"""Names of ports that say another protocol than HTTP, though a mesh does not know them."""
_NUMBERS_OF_OTHERS = frozenset(
    {21, 22, 23, 25, 53, 110, 139, 143, 389, 445, 465, 514, 554, 587, 636, 853, 873, 993, 995, 1433, 1521, 1688, 1883}
) | {1935, 2049, 3306, 3389, 3493, 5060, 5061, 5222, 5432, 5671, 5672, 6379, 6443, 6514, 8554, 8883, 9042, 9092, 9418}
_NUMBERS_OF_OTHERS |= {11211, 22000, 25565, 25575, 27017}
"""Port numbers that are registered for, or as good as always have, another protocol than HTTP without TLS."""
_EVERYTHING: Mapping[str, Any] = {"precedence": (1, 1, 0, 0, 0)}

Backends = Callable[[Resource], tuple[BackendState, ...]]


def published(world: World, backends: Backends) -> Iterator[Door]:
    """Yield the doors of Services that are published, and of pods at their nodes."""
    for service in world.of_kind("", "Service"):
        for kind in published_as(service):
            yield from _of_service(service, kind, _FIELDS[kind], backends)
    for kinds in WORKLOADS:
        for workload in world.of_kind(*kinds):
            yield from _of_pods(workload)


def _of_service(service: Resource, kind: str, field: str, backends: Backends) -> Iterator[Door]:
    key = ResourceKey("", kind, service.key.namespace, service.key.name)
    place: Pointer = ("spec", "externalIPs") if kind == "ExternalIP" else ("spec", "type")
    holder = made_of(service, service.spec, {("metadata", "name"): place}, key)
    guard = _ranges(service) if kind == "LoadBalancer" else None
    rules = []
    for number, port in enumerate(map(mapping, sequence(service.spec.get("ports")))):
        own, there = port.get("port"), port.get(field)
        if isinstance(own, int) and text(port.get("protocol"), "TCP") in ("TCP", "UDP"):
            opening = Opening(_scheme(port), there if isinstance(there, int) else UNSTATED)
            body = {**_EVERYTHING, "backendRefs": [{"name": service.key.name, "port": own}]}
            pointer: Pointer = ("spec", "ports", number)
            rules.append(DoorRule(holder, opening, "", f"port-{own}", body, pointer, (guard,) if guard else ()))
    if rules:
        yield door(holder, "", rules, guards(), backends)


def _ranges(service: Resource) -> Guard | None:
    """Return the addresses that a load balancer lets in: those of the field, else of an annotation for the same."""
    stated = texts(service.spec.get("loadBalancerSourceRanges"))
    if stated:
        return Guard(service, {"allow": stated}, {("allow",): ("spec", "loadBalancerSourceRanges")})
    for name in ranges_of_services():
        networks = [part.strip() for part in text(service.annotations.get(name)).split(",") if part.strip()]
        if networks:
            return Guard(service, {"allow": networks}, {("allow",): ("metadata", "annotations", name)})
    return None


def addresses_of(service: Resource) -> list[str]:
    """Return the addresses that lead to a Service: its own, and those of its load balancer."""
    spec, status = service.spec, mapping(service.body.get("status"))
    stated = [spec.get("clusterIP"), *sequence(spec.get("clusterIPs")), *sequence(spec.get("externalIPs"))]
    stated.append(spec.get("loadBalancerIP"))
    for name in addresses_of_services():
        stated += [part.strip() for part in text(service.annotations.get(name)).split(",")]
    stated += [mapping(each).get("ip") for each in sequence(mapping(status.get("loadBalancer")).get("ingress"))]
    return list(dict.fromkeys(address for each in stated if (address := text(each)) not in ("", "None")))


def _of_pods(workload: Resource) -> Iterator[Door]:
    rules: list[DoorRule] = []
    key = ResourceKey(
        "", "HostNetwork" if is_on_node(workload) else "HostPort", workload.key.namespace, workload.key.name
    )
    holder: Resource | None = None
    for port, there in node_ports(workload):
        own = port.get("containerPort")
        if isinstance(own, int):
            holder = holder or made_of(workload, workload.spec, {}, key)
            opening = Opening(_scheme(port), there)
            rules.append(DoorRule(holder, opening, "", f"port-{own}", _EVERYTHING, ("metadata", "name")))
    if holder is None:
        return
    there_is = Resolution("found", "", workload)

    def pods(route: Resource) -> tuple[BackendState, ...]:  # noqa: ARG001 - the workload is the backend
        names = list(dict.fromkeys(rule.name for rule in rules))
        numbers = [int(name.removeprefix("port-")) for name in names]
        return tuple(
            BackendState("backend", ("spec", "rules", index), index, workload.key, port, there_is, None, None, True)
            for index, port in enumerate(numbers)
        )

    yield door(holder, "", rules, guards(), pods)


def _scheme(port: Any) -> str:
    """Return what comes in at a port, HTTP requests or connections.

    A number that is registered for another protocol says more than the name `http`, which charts give to first ports.
    """
    if text(port.get("protocol"), "TCP") != "TCP":
        return "udp"
    stated, words = text(port.get("appProtocol")).lower(), text(port.get("name")).lower().split("-")
    named = stated or words[0]
    if named in _STREAMS or named in _NO_REQUESTS or (not stated and words[-1] == "tcp"):
        return "tcp"
    numbers = {integer(port.get(field)) for field in ("port", "targetPort", "containerPort")}
    return "tcp" if not stated and not numbers.isdisjoint(_NUMBERS_OF_OTHERS) else "http"
