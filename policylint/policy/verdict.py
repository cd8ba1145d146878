"""The verdict on each policy: does it take effect, and if not, who prevails.

Source: docs/design/semantics.md §3 steps 7 and 8.
"""

from __future__ import annotations

from policylint.model import ResourceKey
from policylint.policy.results import PolicyState, Verdict

_REFUSING = {"kind-not-allowed", "section-not-allowed", "other-namespace", "not-granted", "malformed"}


def judge(state: PolicyState) -> None:
    """Set verdict and `by` of a policy whose targets, refusals and groups are known (docs/design/interfaces.md §4)."""
    state.verdict, state.by = _verdict(state)


def _verdict(state: PolicyState) -> tuple[Verdict, tuple[ResourceKey, ...]]:
    if state.invalid_code:
        return "Invalid", ()
    attached = sum(len(target.nodes) for target in state.targets)
    problems = [target for target in state.targets if target.problem and not target.resolution.unknown]
    refusers = {refusal.by for refusal in state.refused}
    if not attached:
        if not problems:
            return "Unknown", ()
        refused = all(target.problem in _REFUSING for target in problems)
        return ("Invalid" if refused else "TargetNotFound"), ()
    if all(target.resolution.unknown for target in state.targets if target.nodes):
        return "Unknown", ()  # what else acts on an object that was not seen is not known
    if state.is_of_shape:
        return "Unknown", ()  # what the kind does, and how its policies meet, is not known
    if len(state.refused) >= attached:
        return "Conflicted", tuple(sorted(refusers))
    if not state.groups:
        return "NoEffect", tuple(sorted(refusers))
    if state.is_inert:
        return "NoEffect", ()
    survives = any(group.effective.survives(state.key) for group in state.groups)
    loses = any(group.effective.lost_by(state.key) for group in state.groups)
    by = tuple(sorted(_superseders(state) | refusers)) if loses else tuple(sorted(refusers))
    if not survives:
        return "Overridden", by
    return ("PartiallyEnforced" if loses or problems or refusers else "Enforced"), by


def _superseders(state: PolicyState) -> set[ResourceKey]:
    """Return the owners of what stands in place of what the policy lost, not those who only add to it.

    Where those lose in turn, they are all owners in that context. For kinds merged by named rules: the owners of the
    surviving rules with the name of a lost one, or, where there are none, of all (docs/design/interfaces.md).
    """
    winners: set[ResourceKey] = set()
    same_name: set[ResourceKey] = set()
    for group in state.groups:
        lost = [loss for loss in group.effective.lost_by(state.key) if loss.by]
        if lost:
            beating, owners = {winner for loss in lost for winner in loss.by}, set(group.effective.owners.values())
            winners |= beating & owners or owners or beating
            same_name |= {winner for loss in lost if loss.replaced for winner in loss.by}
    chosen = same_name if state.kind.merge.units and same_name else winners
    return chosen - {state.key}
