"""Status of EnvoyPatchPolicy (docs/design/implementations/envoy-gateway.md §7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.implementations.envoy_gateway.managed import Fleet, Scope, order
from policylint.implementations.envoy_gateway.policy_status import PolicyStatus
from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, mapping, text
from policylint.policy.declared import Reading
from policylint.policy.results import PolicyState
from policylint.topology import Condition


def priority(policy: Resource) -> tuple[int, str, str, str]:
    """Return the sort key: lower spec.priority first, then the order of all lists (§3)."""
    value = policy.spec.get("priority")
    return (value if isinstance(value, int) else 0, *order(policy))


def statuses(fleet: Fleet, states: list[PolicyState]) -> Mapping[ResourceKey, PolicyStatus]:
    """Return the statuses of all EnvoyPatchPolicies, by policy, taking the feature as enabled.

    A tree that has such policies is meant for a controller that is told to read them; where it is not, they say
    Accepted=False/Disabled.
    """
    statuses = {}
    for state in states:
        status = statuses[state.key] = PolicyStatus()
        reference = mapping(state.policy.spec.get("targetRef"))
        reported = _ancestor(fleet, state.policy, text(reference.get("name")))
        if reported is None:
            continue
        scope, controller, kind = reported
        if _is_refused(fleet, reference, scope, kind):
            status.set(scope.ancestor, controller, _invalid(state.policy, merging=kind == "GatewayClass"))
        status.accept(scope.ancestor, controller)
    return statuses


def refused_placement(fleet: Fleet, state: PolicyState) -> Reading:
    """Refuse a policy on what is there and no patch applies to: a Gateway that is merged with others (§7)."""
    reference = mapping(state.policy.spec.get("targetRef"))
    reported = _ancestor(fleet, state.policy, text(reference.get("name")))
    if reported is None or any(target.problem for target in state.targets):
        return Reading()
    scope, _, kind = reported
    if not _is_refused(fleet, reference, scope, kind):
        return Reading()
    condition = _invalid(state.policy, merging=kind == "GatewayClass")
    return Reading(code="not-accepted", reason=condition.message, pointer=("spec", "targetRef"))


def _is_refused(fleet: Fleet, reference: Mapping[str, Any], scope: Scope, kind: str) -> bool:
    right_kind = (text(reference.get("group")), text(reference.get("kind"))) == (GATEWAY_GROUP, kind)
    return not right_kind or (kind == "GatewayClass" and scope.key not in fleet.merging_classes())


def _ancestor(fleet: Fleet, policy: Resource, name: str) -> tuple[Scope, str, str] | None:
    """Return the ancestor, its controller, and the kind that has to be targeted; None where nothing is written.

    By the name alone: a Gateway of the policy's namespace, or, where Gateways are merged, whatever is named as a
    GatewayClass.
    """
    gateway = fleet.gateways.get(ResourceKey(GATEWAY_GROUP, "Gateway", policy.key.namespace, name))
    if gateway is not None and not fleet.merges(gateway):
        return Scope(gateway.gateway.key), fleet.controller(gateway.gateway.key), "Gateway"
    classes = fleet.merging_classes()
    if not classes:
        return None
    key = ResourceKey(GATEWAY_GROUP, "GatewayClass", "", name)
    served = fleet.world.get(key if key in classes else classes[0])
    controller = text(served.spec.get("controllerName")) if served is not None else ""
    return Scope(key), controller, "GatewayClass"


def _invalid(policy: Resource, *, merging: bool) -> Condition:
    reference = mapping(policy.spec.get("targetRef"))
    group, kind, name = (text(reference.get(field)) for field in ("group", "kind", "name"))
    target = f"TargetRef.Group:{group} TargetRef.Kind:{kind} TargetRef.Namespace:{policy.key.namespace}"
    merged = " (MergeGateways=true)" if merging else ""
    message = f"{target} TargetRef.Name:{name} not found or not accepted{merged}."
    return Condition("Accepted", "False", "Invalid", message)
