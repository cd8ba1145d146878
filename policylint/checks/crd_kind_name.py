"""GWP511: a policy CRD whose kind does not end in Policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.crds import policy_crds
from policylint.model import Finding

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP511"


def check(world: Simulation) -> Iterator[Finding]:
    for each in policy_crds(world):
        if not each.name.endswith("Policy"):
            yield Finding(
                RULE,
                "note",
                f"{each.crd.key} is a policy whose kind {each.name} does not say so",
                each.kind_location,
                resources=(each.crd.key,),
                label="policy kinds end in Policy",
            )
