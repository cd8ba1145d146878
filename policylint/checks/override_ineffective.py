"""GWP708: a PlacementBinding that makes policies enforce which enforce already."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.bindings import members, resolve
from policylint.clusters.kinds import POLICY
from policylint.clusters.state import Hub
from policylint.clusters.templates import ENFORCE
from policylint.model import Finding, Resource, text
from policylint.model.words import listing
from policylint.simulation import Simulation

RULE = "GWP708"


def check(simulation: Simulation) -> Iterator[Finding]:
    hub = simulation.hub
    for binding in hub.bindings:
        if not binding.enforces or binding.placement is None:
            continue
        policies = [_policies(hub, resolve(hub.world, subject.key).resource) for subject in binding.subjects]
        known = [policy for listed in policies for policy in listed]
        if not known or not all(policies) or any(policy is None or not _enforces(policy) for policy in known):
            continue
        names = [policy.key for policy in known if policy is not None]
        yield Finding(
            RULE,
            "note",
            f"{binding.key} makes {listing(names, most=3)} enforce, which already enforces"
            if len(names) == 1
            else f"{binding.key} makes {listing(names, most=3)} enforce, which already enforce",
            binding.resource.location("bindingOverrides", "remediationAction"),
            resources=(binding.key, *names[:20]),
            label="the override has no effect",
            field="bindingOverrides.remediationAction",
        )


def _policies(hub: Hub, subject: Resource | None) -> list[Resource | None]:
    """Return the policies of a subject, None for one that was not seen."""
    if subject is None or subject.key[:2] == POLICY:
        return [subject]
    return [resolve(hub.world, member.key).resource for member in members(subject)]


def _enforces(policy: Resource) -> bool:
    return text(policy.spec.get("remediationAction")).lower() == ENFORCE
