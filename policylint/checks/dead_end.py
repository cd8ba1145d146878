"""GWP415: an object that sends requests to where nothing answers them.

One beside Gateway API, or a route to a Service whose workloads are all scaled to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import path
from policylint.checks.kit.present import present
from policylint.model import Finding, Related, mapping
from policylint.model.kinds import WAYS_IN
from policylint.simulation import Simulation

if TYPE_CHECKING:
    from policylint.implementations.generic.dead_ends import DeadEnd

RULE = "GWP415"


def check(simulation: Simulation) -> Iterator[Finding]:
    yield from _scaled_down(simulation)
    for end in _beside(simulation):
        if end.binds(simulation.catalog):
            continue  # GWP406 tells of what annotations bind, whatever bears them
        yield Finding(
            RULE,
            end.severity,
            f"{end.holder.key} {end.does}",
            end.holder.location(*end.pointer),
            resources=(end.holder.key, *end.about),
            label=end.then,
            help=(f"fix: {end.fix}",),
            confidence="assumed" if end.ground else "certain",
            ground=end.ground,
            field=path(end.pointer),
        )


def _beside(simulation: Simulation) -> Iterator[DeadEnd]:
    """Yield the dead ends of objects beside Gateway API: of implementations, and of doors."""
    for behaviour in present(simulation):
        yield from behaviour.dead_ends(simulation.world)
    if not WAYS_IN.keys().isdisjoint(simulation.world.kinds()):
        from policylint.doors.dead_ends import dead_ends

        yield from dead_ends(simulation.world)


def _scaled_down(simulation: Simulation) -> Iterator[Finding]:
    """Yield the backends of routes behind which every workload has no replicas, and nothing gives it any."""
    world = simulation.world
    for route in simulation.topology.routes:
        for backend in route.backends:
            service = world.get(backend.wanted)
            if service is None or service.key[:2] != ("", "Service") or backend.role != "backend":
                continue
            from policylint.topology.workloads import workloads_selected

            behind = workloads_selected(world, service)
            selector = {"matchLabels": mapping(service.spec.get("selector"))}
            empty = all(type(each.spec.get("replicas")) is int and each.spec["replicas"] == 0 for each in behind)
            if behind and empty and not world.pods_elsewhere(selector, service.key.namespace):
                yield Finding(
                    RULE,
                    "note",
                    f"{route.route.key} sends requests to {service.key}, which has no pods",
                    route.route.location(*backend.pointer),
                    resources=(route.route.key, service.key, behind[0].key),
                    label="these requests are answered with 503",
                    related=(Related("no replicas", behind[0].location("spec", "replicas")),),
                    help=(f"fix: give {behind[0].key} replicas, or take the backend out",),
                    confidence="assumed",
                    ground="something outside these manifests may scale it",
                    field=path(backend.pointer),
                )
