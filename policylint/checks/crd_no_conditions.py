"""GWP512: a policy CRD whose status has no conditions, so that nobody can see whether a policy takes effect."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.crds import PolicyCrd, policy_crds
from policylint.model import Finding, mapping
from policylint.simulation import Simulation

RULE = "GWP512"


def check(simulation: Simulation) -> Iterator[Finding]:
    for policy_crd in policy_crds(simulation):
        if policy_crd.schema and not _has_conditions(policy_crd):
            declared = "status" in mapping(policy_crd.schema.get("properties"))
            yield Finding(
                RULE,
                "note",
                f"{policy_crd.crd.key} has no status conditions",
                policy_crd.in_schema("properties", "status") if declared else policy_crd.kind_location,
                resources=(policy_crd.crd.key,),
                label="neither `conditions` nor `ancestors`" if declared else "its schema has no status",
                help=("fix: give the status the type PolicyStatus of Gateway API",),
            )


def _has_conditions(policy_crd: PolicyCrd) -> bool:
    status = mapping(mapping(policy_crd.schema.get("properties")).get("status"))
    if status.get("x-kubernetes-preserve-unknown-fields") is True:
        return True
    return not {"conditions", "ancestors"}.isdisjoint(mapping(status.get("properties")))
