"""GWP709: an exclusion of a PolicySet that keeps a Policy from no cluster."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.bindings import exclusions, members
from policylint.clusters.kinds import POLICY_SET
from policylint.clusters.state import Hub
from policylint.model import Finding, Related, Resource, ResourceKey, is_symbolic
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP709"


def check(simulation: Simulation) -> Iterator[Finding]:
    world, hub = simulation.world, simulation.hub
    ways: dict[ResourceKey, tuple[int, int]] = {}
    for policy_set in world.of_kind(*POLICY_SET):
        inside = {member.key for member in members(policy_set)}
        for exclusion in exclusions(policy_set):
            policy, place = exclusion.policy, policy_set.location(*exclusion.pointer)
            if policy not in inside:
                if policy.name and not any(is_symbolic(key.name) for key in (policy, *inside)):
                    yield Finding(
                        RULE,
                        "error",
                        f"{policy_set.key} excludes {policy}, which is not in the set",
                        place,
                        resources=(policy_set.key, policy),
                        label="the webhook refuses the set",
                        field=policy.name,
                    )
                continue
            if not hub.coverage(policy_set.key).bound:
                continue
            if policy not in ways:
                ways[policy] = _ways(hub, policy)
            once, twice = ways[policy]
            own = hub.on_way(policy, policy_set.key).placed.sure
            undone = (twice | once & ~own) & hub.fleet.bits(exclusion.clusters)
            if undone:
                names = hub.fleet.named(undone)
                binding = _placing(hub, policy, undone)
                yield Finding(
                    RULE,
                    "warning",
                    f"{policy_set.key} excludes {policy} from {listing(names)}, where it is placed anyway",
                    place,
                    resources=(policy_set.key, policy, *(resource.key for resource in binding)),
                    label="an exclusion only concerns what is placed through its set",
                    related=tuple(Related("places it there", resource.name_location) for resource in binding),
                    field=policy.name,
                )


def _ways(hub: Hub, policy: ResourceKey) -> tuple[int, int]:
    """Return the clusters on which a policy is placed for certain, and those on which it is in two ways."""
    once, twice = hub.coverage(policy).placed.sure, 0
    for policy_set in hub.sets_of(policy):
        way = hub.on_way(policy, policy_set.key).placed.sure
        once, twice = once | way, twice | once & way
    return once, twice


def _placing(hub: Hub, policy: ResourceKey, clusters: int) -> list[Resource]:
    """Return the first binding that places a policy on one of some clusters."""
    for subject in (policy, *(policy_set.key for policy_set in hub.sets_of(policy))):
        reached = hub.coverage(policy) if subject == policy else hub.on_way(policy, subject)
        for binding in hub.bindings_of(subject) if reached.placed.sure & clusters else ():
            assert binding.placement is not None
            if not binding.restricted and hub.selection(binding.placement.key).chosen.sure & clusters:
                return [binding.resource]
    return []
