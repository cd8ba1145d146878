"""GWP715: a Policy whose namespace and name are too long together for the copies that the hub makes."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Finding, is_symbolic
from policylint.simulation import Simulation

RULE = "GWP715"
_MOST = 62


def check(simulation: Simulation) -> Iterator[Finding]:
    """Source: governance-policy-propagator api/v1/policy_webhook.go."""
    for key in simulation.hub.policies:
        length = len(key.namespace) + len(key.name)
        if length > _MOST and not key.unplaced and not is_symbolic(key.path):
            yield Finding(
                RULE,
                "error",
                f"{key} has {length} characters in namespace and name, {_MOST} at most are allowed",
                simulation.world.resources[key].name_location,
                resources=(key,),
                label="the webhook refuses it: a cluster's copy is named after both",
                field="metadata.name",
            )
