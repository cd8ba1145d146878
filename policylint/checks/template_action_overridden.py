"""GWP712: a policy template whose own remediation action that of its Policy replaces."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.templates import CONFIGURATION, ENFORCE, INFORM_ONLY, policy_templates
from policylint.model import Finding, Severity, is_symbolic, mapping, text
from policylint.simulation import Simulation

RULE = "GWP712"
_GRAVE = ("high", "critical")


def check(simulation: Simulation) -> Iterator[Finding]:
    """Source: governance-policy-propagator api/v1/policy_types.go, remediationAction."""
    hub = simulation.hub
    for key, rows in hub.policies.items():
        policy = simulation.world.resources[key]
        action = text(policy.spec.get("remediationAction"))
        if not action or is_symbolic(action) or hub.unseen_bindings(key) or all(row.nowhere for row in rows):
            continue
        enforced = {row.action for row in rows} == {ENFORCE}
        for template in policy_templates(policy):
            own = template.action
            if template.kind != CONFIGURATION or own in ("", INFORM_ONLY, action.lower()) or is_symbolic(own):
                continue
            if own == ENFORCE and enforced:
                continue  # a binding makes the policy enforce
            spec = mapping(template.body.get("spec"))
            grave = own == ENFORCE and text(spec.get("severity")).lower() in _GRAVE
            severity: Severity = "warning" if grave else "note"
            yield Finding(
                RULE,
                severity,
                f"{key} has remediationAction {action}: the {own} of its template {template.name} does not count",
                policy.location(*template.pointer, "spec", "remediationAction"),
                resources=(key,),
                label="it reports violations, and changes nothing"
                if own == ENFORCE
                else "it changes objects on the clusters",
                help=("fix: leave out remediationAction of the Policy, so that each template keeps its own",),
                field=template.name,
            )
