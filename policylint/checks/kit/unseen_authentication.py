"""Authentication that cannot be seen: for GWP301 and the comparison of two states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import ROUTE_KINDS, ResourceKey, is_symbolic, mapping, sequence, text
from policylint.policy.results import Target
from policylint.simulation import Simulation
from policylint.topology import RouteState


def may_authenticate_unseen(simulation: Simulation, route: RouteState) -> bool:
    """Return whether a filter that cannot be looked into, or a policy that was not seen, may authenticate a route."""
    for rule in sequence(route.route.spec.get("rules")):
        if any(_may_authenticate(mapping(entry), simulation) for entry in sequence(mapping(rule).get("filters"))):
            return True
    return may_have_unseen(simulation, route)


def may_have_unseen(simulation: Simulation, route: RouteState) -> bool:
    """Return whether a policy that was not seen may authenticate a route."""
    namespace = route.route.key.namespace
    authenticating = [policy for policy in simulation.policies.values() if policy.kind.settings.authentication]
    for group, kind in {(policy.kind.group, policy.kind.kind) for policy in authenticating}:
        if simulation.world.unseen.reason(ResourceKey(group, kind, namespace, "")) or route.route.key.unplaced:
            return True
    return any(
        target.resolution.unknown and not target.nodes and _may_be_met(target, route)
        for policy in authenticating
        if policy.key.namespace == namespace
        for target in policy.targets
    )


def _may_be_met(target: Target, route: RouteState) -> bool:
    """Return whether a target that was not seen may be something that the requests of a route meet.

    A route or Gateway that is named is another one, unless a kustomization renames it or the route names it too.
    """
    key = target.key
    if target.selector is not None or key.unplaced or is_symbolic(key.name):
        return True
    if key.kind not in (*ROUTE_KINDS, "Gateway"):
        return True
    parents = (parent.gateway or parent.wanted for parent in route.parents)
    return any(key.name in met.name or met.name in key.name for met in (route.route.key, *parents))


def _may_authenticate(entry: Mapping[str, Any], simulation: Simulation) -> bool:
    """Return whether a filter may ask for a login: one of a kind that answers or rewrites does not."""
    if entry.get("type") != "ExtensionRef":
        return entry.get("type") == "ExternalAuth"
    named = mapping(entry.get("extensionRef"))
    kind = simulation.catalog.get(text(named.get("group")), text(named.get("kind")))
    return kind is None or kind.answers is None
