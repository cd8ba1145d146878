"""GWP710: a Policy waits for a Policy or PolicySet that is not there."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.clusters import dangling
from policylint.checks.kit.suggestions import Nearby
from policylint.clusters.bindings import NamedReference
from policylint.clusters.templates import dependencies
from policylint.model import Finding, is_symbolic
from policylint.simulation import Simulation

RULE = "GWP710"


def check(simulation: Simulation) -> Iterator[Finding]:
    """Source: governance-policy-propagator controllers/propagator/replication.go."""
    world, hub = simulation.world, simulation.hub
    nearby = Nearby(world)
    for key in hub.policies:
        if hub.unseen_bindings(key):
            continue  # a library: what it needs may be in another one
        policy = world.resources[key]
        for dependency in dependencies(policy):
            if not is_symbolic(dependency.key.path):
                reference = NamedReference(dependency.key, dependency.pointer)
                yield from dangling(RULE, world, nearby, policy, reference, "the policy waits for ever on all clusters")
