"""GWP714: a disabled Policy that bindings and sets still name."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Finding
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP714"


def check(simulation: Simulation) -> Iterator[Finding]:
    for key, rows in simulation.hub.policies.items():
        if rows[0].reason == "disabled" and rows[0].via:
            bindings = [other for other in rows[0].via if other.kind == "PlacementBinding"]
            yield Finding(
                RULE,
                "note",
                f"{key} is disabled, and {listing(bindings, most=3)} places it all the same"
                if len(bindings) == 1
                else f"{key} is disabled, and {listing(bindings, most=3)} place it all the same",
                simulation.world.resources[key].location("spec", "disabled"),
                resources=(key, *bindings[:20]),
                label="it is applied to no cluster",
                field="spec.disabled",
            )
