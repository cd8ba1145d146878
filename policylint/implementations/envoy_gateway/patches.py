"""Status of EnvoyPatchPolicy (docs/design/implementations/envoy-gateway.md §7)."""

from __future__ import annotations

from collections.abc import Mapping

from policylint.implementations.envoy_gateway.managed import Fleet, Scope, order
from policylint.implementations.envoy_gateway.policy_status import PolicyStatus
from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, mapping, text
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
        right_kind = (text(reference.get("group")), text(reference.get("kind"))) == (GATEWAY_GROUP, kind)
        merging = kind == "GatewayClass"
        if not right_kind or (merging and scope.key not in fleet.merging_classes()):
            status.set(scope.ancestor, controller, _invalid(state.policy, merging))
        status.accept(scope.ancestor, controller)
    return statuses


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


def _invalid(policy: Resource, merging: bool) -> Condition:
    reference = mapping(policy.spec.get("targetRef"))
    group, kind, name = (text(reference.get(field)) for field in ("group", "kind", "name"))
    target = f"TargetRef.Group:{group} TargetRef.Kind:{kind} TargetRef.Namespace:{policy.key.namespace}"
    merged = " (MergeGateways=true)" if merging else ""
    message = f"{target} TargetRef.Name:{name} not found or not accepted{merged}."
    return Condition("Accepted", "False", "Invalid", message)
