"""Who overrides whom where no other rule says so already: for GWP203 and GWP204."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policylint.checks.kit.dropped import drops
from policylint.checks.kit.locations import target_at
from policylint.model import Node, Related, ResourceKey
from policylint.model.words import listing
from policylint.policy.results import Group, PolicyState

if TYPE_CHECKING:
    from policylint.simulation import Simulation


def superseders(world: Simulation, state: PolicyState) -> tuple[ResourceKey, ...]:
    """Who supersedes a policy, without those whose doing is told by another rule.

    A drop is told by GWP201 or GWP205, a refusal by GWP202, a result that hangs on creation order by GWP206.
    """
    told = {refusal.by for refusal in state.refused}
    known = drops(world)
    rest = [each for each in state.by if each not in told and (each, state.key) not in known]
    if not rest:
        return ()
    pairs = {pair for each in world.order_dependent for pair in _pairs(each.policies)}
    return tuple(each for each in rest if (each, state.key) not in pairs)


def _pairs(policies: tuple[ResourceKey, ...]) -> set[tuple[ResourceKey, ResourceKey]]:
    return {(one, other) for one in policies for other in policies if one != other}


def names(state: PolicyState, by: tuple[ResourceKey, ...]) -> str:
    """Who prevails; the kind is left out where it is the policy's own."""
    return listing([each.path if each.kind == state.key.kind else str(each) for each in by], most=4)


def related(world: Simulation, by: tuple[ResourceKey, ...]) -> tuple[Related, ...]:
    """Where those who prevail are attached."""
    found = []
    for key in by[:3]:
        other = world.policies.get(key)
        if other is not None and other.targets:
            found.append(Related(f"{key} prevails", target_at(other.policy, other.targets[0])))
    return tuple(found)


def lost_fields(state: PolicyState) -> list[str]:
    """The top-level settings of a policy that are lost somewhere, sorted."""
    return sorted(
        {
            str(lost.pointer[0])
            for group in state.groups
            for lost in group.effective.lost
            if lost.policy == state.key and lost.pointer
        }
    )


def protection_lost(state: PolicyState) -> bool:
    """Whether what others put in the place of a policy's settings protects differently.

    A setting that is repeated word for word is not lost. Under the overrides of a parent everything that protects
    counts; a parent that gives way to something more specific does what defaults are for, so that only authentication
    and authorization count there.
    """
    settings = state.kind.settings
    for group in state.groups:
        outranked = _outranked(state, group)
        wanted = settings.security if outranked else {*settings.authentication, *settings.authorization}
        for lost in group.effective.lost:
            field = str(lost.pointer[0]) if lost.policy == state.key and lost.pointer else ""
            own = next((each.proper[field] for each in state.declared if field in each.proper), None)
            if field in wanted and group.effective.spec.get(field) != own:
                return True
    return False


def _outranked(state: PolicyState, group: Group) -> bool:
    """Whether the policy is the most specific one of a stack, and lost all the same."""
    return group.effective.stack[-1].key == state.key


def affected(state: PolicyState) -> tuple[int, int]:
    """In how many routes it loses something, and on how many it acts at all."""
    everywhere: set[Node] = set()
    losing: set[Node] = set()
    for group in state.groups:
        routes = {node for node in group.nodes if node.key.kind.endswith("Route") and node.role == node.key.kind}
        everywhere |= routes
        if any(lost.policy == state.key for lost in group.effective.lost):
            losing |= routes
    return len(losing), len(everywhere)
