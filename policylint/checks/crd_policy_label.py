"""GWP510: a policy CRD without the policy label, or with a value that names no class."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.catalog.crd_kind import POLICY_LABEL
from policylint.checks.kit.crds import policy_crds
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP510"


def check(simulation: Simulation) -> Iterator[Finding]:
    for policy_crd in policy_crds(simulation):
        if (policy_crd.label or "").lower() in ("direct", "inherited"):
            continue
        if policy_crd.label is None:
            message, label = "lacks the policy label", "tools cannot tell that this is a policy"
        else:
            message = f'has the policy label "{policy_crd.label}", which names no class'
            label = "neither Direct nor Inherited"
        yield Finding(
            RULE,
            "warning",
            f"{policy_crd.crd.key} {message}",
            policy_crd.label_location,
            resources=(policy_crd.crd.key,),
            label=label,
            help=(f"fix: add the label `{POLICY_LABEL}: {policy_crd.kind.policy_class}`",),
        )
