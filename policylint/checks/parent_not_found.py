"""GWP401: a parentRef names no Gateway, ListenerSet or Service of this environment."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import at, path
from policylint.checks.kit.routing import grade
from policylint.checks.kit.suggestions import Nearby
from policylint.documents import Pointer
from policylint.model import Finding, Resolution, Resource, ResourceKey
from policylint.simulation import Simulation

if TYPE_CHECKING:
    from policylint.model.fix import Fix

RULE = "GWP401"


def check(simulation: Simulation) -> Iterator[Finding]:
    nearby = Nearby(simulation.world)
    for state in simulation.topology.routes:
        for parent in state.parents:
            if not parent.resolution.found and parent.wanted.name:  # GWP501 says that it has no name
                why = _unknown(simulation, parent.wanted, parent.resolution, nearby)
                used = {other.wanted.name for other in state.parents if other.wanted[:3] == parent.wanted[:3]}
                yield _finding(state.route, parent.pointer, parent.wanted, why, nearby, used)
    for listener_set in simulation.topology.listener_sets:
        if not listener_set.resolution.found and listener_set.parent.name:
            pointer: Pointer = ("spec", "parentRef")
            why = _unknown(simulation, listener_set.parent, listener_set.resolution, nearby)
            yield _finding(listener_set.listener_set, pointer, listener_set.parent, why, nearby)


def _unknown(simulation: Simulation, wanted: ResourceKey, resolution: Resolution, nearby: Nearby) -> str:
    """Return why a parent may exist although it was not seen, "" where it is missing.

    Alternatives among plain files are pieces, as of a tutorial: what none of them has was never meant to be here, but
    for a name that is nearly right.
    """
    world = simulation.world
    if resolution.unknown:
        return resolution.reason
    if world.alternative_of and not world.is_misspelt(wanted) and not nearby.namespaces(wanted):
        return "these files are one of several alternatives, and none of them has it"
    return world.elsewhere(wanted)


def _finding(
    holder: Resource,
    pointer: Pointer,
    wanted: ResourceKey,
    unknown: str,
    nearby: Nearby,
    used: Collection[str] = (),
) -> Finding:
    """Return the finding of a parent; `used` are the names of the holder's other parents.

    One of its name in another namespace of the tree is evidence, though its own namespace comes from elsewhere.
    """
    severity, confidence = grade(unknown)
    homes = nearby.namespaces(wanted) if not unknown or unknown == nearby.elsewhere(wanted) else []
    ground = unknown if homes else ""
    if ground:
        severity, confidence, unknown = "warning", "assumed", ""
    parent = f"parent {wanted}, which is not among these manifests" if unknown else f"missing parent {wanted}"
    location = at(holder, pointer, "name")
    fixes: tuple[Fix, ...] = ()
    if not (unknown or homes):
        from policylint.checks.kit.fixes import rename

        fixes = rename([location], wanted.name, nearby.name(wanted), nearby.names(wanted), used)
    return Finding(
        RULE,
        severity,
        f"{holder.key} names {parent}",
        location,
        resources=(holder.key, wanted),
        label=unknown or nearby.describe(wanted),
        help=(f"fix: add `namespace: {homes[0]}`",) if homes else (),
        confidence=confidence,
        ground=ground,
        field=path(pointer),
        fixes=fixes,
    )
