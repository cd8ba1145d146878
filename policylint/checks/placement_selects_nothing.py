"""GWP706: a Placement that selects no cluster."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.clusters import grounds
from policylint.clusters.kinds import CLUSTER_SET, PLACEMENT, SET_BINDING
from policylint.clusters.placements import TAINTED
from policylint.model import Finding, ResourceKey, World
from policylint.simulation import Simulation

RULE = "GWP706"
_TOLERATE = ("fix: state the taint in `tolerations`, or take it from the ManagedCluster",)
_FIX = "fix: add a ManagedClusterSetBinding that bears the name of the set to namespace "


def check(simulation: Simulation) -> Iterator[Finding]:
    world, hub = simulation.world, simulation.hub
    users: dict[ResourceKey, list[ResourceKey]] = {}
    for binding in hub.bindings:
        if binding.placement is not None:
            users.setdefault(binding.placement.key, []).append(binding.key)
    for placement in world.of_kind(*PLACEMENT):
        selection = hub.selection(placement.key)
        unbound = selection.reason == "no-clusterset-bound" or _is_left_unbound(world, placement.key, selection.reason)
        if not (selection.empty or unbound) or placement.spec.get("numberOfClusters") == 0:
            continue
        elsewhere = "bind a set" if unbound else "register clusters"
        confidence, ground = grounds(world, f"another repository may {elsewhere}")
        if selection.reason == "misconfigured":
            confidence, ground = "certain", ""
        yield Finding(
            RULE,
            "warning",
            f"{placement.key} selects no cluster",
            placement.name_location,
            resources=(placement.key, *users.get(placement.key, ())[:20]),
            label=selection.detail or _without(placement.key, selection.words, unbound=unbound),
            help=(_FIX + placement.key.namespace,) if unbound else _TOLERATE if TAINTED in selection.detail else (),
            confidence=confidence,
            ground=ground,
            field=selection.reason,
        )


def _is_left_unbound(world: World, placement: ResourceKey, reason: str) -> bool:
    """Tell whether sets are made where this placement is, and none is bound to its namespace there."""
    hidden = world.unseen.reason(ResourceKey(*SET_BINDING, placement.namespace, ""))
    return (
        reason == "set-bindings-unknown" and not hidden and not placement.unplaced and bool(world.of_kind(*CLUSTER_SET))
    )


def _without(placement: ResourceKey, words: str, *, unbound: bool) -> str:
    if unbound:
        return f"no ManagedClusterSetBinding in namespace {placement.namespace} was seen"
    return f"no cluster that was seen meets {words}"
