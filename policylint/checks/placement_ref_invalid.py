"""GWP704: kind and apiGroup of a placementRef that do not pair up, so that the binding is ignored."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import at
from policylint.clusters.kinds import PLACEMENT, PLACEMENT_RULE, PLACES
from policylint.model import Finding, is_symbolic, mapping, text
from policylint.model.words import series
from policylint.simulation import Simulation

RULE = "GWP704"


def check(simulation: Simulation) -> Iterator[Finding]:
    for binding in simulation.hub.bindings:
        holder = binding.resource
        place = mapping(holder.body.get("placementRef"))
        group, kind = text(place.get("apiGroup")), text(place.get("kind"))
        if binding.placement is not None or is_symbolic(group) or is_symbolic(kind):
            continue
        known = any(kind == other for _, other in PLACES)
        pointer = ("placementRef",) if "placementRef" in holder.body else ("metadata", "name")
        yield Finding(
            RULE,
            "error",
            f"{holder.key} places nothing: {kind or 'nothing'} of group {group or 'core'} is no placement",
            at(holder, pointer, "apiGroup" if known else "kind", "kind", "name"),
            resources=(holder.key,),
            label=f"the binding is ignored; placements are {series(f'{name} of {of}' for of, name in PLACES)}",
            help=(f"fix: write `apiGroup: {(PLACEMENT_RULE if kind == PLACEMENT_RULE[1] else PLACEMENT)[0]}`",),
            field="placementRef",
        )
