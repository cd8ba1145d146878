"""GWP515: a policy CRD whose list of targets has no limits of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policylint.checks.kit.crds import policy_crds
from policylint.model import Finding, mapping, sequence
from policylint.model.words import listing

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP515"
_MOST = 16


def check(world: Simulation) -> Iterator[Finding]:
    for each in policy_crds(world):
        schema = each.spec.get("targetRefs")
        if schema is None:
            continue
        faults = _faults(mapping(schema))
        if faults:
            yield Finding(
                RULE,
                "warning",
                f"{each.crd.key} lets targetRefs {listing(faults, word='or')}",
                each.in_spec("targetRefs"),
                resources=(each.crd.key,),
                label=f"GEP-713 has 1 to {_MOST} entries, each target once",
                help=(f"fix: set minItems: 1, maxItems: {_MOST} and `x-kubernetes-list-type: map` with its keys",),
            )


def _faults(schema: Mapping[str, Any]) -> list[str]:
    """What the list may be and should not."""
    found = []
    most = schema.get("maxItems")
    if not isinstance(most, int):
        found.append("have any number of entries")
    elif most > _MOST:
        found.append(f"have {most} entries")
    if not schema.get("minItems"):
        found.append("be empty")
    keyed = schema.get("x-kubernetes-list-type") in ("map", "set")
    if not keyed and not sequence(schema.get("x-kubernetes-validations")):
        found.append("name a target twice")
    return found
