"""What would happen if a policy were not there: the same environment simulated without it."""

from __future__ import annotations

from policylint.model import ResourceKey
from policylint.simulation import Simulation, simulate


def without(simulation: Simulation, key: ResourceKey) -> Simulation:
    """The environment if an object were deleted, for `compare` to tell what changes."""
    return simulate(simulation.world.without(key), simulation.catalog)
