"""GWP503: one object is written twice in one environment, and the later one silently wins."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.routing import grade
from policylint.model import Finding, Related, is_symbolic
from policylint.simulation import Simulation

RULE = "GWP503"


def check(simulation: Simulation) -> Iterator[Finding]:
    for earlier, later in simulation.world.duplicates:
        if is_symbolic(later.key.name) or is_symbolic(later.key.namespace):
            continue
        if not simulation.catalog.concerns(later.key.group, later.key.kind):
            continue
        same = earlier.body == later.body
        # Where kustomizations choose what is deployed, the two may be for two clusters.
        severity, confidence = grade(simulation.world.movable, "note" if same else "error")
        deployed, ground = "deployed", ""
        is_loose = simulation.world.is_loose(earlier) or simulation.world.is_loose(later)
        if confidence == "certain" and is_loose and earlier.document.file != later.document.file:
            severity, confidence, deployed = "note", "assumed", "written"
            ground = "nothing says that both files are applied"
        yield Finding(
            RULE,
            severity,
            f"{later.key} is {deployed} twice{', with the same content' if same else ''}",
            later.name_location,
            resources=(later.key,),
            label="this one is applied last and wins" if not same else "the second copy",
            related=(Related("the other copy", earlier.name_location),),
            help=("fix: remove one of the two",),
            confidence=confidence,
            ground=ground,
        )
