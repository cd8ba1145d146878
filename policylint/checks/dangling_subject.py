"""GWP702: a PlacementBinding names a Policy or PolicySet that is not there, or something else."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.clusters import dangling
from policylint.checks.kit.suggestions import Nearby
from policylint.clusters.kinds import POLICY_GROUP, SUBJECTS
from policylint.model import Finding, is_symbolic, mapping, sequence, text
from policylint.simulation import Simulation

RULE = "GWP702"


def check(simulation: Simulation) -> Iterator[Finding]:
    nearby = Nearby(simulation.world)
    for binding in simulation.hub.bindings:
        holder = binding.resource
        for reference in binding.subjects:
            effect = "the controller says nothing, and this subject is placed on no cluster"
            yield from dangling(RULE, simulation.world, nearby, holder, reference, effect)
        for number, subject in enumerate(map(mapping, sequence(holder.body.get("subjects")))):
            group, kind = text(subject.get("apiGroup")), text(subject.get("kind"))
            if (group, kind) not in SUBJECTS and not is_symbolic(group) and not is_symbolic(kind):
                wrong = "apiGroup" if (POLICY_GROUP, kind) in SUBJECTS else "kind"
                pointer = ("subjects", number, wrong) if wrong in subject else ("subjects", number)
                yield Finding(
                    RULE,
                    "error",
                    f"{holder.key} has a subject that is neither a Policy nor a PolicySet",
                    holder.location(*pointer),
                    resources=(holder.key,),
                    label=f"{kind or 'nothing'} of group {group or 'core'} is ignored",
                    help=(f"fix: write `apiGroup: {POLICY_GROUP}` and `kind: Policy` or `kind: PolicySet`",),
                    field=f"subjects[{number}].{wrong}",
                )
