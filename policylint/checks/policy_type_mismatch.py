"""GWP615: rules of a NetworkPolicy for a direction that its policyTypes leave out."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Finding, Related, sequence
from policylint.network.kinds import NETWORK_POLICY
from policylint.simulation import Simulation

RULE = "GWP615"


def check(simulation: Simulation) -> Iterator[Finding]:
    for policy in simulation.world.of_kind(*NETWORK_POLICY):
        types = sequence(policy.spec.get("policyTypes"))
        for direction in ("ingress", "egress"):
            if types and sequence(policy.spec.get(direction)) and direction.capitalize() not in types:
                yield Finding(
                    RULE,
                    "warning",
                    f"{policy.key} has {direction} rules that do nothing: its policyTypes leave out "
                    f"{direction.capitalize()}",
                    policy.location("spec", direction, key=True),
                    resources=(policy.key,),
                    label="these rules isolate nothing and allow nothing",
                    related=(Related("what the policy is about", policy.location("spec", "policyTypes")),),
                    help=(f"fix: add {direction.capitalize()} to policyTypes, or delete the rules",),
                    field=direction,
                )
