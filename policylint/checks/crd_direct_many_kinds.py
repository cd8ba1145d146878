"""GWP514: a CRD says that it is a Direct policy, and allows several target kinds or a way to merge."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.crds import policy_crds
from policylint.model import Finding
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP514"


def check(simulation: Simulation) -> Iterator[Finding]:
    for policy_crd in policy_crds(simulation):
        if (policy_crd.label or "").lower() != "direct":
            continue
        kinds = sorted({target.kind for target in policy_crd.kind.targets if target.kind != "*"})
        if len(kinds) > 1:
            message = f"may target {listing(kinds)}"
        elif policy_crd.wrappers:
            message = f"has `{policy_crd.wrappers[0]}`, a way to merge"
        else:
            continue
        yield Finding(
            RULE,
            "note",
            f"{policy_crd.crd.key} is labelled Direct, but {message}",
            policy_crd.label_location,
            resources=(policy_crd.crd.key,),
            label="a Direct policy has one target kind and does not merge",
            help=("note: a kind that can set the same thing at two levels is Inherited",),
        )
