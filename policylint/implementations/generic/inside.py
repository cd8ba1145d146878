"""Which policies a proxy inside a mesh may ask: none of whose controller serves Gateways alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from policylint.topology.ancestry import implementation_of

if TYPE_CHECKING:
    from policylint.simulation import Simulation


def asked_inside(numbers: Sequence[int], simulation: Simulation) -> list[int]:
    """Return those of some effective policies that may be asked: not those of Gateways, but of who serves waypoints."""
    if not numbers:
        return []
    catalog, gateways = simulation.catalog, simulation.topology.gateways
    waypoints = (each for each in gateways if any(listener.protocol == "HBONE" for listener in each.listeners))
    fronts = {implementation_of(each, catalog) for each in waypoints}
    kinds = ((number, simulation.groups[number].kind) for number in numbers)
    return [number for number, kind in kinds if catalog.reads("", kind) or kind.implementation in fronts]
