"""GWP716: a Policy without a remediation action that has a ConfigurationPolicy without one."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.templates import CONFIGURATION, policy_templates
from policylint.model import Finding, mapping
from policylint.simulation import Simulation

RULE = "GWP716"


def check(simulation: Simulation) -> Iterator[Finding]:
    """Source: governance-policy-propagator api/v1/policy_webhook.go."""
    for key in simulation.hub.policies:
        policy = simulation.world.resources[key]
        if policy.spec.get("remediationAction"):
            continue
        for template in policy_templates(policy):
            if template.kind == CONFIGURATION and "remediationAction" not in mapping(template.body.get("spec")):
                yield Finding(
                    RULE,
                    "error",
                    f"neither {key} nor its ConfigurationPolicy {template.name} has a remediationAction",
                    policy.location(*template.pointer, "spec"),
                    resources=(key,),
                    label="the webhook refuses the Policy",
                    help=("fix: add `remediationAction: inform` or `enforce` to the spec of either",),
                    field=template.name,
                )
