"""GWP310: a policy of workloads names a port of the Service, where that of the workload is meant, or one of nobody."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.present import present
from policylint.implementations.generic.workload_ports import WorkloadPort
from policylint.model import Finding, Resource, World, integer, mapping, sequence, text
from policylint.model.selectors import matches
from policylint.model.words import listing
from policylint.simulation import Simulation
from policylint.topology.workloads import WORKLOADS, container_port, pod_labels, pod_spec, services_selecting

RULE = "GWP310"


def check(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each port that is one of a Service, and of no workload behind it, and for each name of one
    that no container has."""
    for behaviour in present(simulation):
        for port in behaviour.workload_ports(simulation.world):
            workloads = list(_selected(simulation.world, port))
            if workloads and isinstance(port.port, str):
                yield from _of_name(simulation.world, port, workloads)
            elif workloads and not any(port.port in _ports(workload) for workload in workloads):
                yield from _of_number(simulation.world, port, workloads)


def _of_number(world: World, port: WorkloadPort, workloads: list[Resource]) -> Iterator[Finding]:
    for workload in workloads:
        for service in services_selecting(world, workload):
            ports = [mapping(entry) for entry in sequence(service.spec.get("ports"))]
            targets = {container_port(workload, entry.get("targetPort", entry.get("port"))) for entry in ports}
            of_service = next((entry for entry in ports if integer(entry.get("port")) == port.port), None)
            if of_service is None or port.port in targets or None in targets:
                continue
            meant = container_port(workload, of_service.get("targetPort"))
            yield Finding(
                RULE,
                "warning",
                f"{port.holder.key} {port.does} port {port.port}, which {workload.key} does not have",
                port.holder.location(*port.pointer, key=port.is_key),
                resources=(port.holder.key, workload.key, service.key),
                label=f"{port.port} is the port of {service.key}; the workload listens on {meant}",
                help=(f"fix: write `{meant}`",),
                field=path(port.pointer[1:]),
            )
            return


def _of_name(world: World, port: WorkloadPort, workloads: list[Resource]) -> Iterator[Finding]:
    """Yield that no container has a port of a name, where all pods that are selected were seen."""
    names = [list(_names(workload)) for workload in workloads]
    unseen = world.pods_elsewhere(port.selector, port.holder.key.namespace)
    if unseen or any(port.port in known for known in names) or any(each.provisional for each in workloads):
        return
    known = sorted({name for each in names for name in each if name})
    yield Finding(
        RULE,
        "warning",
        f"{port.holder.key} {port.does} port {port.port}, which {workloads[0].key} does not have",
        port.holder.location(*port.pointer, key=port.is_key),
        resources=(port.holder.key, workloads[0].key),
        label=f"the names there: {listing(known, most=5)}" if known else "no container port there has a name",
        help=("fix: name a port of a container, or its number",),
        field=path(port.pointer[1:]),
    )


def _selected(world: World, port: WorkloadPort) -> Iterator[Resource]:
    """Yield the workloads whose pods are meant; none where all of a namespace are."""
    for kind in WORKLOADS if port.selector.get("matchLabels") or port.selector.get("matchExpressions") else ():
        home = port.holder.key.namespace
        for workload in world.of_kind(*kind) if port.everywhere else world.in_namespace(*kind, home):
            if matches(port.selector, pod_labels(workload)):
                yield workload


def _ports(workload: Resource) -> set[int | None]:
    containers = map(mapping, sequence(pod_spec(workload).get("containers")))
    listed = (mapping(port) for container in containers for port in sequence(container.get("ports")))
    return {integer(port.get("containerPort")) for port in listed}


def _names(workload: Resource) -> Iterator[str]:
    spec = pod_spec(workload)
    for container in (*sequence(spec.get("containers")), *sequence(spec.get("initContainers"))):
        yield from (text(mapping(port).get("name")) for port in sequence(mapping(container).get("ports")))
