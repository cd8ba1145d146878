"""GWP403: allowedRoutes of every listener that a parentRef selects refuses the route."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import at, path
from policylint.checks.kit.routing import graded
from policylint.model import Finding, Related, Resource
from policylint.model.words import count

if TYPE_CHECKING:
    from policylint.simulation import Simulation
    from policylint.topology import Candidate, ListenerSetState, ParentState

RULE = "GWP403"
REFUSED = "NotAllowedByListeners"


def check(world: Simulation) -> Iterator[Finding]:
    for state in world.topology.routes:
        for parent in state.parents:
            if parent.candidates and all(each.failure == REFUSED for each in parent.candidates):
                yield _finding(state.route, parent, parent.candidates)
    for listener_set in world.topology.listener_sets:
        if listener_set.allowed is False:
            yield _listener_set(world, listener_set)


def _finding(route: Resource, parent: ParentState, refusing: tuple[Candidate, ...]) -> Finding:
    first = next((each for each in refusing if not each.unknown), refusing[0])
    severity, confidence = graded(any(each.unknown for each in refusing))
    several = f" (and {count(len(refusing) - 1, 'more listener')})" if len(refusing) > 1 else ""
    return Finding(
        RULE,
        severity,
        f"{route.key} may not attach to {first.node}{several}",
        at(route, parent.pointer, "sectionName", "name"),
        resources=(route.key, parent.wanted),
        label=first.unknown or first.message or "its allowedRoutes do not admit it",
        related=(Related("this listener decides by `allowedRoutes`", first.holder.location(*first.pointer)),),
        confidence=confidence,
        field=path(parent.pointer),
    )


def _listener_set(world: Simulation, state: ListenerSetState) -> Finding:
    holder = state.listener_set
    gateway = world.world.get(state.parent)
    related: tuple[Related, ...] = ()
    if gateway is not None:
        written = "allowedListeners" in gateway.spec
        place = gateway.location("spec", "allowedListeners", key=True) if written else gateway.name_location
        related = (Related("this Gateway decides by `allowedListeners`, which allows none by default", place),)
    return Finding(
        RULE,
        "error",
        f"{holder.key} may not attach to {state.parent}",
        at(holder, ("spec", "parentRef"), "name"),
        resources=(holder.key, state.parent),
        label="its allowedListeners do not admit this namespace",
        related=related,
        field="spec.parentRef",
    )
