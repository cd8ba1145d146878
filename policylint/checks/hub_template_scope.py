"""GWP719: a hub template that looks into another namespace than its Policy's."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.templates import hub_lookups
from policylint.model import Finding, is_symbolic, mapping
from policylint.simulation import Simulation

RULE = "GWP719"


def check(simulation: Simulation) -> Iterator[Finding]:
    """Source: governance-policy-propagator controllers/propagator, hub templates."""
    for key in simulation.hub.policies:
        policy = simulation.world.resources[key]
        account = mapping(policy.spec.get("hubTemplateOptions")).get("serviceAccountName")
        if account or key.unplaced or is_symbolic(key.namespace):
            continue
        for lookup in hub_lookups(policy):
            if lookup.namespace != key.namespace and not is_symbolic(lookup.namespace):
                yield Finding(
                    RULE,
                    "warning",
                    f"a hub template of {key} looks into namespace {lookup.namespace}, which it may not",
                    policy.location(*lookup.pointer),
                    resources=(key,),
                    label=f"without a service account of its own it sees namespace {key.namespace} alone",
                    help=("fix: move the object, or set spec.hubTemplateOptions.serviceAccountName",),
                    field=lookup.namespace,
                )
