"""GWP415: an object beside Gateway API that sends requests to where nothing answers them."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.implementations import implementation
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP415"


def check(simulation: Simulation) -> Iterator[Finding]:
    owners = {simulation.catalog.owner(group) for group, _ in simulation.world.kinds()}
    for name in sorted(owners - {""}):
        behaviour = implementation(name, simulation.catalog.settings(name))
        for end in behaviour.dead_ends(simulation.world):
            yield Finding(
                RULE,
                "error",
                f"{end.holder.key} {end.does}",
                end.holder.location(*end.pointer),
                resources=(end.holder.key, *end.about),
                label="these requests are answered with 503",
                help=(f"fix: {end.fix}",),
                confidence="assumed" if end.ground else "certain",
                ground=end.ground,
                field=path(end.pointer),
            )
