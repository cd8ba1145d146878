"""GWP703: a PolicySet names a Policy that is not there."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.clusters import dangling
from policylint.checks.kit.suggestions import Nearby
from policylint.clusters.bindings import members
from policylint.clusters.kinds import POLICY_SET
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP703"


def check(simulation: Simulation) -> Iterator[Finding]:
    nearby = Nearby(simulation.world)
    for policy_set in simulation.world.of_kind(*POLICY_SET):
        for member in members(policy_set):
            yield from dangling(RULE, simulation.world, nearby, policy_set, member, "the set places the others alone")
