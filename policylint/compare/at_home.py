"""What one side of a change has is at home in the tree: where the other side lacks it, no other repository has it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from policylint.compare.pairing import Sides
from policylint.model import ResourceKey
from policylint.simulation import Simulation, simulate


def at_home(sides: Sides) -> Sides:
    """Return both sides, each certain to lack the backends that only the other one has."""
    pairing = sides.pairing
    before = _lacking(sides.before, pairing.added | pairing.back.keys())
    return Sides(before, _lacking(sides.after, pairing.removed | pairing.renamed.keys()), pairing)


def _lacking(side: Simulation, others: AbstractSet[ResourceKey]) -> Simulation:
    """Return a side that knows what it lacks, computed anew where a route leads there."""
    backends = (backend for state in side.topology.routes for backend in state.backends) if others else ()
    absent = {backend.wanted for backend in backends if backend.resolution.unknown and backend.wanted in others}
    world = side.world
    absent = {key for key in absent if world.resolve(key).missing and world.elsewhere(key)}
    return simulate(world.lacking(absent), side.catalog) if absent else side
