"""GWP511: a policy CRD whose kind does not end in Policy, or whose resource does not end in policies."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.crds import policy_crds
from policylint.model import Finding, mapping, text
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
            continue
        plural = text(mapping(policy_crd.crd.spec.get("names")).get("plural"))
        if plural and not plural.endswith("policies"):
            yield Finding(
                RULE,
                "note",
                f"{policy_crd.crd.key} is a policy, but the name of its resource, {plural}, does not say so",
                policy_crd.crd.location("spec", "names", "plural"),
                resources=(policy_crd.crd.key,),
                label="the names of policy resources end in policies",
            )
