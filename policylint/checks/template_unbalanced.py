"""GWP721: a template in a Policy with a delimiter that has no partner."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.templates import template_texts, unbalanced
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP721"


def check(simulation: Simulation) -> Iterator[Finding]:
    for key in simulation.hub.policies:
        policy = simulation.world.resources[key]
        for pointer, written in template_texts(policy):
            if wrong := unbalanced(written):
                on_hub = "{{hub" in wrong
                yield Finding(
                    RULE,
                    "error",
                    f"a template of {key} has {wrong}",
                    policy.location(*pointer),
                    resources=(key,),
                    label=f"{'the hub' if on_hub else 'each cluster'} cannot read it, and the policy is not applied",
                    field=".".join(map(str, pointer)),
                )
