"""Hosts of VirtualServices that no server of their Gateways takes, and ports of Gateways that no Service leads to.

Source: istio.io/docs/reference/config/analysis, IST0132 and IST0104; pilot/pkg/networking/core/gateway.go: requests for
a host are answered by the VirtualServices that share it with a server; a server listens on the container's port that
the Service gives its number, or on that number itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.doors import is_on_node, node_ports
from policylint.doors.istio import shared
from policylint.doors.istio_rules import MESH, in_full
from policylint.doors.variables import entries
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.gateway_pods import OWN_GATEWAY, selected
from policylint.model import Resource, Severity, World, is_symbolic, mapping, sequence, text
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.model.words import listing
from policylint.topology.service_ports import ports
from policylint.topology.workloads import container_port, services_selecting


def unserved(world: World) -> Iterator[DeadEnd]:
    """Yield the hosts of VirtualServices for Gateways alone, all of them seen, that no server of these takes."""
    known = {f"{gateway.key.namespace}/{gateway.key.name}": gateway for gateway in world.of_kind(*OWN_GATEWAY)}
    for virtual in world.of_kind(*VIRTUAL_SERVICE) if known else ():
        named, hosts = in_full(virtual, virtual.spec.get("gateways")), entries(virtual, "hosts")
        gateways = [known[name] for name in named if name in known]
        if MESH in named or len(gateways) < len(named) or not all(map(_is_stated, hosts)):
            continue
        offered = [(gateway, host) for gateway in gateways for host in _hosts(gateway)]
        if not offered or not all(_is_stated(host) for _, host in offered):
            continue
        home = virtual.key.namespace
        lost = [
            number
            for number, host in enumerate(hosts)
            if all(shared(text(host), text(other), home, each.key.namespace) is None for each, other in offered)
        ]
        for number in lost[:1]:
            others = listing(sorted({text(host) for _, host in offered}), word="or")
            does = f"is for host {hosts[number]}, which no server of {gateways[0].key} takes ({others})"
            fix = f"add it to `hosts` of a server of {gateways[0].key}, or name another Gateway"
            about = tuple(dict.fromkeys(each.key for each in gateways))
            then = "no request for it comes here: the Gateway answers 404"
            severity: Severity = "error" if len(lost) == len(hosts) else "warning"
            yield DeadEnd(virtual, ("spec", "hosts", number), does, fix, about, "", then, severity)


def unreached(world: World) -> Iterator[DeadEnd]:
    """Yield the ports of Gateways that no Service before their pods has, neither as its own nor as the container's."""
    for gateway in world.of_kind(*OWN_GATEWAY):
        pods = selected(world, gateway)
        services = {service.key: service for each in pods for service in services_selecting(world, each)}
        if not services or any(is_on_node(each) or any(node_ports(each)) for each in pods):
            continue
        led = {
            number
            for service in services.values()
            for port in sequence(service.spec.get("ports"))
            for number in (mapping(port).get("port"), *_of_containers(mapping(port).get("targetPort"), pods))
        }
        if not led or not all(isinstance(number, int) for number in led):
            continue
        service = next(iter(services.values()))
        for number, server in enumerate(map(mapping, sequence(gateway.spec.get("servers")))):
            wanted = mapping(server.get("port")).get("number")
            if isinstance(wanted, int) and wanted not in led:
                does = f"listens on port {wanted}, which {service.key} before its pods does not have"
                known = listing([each.number for each in ports(service)], word="or")
                fix, then = f"add the port to {service.key}, or use {known}", "no connection comes in by it"
                place = ("spec", "servers", number, "port", "number")
                yield DeadEnd(gateway, place, does, fix, (service.key,), "", then, "warning")


def _of_containers(target: object, pods: Sequence[Resource]) -> Iterator[object]:
    if target is not None:
        yield from (container_port(each, target) for each in pods)


def _hosts(gateway: Resource) -> Iterator[object]:
    for server in map(mapping, sequence(gateway.spec.get("servers"))):
        yield from sequence(server.get("hosts"))


def _is_stated(host: object) -> bool:
    return isinstance(host, str) and not is_symbolic(host)
