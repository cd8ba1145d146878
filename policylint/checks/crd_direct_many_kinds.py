"""GWP514: a CRD says that it is a Direct policy, and allows several target kinds or a way to merge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.crds import policy_crds
from policylint.model import Finding, mapping
from policylint.model.words import listing

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP514"
_WRAPPERS = ("default", "defaults", "override", "overrides")


def check(world: Simulation) -> Iterator[Finding]:
    for each in policy_crds(world):
        if (each.label or "").lower() != "direct":
            continue
        kinds = sorted({target.kind for target in each.kind.targets if target.kind != "*"})
        wrappers = [name for name in _WRAPPERS if mapping(each.spec.get(name)).get("type") == "object"]
        if len(kinds) > 1:
            message = f"may target {listing(kinds)}"
        elif wrappers:
            message = f"has `{wrappers[0]}`, a way to merge"
        else:
            continue
        yield Finding(
            RULE,
            "note",
            f"{each.crd.key} is labelled Direct, but {message}",
            each.label_location,
            resources=(each.crd.key,),
            label="a Direct policy has one target kind and does not merge",
            help=("note: where two levels can set one thing, the kind is Inherited",),
        )
