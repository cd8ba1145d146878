"""GWP510: a policy CRD without the policy label, or with a value that names no class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.catalog.crd_kind import POLICY_LABEL
from policylint.checks.kit.crds import policy_crds
from policylint.model import Finding

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP510"


def check(world: Simulation) -> Iterator[Finding]:
    for each in policy_crds(world):
        if (each.label or "").lower() in ("direct", "inherited"):
            continue
        if each.label is None:
            message, label = "lacks the policy label", "tools cannot tell that this is a policy"
        else:
            message = f'has the policy label "{each.label}", which names no class'
            label = "neither Direct nor Inherited"
        yield Finding(
            RULE,
            "warning",
            f"{each.crd.key} {message}",
            each.label_location,
            resources=(each.crd.key,),
            label=label,
            help=(f"fix: add the label `{POLICY_LABEL}: {each.kind.policy_class}`",),
        )
