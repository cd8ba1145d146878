"""GWP114: an annotation that names a policy, on an object of Gateway API at which nobody reads it."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import GATEWAY_GROUP, ROUTE_KINDS, Finding
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP114"


def check(simulation: Simulation) -> Iterator[Finding]:
    for kind in (*ROUTE_KINDS, "Gateway"):
        for holder in simulation.world.of_kind(GATEWAY_GROUP, kind):
            for annotation in holder.annotations:
                read = simulation.catalog.bound_by(str(annotation)) if "/" in str(annotation) else ()
                if not read or any(each.may_target(*holder.key[:2]) for each in read):
                    continue
                places = sorted({target.kind for each in read for target in each.targets})
                yield Finding(
                    RULE,
                    "warning",
                    f"{annotation} does nothing on {holder.key}",
                    holder.location("metadata", "annotations", annotation, key=True),
                    resources=(holder.key,),
                    label=f"a {read[0].kind} is named by annotation of a {listing(places, word='or')}",
                    help=(f"fix: move it to the {places[0]}",) if len(places) == 1 else (),
                    field=str(annotation),
                )
