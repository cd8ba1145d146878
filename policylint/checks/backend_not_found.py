"""GWP406: a backendRef to an object that nothing deploys, or to a port that it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.fixes import only_near
from policylint.checks.kit.locations import at, path
from policylint.checks.kit.routing import graded
from policylint.checks.kit.suggestions import Nearby
from policylint.model import Finding, Related, Resource, mapping, sequence
from policylint.model.fix import Change, Fix
from policylint.model.words import count, listing

if TYPE_CHECKING:
    from policylint.simulation import Simulation
    from policylint.topology import BackendState

RULE = "GWP406"


def check(world: Simulation) -> Iterator[Finding]:
    nearby = Nearby(world.world)
    for state in world.topology.routes:
        folded: dict[object, list[BackendState]] = {}
        for each in state.backends:
            if each.reason == "InvalidKind" or not each.resolution.found or each.port_found is False:
                folded.setdefault((each.wanted, each.port), []).append(each)
        for backends in folded.values():
            yield _finding(world, state.route, backends, nearby)


def _finding(world: Simulation, route: Resource, backends: list[BackendState], nearby: Nearby) -> Finding:
    first = backends[0]
    wanted, resolution = first.wanted, first.resolution
    related: tuple[Related, ...] = ()
    field = "name"
    unknown = resolution.reason if resolution.unknown else nearby.elsewhere(wanted) if resolution.missing else ""
    if first.reason == "InvalidKind":
        field, unknown, says = "kind", "", f"{wanted}, which is no kind of backend"
        label = first.message or f"{wanted.kind} takes no requests"
    elif unknown:
        says, label = f"{wanted}, which was not seen", unknown
    elif resolution.missing:
        says, label = f"missing {wanted}", nearby.describe(wanted)
    else:
        field, says = "port", f"port {first.port} of {wanted}, which it does not have"
        ports, related = _ports(world.world.get(wanted))
        label = f"{wanted} has {ports}"
    severity, confidence = graded(unknown)
    more = f" (in {count(len(backends), 'place')})" if len(backends) > 1 else ""
    return Finding(
        RULE,
        severity,
        f"{route.key} sends requests to {says}{more}",
        at(route, first.pointer, field, "name"),
        resources=(route.key, wanted),
        label=label,
        related=related,
        confidence=confidence,
        field=path(first.pointer),
        fixes=_renamed(route, backends, nearby) if field == "name" and not unknown else (),
    )


def _renamed(route: Resource, backends: list[BackendState], nearby: Nearby) -> tuple[Fix, ...]:
    """The one Service that is near, in every place that names the missing one."""
    wanted = backends[0].wanted
    guess = only_near(wanted.name, nearby.names(wanted))
    if not guess or nearby.namespaces(wanted):
        return ()
    places = [at(route, each.pointer, "name") for each in backends]
    return (Fix(f"write `name: {guess}`", tuple(Change("set", each, wanted.name, guess) for each in places)),)


def _ports(service: Resource | None) -> tuple[str, tuple[Related, ...]]:
    """`ports 80 and 443`, and where they are written."""
    if service is None:
        return "other ports", ()
    numbers = [mapping(each).get("port") for each in sequence(service.spec.get("ports"))]
    text = f"{'port' if len(numbers) == 1 else 'ports'} {listing(numbers)}"
    return text, (Related("its ports", service.location("spec", "ports", key=True)),)
