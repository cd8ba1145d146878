"""GWP403: allowedRoutes of every listener that a parentRef selects refuses the route, or nobody serves the listener."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import at, path
from policylint.checks.kit.routing import grade, softened
from policylint.model import Finding, Related, Resource
from policylint.model.words import count
from policylint.simulation import Simulation
from policylint.topology import ListenerSetState, ListenerState, ParentState

RULE = "GWP403"
_ALLOW = "fix: allow the route in the listener's `allowedRoutes`, or attach it to another listener"
_ALLOW_SET = "fix: allow the ListenerSet in the Gateway's `allowedListeners`, or attach the route to the Gateway"
_REFUSED_SET = "its Gateway does not allow the ListenerSet"
REFUSED = "NotAllowedByListeners"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.topology.routes:
        for parent in state.parents:
            if parent.candidates and all(candidate.failure == REFUSED for candidate in parent.candidates):
                yield _finding(simulation, state.route, parent)
    from policylint.simulation.serving import unserved_listeners

    unserved = unserved_listeners(simulation)
    for gateway in simulation.topology.gateways:
        yield from (_idle(each, unserved[each.node]) for each in gateway.listeners if each.node in unserved)
    for listener_set in simulation.topology.listener_sets:
        reasons = [unserved.get(listener.node, "") for listener in listener_set.listeners]
        if listener_set.allowed is False:
            yield _listener_set(simulation, listener_set)
        elif reasons and all(reasons):
            yield _unserved(listener_set, reasons[0])


def _finding(simulation: Simulation, route: Resource, parent: ParentState) -> Finding:
    refusing = parent.candidates
    first = next((candidate for candidate in refusing if not candidate.unknown), refusing[0])
    severity, confidence = grade(any(candidate.unknown for candidate in refusing))
    several = f" (and {count(len(refusing) - 1, 'more listener')})" if len(refusing) > 1 else ""
    why, decides, fix = "its allowedRoutes does not allow it", "this listener's `allowedRoutes` decides", _ALLOW
    if any(
        each.listener_set.key == first.holder.key and each.allowed is False
        for each in simulation.topology.listener_sets
    ):
        why, decides, fix = _REFUSED_SET, "no listener of it is served", _ALLOW_SET
    finding = Finding(
        RULE,
        severity,
        f"{route.key} may not attach to {first.node}{several}",
        at(route, parent.pointer, "sectionName", "name"),
        resources=(route.key, parent.wanted),
        label=why if fix is _ALLOW_SET else first.unknown or first.message or why,
        related=(Related(decides, first.holder.location(*first.pointer)),),
        help=(fix,),
        confidence=confidence,
        field=path(parent.pointer),
    )
    return softened(finding, simulation, [first.node.key], "asks this")


def _listener_set(simulation: Simulation, state: ListenerSetState) -> Finding:
    holder = state.listener_set
    gateway = simulation.world.get(state.parent)
    related: tuple[Related, ...] = ()
    if gateway is not None:
        written = "allowedListeners" in gateway.spec
        place = gateway.location("spec", "allowedListeners", key=True) if written else gateway.name_location
        related = (Related("this Gateway's `allowedListeners` decides, which allows none by default", place),)
    return Finding(
        RULE,
        "error",
        f"{holder.key} may not attach to {state.parent}",
        at(holder, ("spec", "parentRef"), "name"),
        resources=(holder.key, state.parent),
        label="its allowedListeners does not allow this namespace",
        related=related,
        field="spec.parentRef",
    )


def _idle(listener: ListenerState, why: str) -> Finding:
    """Return the finding about a listener of a Gateway that its proxy does not serve."""
    return Finding(
        RULE,
        "error",
        f"{listener.node} is not served, so no route gets requests from it",
        at(listener.holder, listener.pointer, "port"),
        resources=(listener.holder.key,),
        label=why,
        field=path(listener.pointer),
    )


def _unserved(state: ListenerSetState, why: str) -> Finding:
    """Return the finding about a ListenerSet that its Gateway's proxy does not serve at all."""
    holder = state.listener_set
    return Finding(
        RULE,
        "error",
        f"{holder.key} has no effect at {state.parent}: its listeners are not served",
        at(holder, ("spec", "parentRef"), "name"),
        resources=(holder.key, state.parent),
        label=why,
        help=(f"fix: move its listeners to {state.parent}, or name a Gateway that takes them",),
    )
