"""Authentication that cannot be seen: for GWP301 and the comparison of two states."""

from __future__ import annotations

from policylint.model import ResourceKey, mapping, sequence
from policylint.simulation import Simulation
from policylint.topology import RouteState


def may_authenticate_unseen(simulation: Simulation, route: RouteState) -> bool:
    """Return whether a filter that cannot be looked into, or an object that was not seen, may authenticate a route."""
    for rule in sequence(route.route.spec.get("rules")):
        filters = {mapping(entry).get("type") for entry in sequence(mapping(rule).get("filters"))}
        if filters & {"ExtensionRef", "ExternalAuth"}:
            return True
    namespace = route.route.key.namespace
    authenticating = [policy for policy in simulation.policies.values() if policy.kind.settings.authentication]
    for group, kind in {(policy.kind.group, policy.kind.kind) for policy in authenticating}:
        if simulation.world.unseen.reason(ResourceKey(group, kind, namespace, "")) or route.route.key.unplaced:
            return True
    return any(
        target.resolution.unknown and not target.nodes
        for policy in authenticating
        if policy.key.namespace == namespace
        for target in policy.targets
    )
