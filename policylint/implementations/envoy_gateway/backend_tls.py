"""BackendTLSPolicy as Envoy Gateway does it: a status only where the policy is used.

Source: docs/design/implementations/envoy-gateway.md §7.
"""

from __future__ import annotations

from collections.abc import Mapping

from policylint.implementations.envoy_gateway.backend_uses import Use, uses
from policylint.implementations.envoy_gateway.backends import Aim, BackendPolicies, ca_fault_of_policy, targets_of
from policylint.implementations.envoy_gateway.managed import GROUP, Fleet, order
from policylint.implementations.envoy_gateway.policy_status import PolicyStatus
from policylint.model import Node, ResourceKey, World, mapping
from policylint.policy.results import PolicyState
from policylint.topology import Condition

RESOLVED = Condition("ResolvedRefs", "True", "ResolvedRefs", "Resolved all the Object references.")


def statuses(fleet: Fleet, states: list[PolicyState]) -> Mapping[ResourceKey, PolicyStatus]:
    """Return the statuses of all BackendTLSPolicies, by policy."""
    ordered = sorted(states, key=lambda state: order(state.policy))
    statuses = {state.key: PolicyStatus() for state in ordered}
    faults = {state.key: ca_fault_of_policy(state.policy, fleet.world) for state in ordered}
    for use in uses(fleet):
        chosen = fleet.world.once(BackendPolicies).policy(use.key, use.port)
        if chosen is not None and chosen.key in statuses:
            _apply(statuses[chosen.key], use, faults[chosen.key])
    _conflicts(ordered, statuses)
    return statuses


def is_voided(world: World, node: Node) -> bool:
    """Tell whether a Backend of Envoy Gateway switches verification off, so that no BackendTLSPolicy on it counts."""
    backend = world.get(node.key) if (node.key.group, node.key.kind) == (GROUP, "Backend") else None
    return backend is not None and mapping(backend.spec.get("tls")).get("insecureSkipVerify") is True


def _apply(status: PolicyStatus, use: Use, fault: tuple[str, str]) -> None:
    reason, message = fault
    ancestor = use.ancestor.ancestor
    if not reason:
        status.set(ancestor, use.controller, RESOLVED)
        status.accept(ancestor, use.controller)
        return
    for node in [*status.entries, ancestor]:
        controller = status.controllers.get(node, use.controller)
        status.set(node, controller, Condition("Accepted", "False", "NoValidCACertificate", message))
        status.set(node, controller, Condition("ResolvedRefs", "False", reason, message))


def _conflicts(ordered: list[PolicyState], statuses: Mapping[ResourceKey, PolicyStatus]) -> None:
    """Set Conflicted on a policy that repeats a target of an earlier one, on the ancestors of that one.

    Its further targets are free.
    """
    holders: dict[Aim, PolicyState] = {}
    for state in ordered:
        for target in targets_of(state.policy):
            holder = holders.setdefault(target, state)
            if holder is state:
                continue
            message = f"Policy conflicts with BackendTLSPolicy {holder.key.path}."
            of_holder = statuses[holder.key]
            for ancestor in list(of_holder.entries):
                condition = Condition("Accepted", "False", "Conflicted", message)
                statuses[state.key].set(ancestor, of_holder.controllers[ancestor], condition)
            break
