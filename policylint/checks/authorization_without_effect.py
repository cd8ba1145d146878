"""GWP210: an AuthorizationPolicy whose rules decide nothing, because another one lets everything in or nothing."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.mesh_policies import action, matches_all
from policylint.model import Finding, Related, Resource, ResourceKey, sequence
from policylint.model.kinds import AUTHORIZATION
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation

RULE = "GWP210"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        allows = (state.key.group, state.key.kind) == AUTHORIZATION and action(state.policy) == "ALLOW"
        # One without rules allows nothing: a fence around what is to come, which nobody means to decide.
        if allows and sequence(state.policy.spec.get("rules")):
            deciding = _deciding(state)
            if deciding:
                yield _finding(state, deciding)


def _deciding(state: PolicyState) -> list[Resource]:
    """Return the policies that decide instead wherever one acts; none when it decides something itself."""
    deciding: dict[ResourceKey, Resource] = {}
    for group in state.groups:
        others = [attachment.policy for attachment in group.effective.stack if attachment.key != state.key]
        rivals = [other for other in others if _matches_all(other) and _beats(other, state.policy)]
        if not rivals:
            return []
        rival = min(rivals, key=lambda rival: action(rival) != "DENY")
        deciding.setdefault(rival.key, rival)
    return list(deciding.values())


def _beats(rival: Resource, policy: Resource) -> bool:
    """Return whether a rival decides: DENY comes before ALLOW; one ALLOW that matches is enough;
    two that match all requests are the same thing twice."""
    return action(rival) == "DENY" or (action(rival) == "ALLOW" and not _matches_all(policy))


def _matches_all(policy: Resource) -> bool:
    """Return whether one of the rules has no condition at all."""
    return any(map(matches_all, sequence(policy.spec.get("rules"))))


def _finding(state: PolicyState, rivals: list[Resource]) -> Finding:
    first = rivals[0]
    denies = action(first) == "DENY"
    effect = "denies every request" if denies else "lets every request in"
    others = f", and {len(rivals) - 1} more like it" if len(rivals) > 1 else ""
    return Finding(
        RULE,
        "warning",
        f"{state.key} has no effect: {first.key.path} {effect}{others}",
        state.policy.location("spec", "rules"),
        resources=(state.key, *(rival.key for rival in rivals[:3])),
        label="DENY is evaluated before ALLOW" if denies else "one matching ALLOW is enough",
        related=tuple(
            Related(f"{rival.key.path}: a rule without conditions matches everything", rival.location("spec", "rules"))
            for rival in rivals[:3]
        ),
        help=("fix: give that rule conditions, or narrow its selector",),
    )
