"""GWP711: a Policy waits, on some clusters, for a Policy that is not placed there."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.clusters import grounds
from policylint.clusters.templates import dependencies
from policylint.model import Finding, Related, ResourceKey
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP711"


def check(simulation: Simulation) -> Iterator[Finding]:
    world, hub = simulation.world, simulation.hub
    for key, rows in hub.policies.items():
        if all(row.nowhere for row in rows) or hub.unseen_bindings(key):
            continue
        policy = world.resources[key]
        told: set[ResourceKey] = set()
        for dependency in dependencies(policy):
            others = hub.policies.get(dependency.key)
            if others is None or dependency.key in told or dependency.key == key:
                continue
            everywhere = _united(row.clusters | row.possible for row in others)
            nowhere = all(row.nowhere for row in others)
            lacking = _united(row.clusters for row in rows) & ~everywhere
            if not lacking and not nowhere:
                continue
            told.add(dependency.key)
            where = f" on {listing(hub.fleet.named(lacking), most=4)}" if lacking else ""
            confidence, ground = grounds(world, "another repository may place it there")
            yield Finding(
                RULE,
                "warning",
                f"{key} waits{where} for {dependency.key}, which is placed {'nowhere' if nowhere else 'elsewhere'}",
                policy.location(*dependency.pointer),
                resources=(key, dependency.key),
                label="it stays pending, and does nothing",
                related=(Related("waited for", world.resources[dependency.key].name_location),),
                confidence=confidence,
                ground=ground,
                field=dependency.key.path,
            )


def _united(sets: Iterator[int]) -> int:
    union = 0
    for bits in sets:
        union |= bits
    return union
