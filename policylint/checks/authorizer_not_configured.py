"""GWP216: an AuthorizationPolicy that asks a provider which the configuration of the mesh does not name."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.mesh_policies import action
from policylint.model import Finding, mapping, text
from policylint.model.kinds import AUTHORIZATION
from policylint.model.words import quoted
from policylint.simulation import Simulation

RULE = "GWP216"


def check(simulation: Simulation) -> Iterator[Finding]:
    named = (mesh.authorizers(simulation.world) for mesh in simulation.meshes.all)
    known = next((names for names in named if names is not None), None)
    if known is None:
        return
    for state in simulation.policies.values():
        if (state.key.group, state.key.kind) != AUTHORIZATION or action(state.policy) != "CUSTOM":
            continue
        name = text(mapping(state.policy.spec.get("provider")).get("name"))
        if name and name not in known:
            there = f"there is {quoted(sorted(known))}" if known else "there is none"
            yield Finding(
                RULE,
                "error",
                f"{state.key} denies every request that it matches: the mesh has no provider {name}",
                state.policy.location("spec", "provider", "name"),
                resources=(state.key,),
                label=f"no authorizer in extensionProviders has this name; {there}",
                help=("fix: name a provider of the mesh's configuration, or add this one to it",),
                field=name,
            )
