"""The implementations of which anything is there, and those that serve routes."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.catalog.content import owner_of_object
from policylint.implementations import Implementation, implementation
from policylint.model import ResourceKey
from policylint.simulation import Simulation
from policylint.topology import RouteState
from policylint.topology.ancestry import implementation_of


def present(simulation: Simulation) -> Iterator[Implementation]:
    """Yield the implementations of whose groups or kinds there are objects, by their names."""
    kinds = simulation.world.kinds()
    owners = {simulation.catalog.owner(group) or owner_of_object(group, kind) for group, kind in kinds}
    for name in sorted(owners - {""}):
        yield implementation(name, simulation.catalog.settings(name))


def routes_served(simulation: Simulation) -> Iterator[tuple[RouteState, list[ResourceKey], list[str]]]:
    """Yield the routes that Gateways accept, with these and the implementations behind them, where all are known."""
    by = {each.gateway.key: implementation_of(each, simulation.catalog) for each in simulation.topology.gateways}
    for route in simulation.topology.routes:
        gateways = [parent.gateway for parent in route.parents if parent.accepted and parent.gateway is not None]
        names = {name for gateway in gateways if (name := by.get(gateway))}
        if names and all(by.get(gateway) for gateway in gateways):
            yield route, gateways, sorted(names)
