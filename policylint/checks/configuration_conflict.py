"""GWP713: two policies on one cluster demand opposite things of one object."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.conflicts import DemandConflict, conflicts
from policylint.model import Confidence, Finding, Related
from policylint.model.words import leading
from policylint.simulation import Simulation

RULE = "GWP713"


def check(simulation: Simulation) -> Iterator[Finding]:
    for conflict in conflicts(simulation.hub):
        yield _finding(simulation, conflict)


def _finding(simulation: Simulation, conflict: DemandConflict) -> Finding:
    first, second = conflict.first.template.policy, conflict.second.template.policy
    names = simulation.hub.fleet.named(conflict.clusters)
    where = f" on {leading(names, 3)}" if names else ""
    confidence: Confidence = "certain" if names else "assumed"
    who = f"{first.key} contradicts itself"
    if first is not second:
        who = f"{second.key} and {first.key} disagree{where}"
    return Finding(
        RULE,
        "error" if conflict.enforced else "warning",
        f"{who} about {conflict.second.what}: {conflict.words}",
        second.location(*conflict.second.pointer, *conflict.pointer),
        resources=tuple(dict.fromkeys((second.key, first.key))),
        label="both enforce, and keep undoing each other" if conflict.enforced else "one of them is never compliant",
        related=(Related("the other demand", first.location(*conflict.first.pointer)),),
        confidence=confidence,
        ground="" if names else "no cluster was seen, but one Placement places both",
        field=f"{conflict.second.name} {conflict.words}",
    )
