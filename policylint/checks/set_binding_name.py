"""GWP717: a ManagedClusterSetBinding whose name is not that of its set."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.kinds import SET_BINDING
from policylint.model import Finding, is_symbolic, text
from policylint.simulation import Simulation

RULE = "GWP717"


def check(simulation: Simulation) -> Iterator[Finding]:
    for binding in simulation.world.of_kind(*SET_BINDING):
        name = text(binding.spec.get("clusterSet"))
        if name and name != binding.key.name and not is_symbolic(name) and not is_symbolic(binding.key.name):
            yield Finding(
                RULE,
                "error",
                f"{binding.key} binds set {name}, whose name it does not bear",
                binding.name_location,
                resources=(binding.key,),
                label="the webhook refuses it, so the set is not bound",
                help=(f"fix: write `name: {name}`",),
                field="metadata.name",
            )
