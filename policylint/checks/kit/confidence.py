"""How sure a finding can be of a kind: what nobody has seen in the implementation's code is assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policylint.model import Finding

if TYPE_CHECKING:
    from policylint.simulation import Simulation

_OF_BEHAVIOUR = frozenset({"GWP102", "GWP103", "GWP104", "GWP201", "GWP202", "GWP203", "GWP204", "GWP205", "GWP206"})
"""Rules that rest on what the policy's kind may target, and on how two of it meet."""


def hedged(finding: Finding, simulation: Simulation) -> Finding:
    """The finding with confidence "assumed" where its rule rests on a kind whose behaviour could not be verified.

    The catalog says of each of its kinds how far it is; of a kind that only a CRD of the input tells, nothing is
    known but the pattern. What a configuration says of a kind is the user's word.
    """
    if finding.confidence != "certain" or finding.rule not in _OF_BEHAVIOUR or not finding.resources:
        return finding
    state = simulation.policies.get(finding.resources[0])
    if state is None or state.kind.verified != "no" or state.kind.origin == "configuration":
        return finding
    note = f"note: how {state.kind.kind} behaves could not be verified in its implementation's code"
    return finding._replace(confidence="assumed", help=(*finding.help, note))
