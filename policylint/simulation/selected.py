"""A bound on what the selectors of one kind select together: each of them may select everything."""

from __future__ import annotations

from policylint.model import Resolution
from policylint.model.world import Note
from policylint.policy.results import PolicyState, Target

MOST_SELECTED = 200_000
"""Pairs of a selector and an object that are looked at, of one kind of policy in one environment."""
LEFT_OUT = f"selectors of its kind select more than {MOST_SELECTED:,} objects; what this one selects was left out"
"""The reason why such a target is unknown; GWP911 reports it."""


class Selected:
    """The pairs counted so far, and the policies whose selectors were left out."""

    __slots__ = ("left_out", "number")

    def __init__(self) -> None:
        self.number = 0
        self.left_out: list[PolicyState] = []

    def within(self, state: PolicyState, targets: tuple[Target, ...]) -> tuple[Target, ...]:
        """Return the targets of a policy; those that select more than is left are unknown."""
        if all(target.selector is None for target in targets):
            return targets
        kept = tuple(map(self._within, targets))
        if kept != targets:
            self.left_out.append(state)
        return kept

    def _within(self, target: Target) -> Target:
        if target.selector is None or self.number + len(target.nodes) <= MOST_SELECTED:
            self.number += len(target.nodes) if target.selector is not None else 0
            return target
        return target._replace(nodes=(), resolution=Resolution("unknown", LEFT_OUT))

    def note(self) -> Note:
        """Return what to say of the policies that were left out, at the first of them."""
        first, *others = (state.policy for state in self.left_out)
        more = f" and {len(others):,} more" if others else ""
        message = (
            f"what {first.key}{more} select was left out: "
            f"the selectors of this kind select more than {MOST_SELECTED:,} objects"
        )
        return Note("GWP911", "limit", message, first.name_location)
