"""GWP913: an object of Gateway API, or a policy, in a file that nothing deploys. Reported only on request."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP913"


def check(simulation: Simulation) -> Iterator[Finding]:
    for key, resource in sorted(simulation.world.orphans.items()):
        if key.group:  # Services are among them for the routes that name them
            yield Finding(
                RULE,
                "note",
                f"{key} is in a file that no Flux, Argo CD or kustomize root references",
                resource.name_location,
                resources=(key,),
                label="no kustomization, Flux Kustomization or Application leads here",
                help=("fix: add the file to the `resources:` that should deploy it, or delete it",),
            )
