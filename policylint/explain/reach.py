"""The reach of a policy: the objects that it acts on, those where it does not and who prevails there."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Literal

from policylint.model import ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.paths import Path
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.topology.workloads import is_workload

Extent = Literal["whole", "part", "none"]


class ReachedObject(NamedTuple):
    """An object at or below a target.

    Args:
        extent: whether all of the policy, part of it or nothing acts there.
        lost: the names of the settings that do not act there.
        by: the policies that prevail there.
        some: whether it acts on some requests only, although others pass the same objects.
    """

    key: ResourceKey
    extent: Extent
    lost: tuple[str, ...] = ()
    by: tuple[ResourceKey, ...] = ()
    some: bool = False


class PolicyReach(NamedTuple):
    """The reach of a policy: every object at or below its targets, sorted, and the namespaces of those it acts on."""

    objects: tuple[ReachedObject, ...]
    namespaces: tuple[str, ...]

    def of(self, *kinds: str) -> list[ReachedObject]:
        """Return the objects of any of the kinds."""
        return [reached for reached in self.objects if reached.key.kind in kinds]

    @property
    def routes(self) -> list[ReachedObject]:
        """The routes."""
        return [reached for reached in self.objects if reached.key.kind.endswith("Route")]

    @property
    def others(self) -> dict[str, list[ReachedObject]]:
        """The objects that are no routes, by kind, sorted."""
        by_kind: dict[str, list[ReachedObject]] = defaultdict(list)
        for reached in self.objects:
            if not reached.key.kind.endswith("Route"):
                by_kind[reached.key.kind].append(reached)
        return dict(sorted(by_kind.items()))


def reach(simulation: Simulation, state: PolicyState) -> PolicyReach:
    """Return the reach of a policy: where it acts, as far as its kind knows such objects, and the routes there.

    Workloads are reached through their Services and Servers.
    """
    survival: dict[ResourceKey, set[bool]] = defaultdict(set)
    lost_settings: dict[ResourceKey, set[str]] = defaultdict(set)
    prevailing: dict[ResourceKey, set[ResourceKey]] = defaultdict(set)
    in_part: Counter[Path] = Counter()
    policy = state.key
    for number in simulation.acting.of_policy(policy):
        group = simulation.acting.groups[number]
        effective = group.effective
        losses = effective.lost_by(policy)
        survives = policy in effective.owners.values()
        if survives:
            in_part.update(group.partly)
        met = (node for node, keys in simulation.acting.places(number).items() if policy in keys)
        for key in {node.key for node in met if node in group.nodes or node.key.kind.endswith("Route")}:
            survival[key].add(survives)
            for loss in losses:
                lost_settings[key].add(str(loss.pointer[0]) if loss.pointer else "")
                prevailing[key].update(loss.by)
    for key in list(survival):
        for workload in simulation.acting.workloads(key):
            survival[workload.key] |= survival[key]
            lost_settings[workload.key] |= lost_settings[key]
            prevailing[workload.key] |= prevailing[key]
    objects = []
    # What some requests of a path meet in one effective policy and others in a second one, all of them meet.
    some = {node.key for path, times in in_part.items() if times == 1 for node in path}
    for key in sorted(survival):
        extent: Extent = "whole"
        if survival[key] == {False}:
            extent = "none"
        elif False in survival[key] or lost_settings[key] or key in some:
            extent = "part"
        lost, by = tuple(sorted(lost_settings[key])), tuple(sorted(prevailing[key]))
        objects.append(ReachedObject(key, extent, lost, by, extent == "part" and key in some))
    acted_on = [reached.key for reached in objects if reached.extent != "none"]
    namespaces = {key.namespace for key in acted_on if _ends_traffic(key)}
    return PolicyReach(tuple(objects), tuple(sorted(filter(None, namespaces))))


def _ends_traffic(key: ResourceKey) -> bool:
    """Return whether a policy acts in an object's namespace: where traffic ends, not where it comes in."""
    return key.kind.endswith("Route") or key.kind == "Service" or is_workload(key.group, key.kind)
