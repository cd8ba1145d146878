"""GWP410: a Service that a route uses names a target port that none of its pods has."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.wording import near
from policylint.model import (
    GATEWAY_GROUP,
    Finding,
    Related,
    Resource,
    ResourceKey,
    integer,
    is_symbolic,
    mapping,
    sequence,
    text,
)
from policylint.model.selectors import Labelled
from policylint.model.words import listing
from policylint.simulation import Simulation
from policylint.topology.workloads import by_pod_labels, container_ports

RULE = "GWP410"


def check(simulation: Simulation) -> Iterator[Finding]:
    used: dict[ResourceKey, dict[int, ResourceKey]] = {}
    for state in simulation.topology.routes:
        for backend in state.backends:
            if backend.wanted[:2] == ("", "Service") and backend.port_found and backend.port is not None:
                used.setdefault(backend.wanted, {}).setdefault(backend.port, state.route.key)
    for key, routes in used.items():
        service = simulation.world.get(key)
        if service is None or service.spec.get("type") == "ExternalName":
            continue
        yield from _of_service(simulation, service, routes, by_pod_labels(simulation.world, key.namespace))


def _of_service(
    simulation: Simulation, service: Resource, routes: dict[int, ResourceKey], pods: Labelled[Resource]
) -> Iterator[Finding]:
    named = [
        (index, entry, text(entry.get("targetPort")))
        for index, entry in enumerate(map(mapping, sequence(service.spec.get("ports"))))
        if integer(entry.get("port")) in routes
        and text(entry.get("targetPort"))
        and not is_symbolic(entry["targetPort"])
    ]
    if not named:
        return
    selector = mapping(service.spec.get("selector"))
    workloads = list(pods.matching({"matchLabels": selector})) if selector else []
    ports = [container_ports(workload) for workload in workloads]
    if not workloads or None in ports:
        return  # the pods come from elsewhere
    for index, entry, name in named:
        protocol = text(entry.get("protocol"), "TCP")
        known = {other for each in ports for other, spoken in each or () if spoken == protocol}
        if name not in known:
            yield _finding(simulation, routes[entry["port"]], service, index, name, workloads, sorted(known))


def _finding(
    simulation: Simulation,
    route: ResourceKey,
    service: Resource,
    index: int,
    name: str,
    workloads: list[Resource],
    known: list[str],
) -> Finding:
    pointer = ("spec", "ports", index, "targetPort")
    guess = near(name, known)
    uncertain = next(filter(None, (resource.provisional for resource in (service, *workloads))), "")
    charts = simulation.world.unseen.reason(ResourceKey(GATEWAY_GROUP, "", service.key.namespace, ""))
    idle = all(workload.spec.get("replicas") == 0 for workload in workloads)
    has = f"names {listing(known)}" if known else "names no port"
    return Finding(
        RULE,
        "note" if uncertain else "warning" if charts or idle else "error",
        f'{route} sends requests to {service.key}, whose targetPort "{name}" no pod declares',
        service.location(*pointer),
        resources=(service.key, route, workloads[0].key),
        label=f"{workloads[0].key} {has}" + (f' (did you mean "{guess}"?)' if guess else ""),
        related=(Related("the pods that it selects", workloads[0].name_location),),
        help=("fix: write the number of the port, or give a container port this name",),
        confidence="unknown" if uncertain else "assumed" if charts else "certain",
        ground=uncertain or (charts and f"other pods may have these labels; {charts}"),
        field=path(pointer),
    )
