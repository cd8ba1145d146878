"""GWP513: a policy CRD that offers strategy None beside others, or beside defaults and overrides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.crds import policy_crds
from policylint.model import Finding, mapping, sequence
from policylint.model.words import listing

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP513"
_DIRECTIVES = ("strategy", "mergeStrategy", "mergeType")
_WRAPPERS = ("default", "defaults", "override", "overrides")


def check(world: Simulation) -> Iterator[Finding]:
    for each in policy_crds(world):
        wrappers = [name for name in _WRAPPERS if mapping(each.spec.get(name)).get("type") == "object"]
        for field in _DIRECTIVES:
            values = [str(value) for value in sequence(mapping(each.spec.get(field)).get("enum"))]
            others = [value for value in values if value.lower() != "none"]
            if len(others) == len(values) or not (others or wrappers):
                continue
            beside = [*others, *(f"`{name}`" for name in wrappers)]
            yield Finding(
                RULE,
                "warning",
                f"{each.crd.key} offers strategy None beside {listing(beside)}",
                each.in_spec(field, "enum"),
                resources=(each.crd.key,),
                label="a kind merges, or it does not",
                help=("fix: remove None, or all other strategies",),
            )
