"""GWP512: a policy CRD whose status has no conditions, so that nobody can see whether a policy takes effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.crds import PolicyCrd, policy_crds
from policylint.model import Finding, mapping

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP512"


def check(world: Simulation) -> Iterator[Finding]:
    for each in policy_crds(world):
        if each.schema and not _has_conditions(each):
            written = "status" in mapping(each.schema.get("properties"))
            yield Finding(
                RULE,
                "note",
                f"{each.crd.key} has no status conditions",
                each.in_schema("properties", "status") if written else each.kind_location,
                resources=(each.crd.key,),
                label="neither `conditions` nor `ancestors`" if written else "its schema has no status",
                help=("fix: give the status the type PolicyStatus of Gateway API",),
            )


def _has_conditions(each: PolicyCrd) -> bool:
    status = mapping(mapping(each.schema.get("properties")).get("status"))
    if status.get("x-kubernetes-preserve-unknown-fields") is True:
        return True
    return not {"conditions", "ancestors"}.isdisjoint(mapping(status.get("properties")))
