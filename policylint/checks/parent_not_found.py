"""GWP401: a parentRef names no Gateway, ListenerSet or Service of this environment."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.fixes import set_value
from policylint.checks.kit.locations import at, path
from policylint.checks.kit.routing import grade
from policylint.checks.kit.suggestions import Nearby
from policylint.documents import Pointer
from policylint.model import Finding, Resolution, Resource, ResourceKey
from policylint.simulation import Simulation

RULE = "GWP401"


def check(simulation: Simulation) -> Iterator[Finding]:
    nearby = Nearby(simulation.world)
    for state in simulation.topology.routes:
        for parent in state.parents:
            if not parent.resolution.found:
                yield _finding(state.route, parent.pointer, parent.wanted, parent.resolution, nearby)
    for listener_set in simulation.topology.listener_sets:
        if not listener_set.resolution.found:
            pointer: Pointer = ("spec", "parentRef")
            yield _finding(listener_set.listener_set, pointer, listener_set.parent, listener_set.resolution, nearby)


def _finding(
    holder: Resource, pointer: Pointer, wanted: ResourceKey, resolution: Resolution, nearby: Nearby
) -> Finding:
    unknown = resolution.reason if resolution.unknown else nearby.elsewhere(wanted)
    severity, confidence = grade(unknown)
    homes = [] if unknown else nearby.namespaces(wanted)
    parent = f"parent {wanted}, which was not seen" if unknown else f"missing parent {wanted}"
    location = at(holder, pointer, "name")
    return Finding(
        RULE,
        severity,
        f"{holder.key} names {parent}",
        location,
        resources=(holder.key, wanted),
        label=unknown or nearby.describe(wanted),
        help=(f"fix: add `namespace: {homes[0]}`",) if homes else (),
        confidence=confidence,
        field=path(pointer),
        fixes=() if unknown or homes else set_value(location, wanted.name, nearby.name(wanted), nearby.names(wanted)),
    )
