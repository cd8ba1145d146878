"""GWP511: a policy CRD whose kind does not end in Policy."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.crds import policy_crds
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP511"


def check(simulation: Simulation) -> Iterator[Finding]:
    for policy_crd in policy_crds(simulation):
        if not policy_crd.name.endswith("Policy"):
            yield Finding(
                RULE,
                "note",
                f"{policy_crd.crd.key} is a policy, but the name of its kind, {policy_crd.name}, does not say so",
                policy_crd.kind_location,
                resources=(policy_crd.crd.key,),
                label="the names of policy kinds end in Policy",
            )
