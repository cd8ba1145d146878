"""GWP707: a PlacementBinding with `subFilter: restricted` whose subjects no other binding places."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.clusters import grounds
from policylint.clusters.bindings import members, resolve
from policylint.clusters.kinds import POLICY
from policylint.model import Finding, Resource, ResourceKey
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP707"


def check(simulation: Simulation) -> Iterator[Finding]:
    world, hub = simulation.world, simulation.hub
    for binding in hub.bindings:
        if not binding.restricted or binding.placement is None or world.unseen.reason(binding.key._replace(name="")):
            continue
        subjects = [resolve(world, subject.key).resource for subject in binding.subjects]
        idle = [s.key for s in subjects if s is not None and not any(hub.of_policy(p).bound for p in _policies(s))]
        if idle:
            confidence, ground = grounds(world, "another repository may bind it")
            yield Finding(
                RULE,
                "warning",
                f"{binding.key} places {listing(idle, most=3)} on no cluster",
                binding.resource.location("subFilter"),
                resources=(binding.key, *idle[:20]),
                label="a restricted binding only overrides where another binding places",
                help=("fix: remove `subFilter: restricted`, or add a binding without it",),
                confidence=confidence,
                ground=ground,
                field="subFilter",
            )


def _policies(subject: Resource) -> list[ResourceKey]:
    return [subject.key] if subject.key[:2] == POLICY else [member.key for member in members(subject)]
