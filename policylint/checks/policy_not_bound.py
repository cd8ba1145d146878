"""GWP705: a Policy that no PlacementBinding names, directly or through a PolicySet."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.clusters import grounds
from policylint.clusters.kinds import BINDING
from policylint.clusters.state import Hub
from policylint.model import Finding, ResourceKey, World
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP705"
_UNBOUND = ("not-bound", "disabled")
_FEW = 2
"""Files of Policies beside each other of which none is bound, at most, where that is an oversight."""


def check(simulation: Simulation) -> Iterator[Finding]:
    world, hub = simulation.world, simulation.hub
    named = {subject.key for binding in hub.bindings for subject in binding.subjects}
    for key, placements in hub.policies.items():
        sets = [policy_set.key for policy_set in hub.sets_of(key)]
        if placements[0].reason != "not-bound" or not named.isdisjoint((key, *sets)):
            continue
        if hub.unseen_bindings(key) or _is_of_a_library(world, key) or _is_of_a_collection(world, hub, key):
            continue
        confidence, ground = grounds(world, "another repository may bind it")
        label = (
            f"no PlacementBinding names it or {listing(sets, word='or', most=3)}"
            if sets
            else "no PlacementBinding names it"
        )
        yield Finding(
            RULE,
            "warning",
            f"{key} is placed on no cluster",
            world.resources[key].name_location,
            resources=(key, *sets),
            label=label,
            confidence=confidence,
            ground=ground,
        )


def _is_of_a_collection(world: World, hub: Hub, policy: ResourceKey) -> bool:
    """Return whether others bind it, as they do those that lie beside it: at least two in other files, and none of all
    those is bound that have no binding in their own file."""
    own = {each.document.file for each in world.of_kind(*BINDING)}
    file_of = {key: world.resources[key].document.file for key in hub.policies}
    home = file_of[policy].rpartition("/")[0]
    beside = [key for key, file in file_of.items() if file.rpartition("/")[0] == home and file not in own]
    are_many = len({file_of[key] for key in beside}) > _FEW
    return are_many and policy in beside and all(hub.policies[key][0].reason in _UNBOUND for key in beside)


def _is_of_a_library(world: World, policy: ResourceKey) -> bool:
    """Return whether others bind it: nothing here binds Policies of its namespace, or of its file if it names none."""
    resource, bindings = world.resources[policy], world.in_namespace(*BINDING, policy.namespace)
    if resource.metadata.get("namespace"):
        return not bindings
    return all(each.document.file != resource.document.file for each in bindings)
