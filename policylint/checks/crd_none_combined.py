"""GWP513: a policy CRD that offers the strategy None alongside others, or beside defaults and overrides."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.crds import policy_crds
from policylint.model import Finding, mapping, sequence
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP513"
_DIRECTIVES = ("strategy", "mergeStrategy", "mergeType")


def check(simulation: Simulation) -> Iterator[Finding]:
    for policy_crd in policy_crds(simulation):
        wrappers = policy_crd.wrappers
        for field in _DIRECTIVES:
            values = [str(value) for value in sequence(mapping(policy_crd.spec.get(field)).get("enum"))]
            others = [value for value in values if value.lower() != "none"]
            if len(others) == len(values) or not (others or wrappers):
                continue
            beside = [*others, *(f"`{name}`" for name in wrappers)]
            yield Finding(
                RULE,
                "warning",
                f"{policy_crd.crd.key} offers the strategy None alongside {listing(beside)}",
                policy_crd.in_spec(field, "enum"),
                resources=(policy_crd.crd.key,),
                label="a kind either merges or does not",
                help=("fix: remove None, or all other strategies",),
            )
