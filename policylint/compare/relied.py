"""Secrets and ConfigMaps by whose content others than policies go: passwords, keys and authorities that doors ask by.

Certificates that are only shown to clients let nobody in, and are left out: they are renewed all the time.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.doors.certificates import asked, ends
from policylint.model import Resource, ResourceKey
from policylint.policy.content import content_references
from policylint.simulation import Simulation
from policylint.topology import ReferenceState
from policylint.topology.workloads import is_workload


def relied_on(simulation: Simulation) -> dict[ResourceKey, list[ResourceKey]]:
    """Return what such objects name, each with those that name it."""
    shown = {(end.holder.key, secret) for end in ends(simulation.world) for secret in end.secrets}
    shown |= {(each.holder.key, each.wanted) for each in _of_listeners(simulation) if each.role == "certificate"}
    found: dict[ResourceKey, list[ResourceKey]] = {}
    for holder, wanted in _named(simulation):
        owners = found.setdefault(wanted, [])
        if holder.key not in owners and (holder.key, wanted) not in shown:
            owners.append(holder.key)
    return {wanted: owners for wanted, owners in found.items() if owners}


def _named(simulation: Simulation) -> Iterator[tuple[Resource, ResourceKey]]:
    for holder in simulation.world.resources.values():
        if not is_workload(holder.key.group, holder.key.kind):
            yield from ((holder, each.wanted) for each in content_references(holder, simulation.world))
    yield from asked(simulation.world)
    yield from ((each.holder, each.wanted) for each in _of_listeners(simulation) if each.role == "ca")


def _of_listeners(simulation: Simulation) -> Iterator[ReferenceState]:
    for gateway in simulation.topology.gateways:
        for listener in gateway.listeners:
            yield from listener.references
