"""GWP706: a Placement that selects no cluster."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.clusters import grounds
from policylint.clusters.kinds import PLACEMENT
from policylint.model import Finding, ResourceKey
from policylint.simulation import Simulation

RULE = "GWP706"
_FIX = "fix: add a ManagedClusterSetBinding that bears the name of the set to namespace "


def check(simulation: Simulation) -> Iterator[Finding]:
    world, hub = simulation.world, simulation.hub
    users: dict[ResourceKey, list[ResourceKey]] = {}
    for binding in hub.bindings:
        if binding.placement is not None:
            users.setdefault(binding.placement.key, []).append(binding.key)
    for placement in world.of_kind(*PLACEMENT):
        selection = hub.selection(placement.key)
        if not selection.empty or placement.spec.get("numberOfClusters") == 0:
            continue
        elsewhere = "bind a set" if selection.reason == "no-clusterset-bound" else "register clusters"
        confidence, ground = grounds(world, f"another repository may {elsewhere}")
        if selection.reason == "misconfigured":
            confidence, ground = "certain", ""
        yield Finding(
            RULE,
            "warning",
            f"{placement.key} selects no cluster",
            placement.name_location,
            resources=(placement.key, *users.get(placement.key, ())[:20]),
            label=selection.detail or f"no cluster that was seen meets {selection.words}",
            help=(_FIX + placement.key.namespace,) if selection.reason == "no-clusterset-bound" else (),
            confidence=confidence,
            ground=ground,
            field=selection.reason,
        )
