"""GWP515: a policy CRD whose list of targets has no limits of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.checks.kit.crds import policy_crds
from policylint.model import Finding, mapping, sequence
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP515"
_MOST = 16


def check(simulation: Simulation) -> Iterator[Finding]:
    for policy_crd in policy_crds(simulation):
        schema = policy_crd.spec.get("targetRefs")
        if schema is None:
            continue
        faults = _faults(mapping(schema))
        if faults:
            yield Finding(
                RULE,
                "warning",
                f"{policy_crd.crd.key} lets targetRefs {listing(faults, word='or')}",
                policy_crd.in_spec("targetRefs"),
                resources=(policy_crd.crd.key,),
                label=f"GEP-713 allows 1 to {_MOST} entries, each target once",
                help=(f"fix: set minItems: 1, maxItems: {_MOST} and `x-kubernetes-list-type: map` with its keys",),
            )


def _faults(schema: Mapping[str, Any]) -> list[str]:
    """Return what the list may be or do, and should not."""
    faults = []
    most = schema.get("maxItems")
    if not isinstance(most, int):
        faults.append("have any number of entries")
    elif most > _MOST:
        faults.append(f"have {most} entries")
    if not schema.get("minItems"):
        faults.append("be empty")
    keyed = schema.get("x-kubernetes-list-type") in ("map", "set")
    if not keyed and not sequence(schema.get("x-kubernetes-validations")):
        faults.append("name a target twice")
    return faults
