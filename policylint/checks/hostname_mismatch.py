"""GWP404: no hostname of the route is one of the listeners that would take it."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.routing import grade
from policylint.model import Finding, Related, Resource
from policylint.model.words import listing
from policylint.simulation import Simulation
from policylint.topology import ParentState

RULE = "GWP404"
MISMATCH = "NoMatchingListenerHostname"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.topology.routes:
        for parent in state.parents:
            failures = {candidate.failure for candidate in parent.candidates}
            if MISMATCH in failures and failures <= {MISMATCH, "NotAllowedByListeners"}:
                yield _finding(state.route, state.hostnames, parent)


def _finding(route: Resource, hostnames: tuple[str, ...], parent: ParentState) -> Finding:
    missed = [candidate for candidate in parent.candidates if candidate.failure == MISMATCH][:3]
    severity, confidence = grade(any(candidate.unknown for candidate in parent.candidates))
    return Finding(
        RULE,
        severity,
        f"{route.key} has no hostname in common with {parent.text}",
        route.location("spec", "hostnames", 0),
        resources=(route.key, parent.wanted),
        label=f"{listing(hostnames, word='or', most=3)} is not a host of the listener",
        related=tuple(Related(f"the hosts of {each.node}", each.holder.location(*each.pointer)) for each in missed),
        confidence=confidence,
        field=path(parent.pointer),
    )
