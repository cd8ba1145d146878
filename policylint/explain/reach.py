"""A policy in reverse: what its targets resolve to, where it acts, where it does not and who beats it there."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

from policylint.model import Node, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.level import level
from policylint.policy.results import Group, PolicyState
from policylint.simulation import Simulation
from policylint.topology import Topology
from policylint.topology.workloads import is_workload, workloads_selected

Extent = Literal["whole", "part", "none"]


class Reached(NamedTuple):
    """An object at or below a target.

    Args:
        extent: whether all of the policy, some of it or nothing acts there.
        lost: the settings that do not, by name.
        by: who prevails there.
    """

    key: ResourceKey
    extent: Extent
    lost: tuple[str, ...] = ()
    by: tuple[ResourceKey, ...] = ()


class Reach(NamedTuple):
    """Where a policy acts: every object at or below its targets, sorted, and the namespaces of those it acts on."""

    objects: tuple[Reached, ...]
    namespaces: tuple[str, ...]

    def of(self, *kinds: str) -> list[Reached]:
        return [each for each in self.objects if each.key.kind in kinds]

    @property
    def routes(self) -> list[Reached]:
        return [each for each in self.objects if each.key.kind.endswith("Route")]

    @property
    def others(self) -> dict[str, list[Reached]]:
        """What else is reached, by kind."""
        found: dict[str, list[Reached]] = defaultdict(list)
        for each in self.objects:
            if not each.key.kind.endswith("Route"):
                found[each.key.kind].append(each)
        return dict(sorted(found.items()))


def reach(simulation: Simulation, state: PolicyState) -> Reach:
    """The reach of a policy, from the groups that it takes part in; workloads by the Services that select them."""
    acts: dict[ResourceKey, set[bool]] = defaultdict(set)
    lost: dict[ResourceKey, set[str]] = defaultdict(set)
    by: dict[ResourceKey, set[ResourceKey]] = defaultdict(set)
    policy = state.key
    for group in state.groups:
        effective = group.effective
        losses = effective.lost_by(policy)
        # What sets nothing acts by being there.
        survives = policy in effective.owners.values() or not losses
        for node, above in group.nodes.items():
            if policy not in above:
                continue
            for key in {node.key, *_passing(simulation.topology, group, node)}:
                acts[key].add(survives)
                for each in losses:
                    lost[key].add(str(each.pointer[0]) if each.pointer else "")
                    by[key].update(each.by)
    world = simulation.world
    for key in list(acts):
        resource = world.get(key) if (key.group, key.kind) == ("", "Service") else None
        for workload in workloads_selected(world, resource) if resource is not None else ():
            acts[workload.key] |= acts[key]
            lost[workload.key] |= lost[key]
            by[workload.key] |= by[key]
    found = []
    for key in sorted(acts):
        extent: Extent = "none" if acts[key] == {False} else "part" if False in acts[key] or lost[key] else "whole"
        found.append(Reached(key, extent, tuple(sorted(lost[key])), tuple(sorted(by[key]))))
    namespaces = {each.key.namespace for each in found if each.extent != "none" and _counts(each.key)}
    return Reach(tuple(found), tuple(sorted(filter(None, namespaces))))


def _passing(topology: Topology, group: Group, node: Node) -> set[ResourceKey]:
    """The routes whose requests meet a policy of a kind that knows no routes: those of its listeners, those that lead
    to its backends."""
    here = level((node,))
    if here in ("service", "port", "workload") and node.key.kind != "Namespace":
        edges = topology.parents
    elif here == "listener" or (here == "gateway" and not any(level((each,)) == "listener" for each in group.nodes)):
        edges = topology.children
    else:
        return set()
    if any(each.key.kind.endswith("Route") for each in group.nodes):
        return set()
    found: set[ResourceKey] = set()
    pending = list(topology.vertices_of(node))
    seen = set(pending)
    while pending:
        for vertex in edges[pending.pop()]:
            key = topology.vertices[vertex].key
            if key.kind.endswith("Route") and topology.reachable[vertex]:
                found.add(key)
            if vertex not in seen:
                seen.add(vertex)
                pending.append(vertex)
    return found


def _counts(key: ResourceKey) -> bool:
    """Whether an object's namespace is one that a policy acts in: where traffic ends, not where it comes in."""
    return key.kind.endswith("Route") or key.kind == "Service" or is_workload(key.group, key.kind)
