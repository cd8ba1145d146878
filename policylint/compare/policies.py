"""Policies that start having effect, stop having it or have another one, by their verdicts."""

from __future__ import annotations

from policylint.compare.change import PolicyChange
from policylint.compare.pairing import Pairing
from policylint.simulation import Simulation


def policy_changes(before: Simulation, after: Simulation, pairing: Pairing) -> list[PolicyChange]:
    """Return the policies whose verdict is not the same, sorted; a renamed policy is still the same policy."""
    changes = []
    for key, state in after.policies.items():
        was = before.policies.get(pairing.was(key))
        if was is None or was.verdict != state.verdict:
            old = "" if was is None else was.verdict
            former = pairing.was(key) if pairing.was(key) != key else None
            location = state.policy.name_location
            changes.append(PolicyChange(after.world.name, key, old, state.verdict, state.by, location, former))
    for key, state in before.policies.items():
        if pairing.key(key) not in after.policies:
            location = state.policy.name_location
            changes.append(PolicyChange(after.world.name, key, state.verdict, "", (), location))
    changes.sort(key=lambda change: change.policy)
    return changes
