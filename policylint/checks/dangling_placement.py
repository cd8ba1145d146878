"""GWP701: a PlacementBinding names a Placement or PlacementRule that is not there."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.clusters import dangling
from policylint.checks.kit.suggestions import Nearby
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP701"


def check(simulation: Simulation) -> Iterator[Finding]:
    nearby = Nearby(simulation.world)
    for binding in simulation.hub.bindings:
        if binding.placement is not None:
            effect = "the controller says nothing, and this binding places its policies on no cluster"
            yield from dangling(RULE, simulation.world, nearby, binding.resource, binding.placement, effect)
