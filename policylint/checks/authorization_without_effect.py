"""GWP210: an AuthorizationPolicy whose rules decide nothing, because another one lets everything in or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.mesh_policies import AUTHORIZATION, action, matches_all
from policylint.model import Finding, Related, Resource, ResourceKey, sequence
from policylint.policy.results import PolicyState

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP210"


def check(world: Simulation) -> Iterator[Finding]:
    for state in world.policies.values():
        if (
            (state.key.group, state.key.kind) != AUTHORIZATION
            or action(state.policy) != "ALLOW"
            or not _rules(state.policy)
        ):
            continue  # one that allows nothing is a fence around what is to come: nobody means it to decide
        deciding = _deciding(state)
        if deciding:
            yield _finding(state, [world.policies[key] for key in deciding])


def _deciding(state: PolicyState) -> list[ResourceKey]:
    """Who decides instead, wherever the policy acts; empty when it decides something itself somewhere."""
    found: dict[ResourceKey, None] = {}
    for group in state.groups:
        others = [each.policy for each in group.effective.stack if each.key != state.key]
        rivals = [each for each in others if _matches_all(each) and _beats(each, state.policy)]
        if not rivals:
            return []
        found.update((each.key, None) for each in sorted(rivals, key=lambda each: action(each) != "DENY")[:1])
    return list(found)


def _beats(rival: Resource, policy: Resource) -> bool:
    """DENY comes before ALLOW; one ALLOW that matches is enough (two that match all are the same thing twice)."""
    return action(rival) == "DENY" or (action(rival) == "ALLOW" and not _matches_all(policy))


def _rules(policy: Resource) -> list[object]:
    return sequence(policy.spec.get("rules"))


def _matches_all(policy: Resource) -> bool:
    """Whether one of the rules has no condition at all."""
    return any(map(matches_all, _rules(policy)))


def _finding(state: PolicyState, rivals: list[PolicyState]) -> Finding:
    first = rivals[0]
    denies = action(first.policy) == "DENY"
    what = "denies every request" if denies else "lets every request in"
    others = f", and {len(rivals) - 1} more like it" if len(rivals) > 1 else ""
    why = "DENY is asked before ALLOW" if denies else "one ALLOW that matches is enough"
    return Finding(
        RULE,
        "warning",
        f"{state.key} decides nothing: {first.key.path} {what}{others}",
        state.policy.location("spec", "rules"),
        resources=(state.key, *(each.key for each in rivals[:3])),
        label=why,
        related=tuple(
            Related(
                f"{each.key.path}: a rule without conditions matches everything", each.policy.location("spec", "rules")
            )
            for each in rivals[:3]
        ),
        help=("fix: give that rule conditions, or narrow its selector",),
    )
