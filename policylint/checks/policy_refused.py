"""GWP111: the controller of a policy refuses it as it stands, so that nothing of it takes effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks import cluster_scope_target, conflicting_merge_directives, duplicate_target
from policylint.checks.kit.locations import path, written
from policylint.model import Finding, Location

if TYPE_CHECKING:
    from policylint.policy.results import PolicyState
    from policylint.simulation import Simulation

RULE = "GWP111"
_TOLD = frozenset({*duplicate_target.CODES, *conflicting_merge_directives.CODES, cluster_scope_target.CODE})
"""What rules of their own report."""


def check(world: Simulation) -> Iterator[Finding]:
    refused = [each for each in world.policies.values() if each.verdict == "Invalid" and not _is_told(each)]
    if not refused:
        return
    from policylint.checks import schema_violation

    broken = {key for each in schema_violation.check(world) for key in each.resources}
    for state in refused:
        if state.key not in broken:  # the API server asks first
            yield _finding(state)


def _is_told(state: PolicyState) -> bool:
    """Whether another rule says why: by its code, or of one of its targets (GWP101 to GWP104)."""
    if state.invalid_code:
        return state.invalid_code in _TOLD
    return any(target.problem for target in state.targets)


def _finding(state: PolicyState) -> Finding:
    reason = _reason(state)
    return Finding(
        RULE,
        "error",
        f"{state.key} is refused{f': {reason}' if reason else ''}",
        _place(state),
        resources=(state.key,),
        label="nothing of this policy takes effect",
        field=path(state.invalid_pointer),
    )


def _reason(state: PolicyState) -> str:
    """In the words of the check that refused it, else of the first condition that says so."""
    if state.invalid:
        return state.invalid.rstrip(".")
    conditions = [*state.conditions, *(each for ancestor in state.ancestors for each in ancestor.conditions)]
    said = (each.message for each in conditions if each.type == "Accepted" and each.status == "False")
    return next(said, "").rstrip(".")


def _place(state: PolicyState) -> Location:
    """The value at fault, as far down as something is written; else the name."""
    pointer = written(state.policy.body, state.invalid_pointer)
    if not pointer:
        return state.policy.name_location
    return state.policy.location(*pointer, key=isinstance(pointer[-1], str))
