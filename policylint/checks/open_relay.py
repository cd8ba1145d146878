"""GWP328: proxies that send requests where a header of the client says, and nothing in sight takes it off."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP328"


def check(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each workload whose proxy goes by such a header."""
    for mesh in simulation.meshes.all:
        for each in mesh.open_relays(simulation.world):
            yield Finding(
                RULE,
                "warning",
                f"{each.workload.key} sends requests wherever their header `{each.header}` says",
                each.holder.location(*each.pointer),
                resources=(each.workload.key,),
                label="clients reach any host of the cluster, and outside of it, past its routes and what these ask",
                help=(f"fix: {each.fix}",),
                confidence="assumed",
                ground="its configuration may take the header off where it was not seen",
                field=path(each.pointer),
            )
