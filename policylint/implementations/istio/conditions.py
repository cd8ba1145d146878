"""What istiod writes on an AuthorizationPolicy: WaypointAccepted, or without targetRefs ZtunnelAccepted.

Source: docs/design/implementations/istio.md §1.

pilot/pkg/serviceregistry/ambient/policies.go gives one result per targetRef; model/service.go flattenConditions makes
one condition of them.
"""

from __future__ import annotations

from policylint.implementations.istio import ztunnel
from policylint.implementations.istio.labels import (
    AUTHORIZATION,
    GATEWAY,
    GATEWAY_CLASS,
    MESH_CONTROLLER,
    OWN_CLASSES,
    SERVICE,
    SERVICE_ENTRY,
    has_references,
)
from policylint.implementations.istio.mesh import Mesh
from policylint.model import Resource, ResourceKey, World, text
from policylint.policy.results import Ancestor, PolicyState, Target
from policylint.topology import Condition, whole

_WAYPOINT = "WaypointAccepted"
_ZTUNNEL = "ZtunnelAccepted"


def waypoint_ancestors(state: PolicyState, mesh: Mesh, world: World, root: str) -> tuple[Ancestor, ...]:
    """The result for every targetRef."""
    if state.kind.kind != AUTHORIZATION or state.invalid_code or not _ambient(state, mesh):
        return ()
    found = []
    for target in state.targets:
        condition = _bound(state.policy, target, mesh, world, root)
        if condition is not None:
            found.append(Ancestor(whole(target.key), MESH_CONTROLLER, (condition,)))
    return tuple(found)


def flat(state: PolicyState, mesh: Mesh, world: World, root: str) -> tuple[Condition, ...]:
    """The one condition that the object gets."""
    if state.kind.kind != AUTHORIZATION or state.invalid_code or not _ambient(state, mesh):
        return ()
    if not has_references(state.policy):
        return (_at_ztunnel(state.policy),)
    ancestors = waypoint_ancestors(state, mesh, world, root)
    results = [each.conditions[0] for each in ancestors]
    if len(results) < 2:
        return tuple(results)
    failing = [each for each in ancestors if each.conditions[0].status == "False"]
    if not failing:
        return (Condition(_WAYPOINT, "True", "Accepted", "; ".join(each.message for each in results)),)
    message = "Invalid targetRefs: " + ", ".join(_reference(each.ancestor.key) for each in failing)
    if len(failing) == len(results):
        return (Condition(_WAYPOINT, "False", "Invalid", message),)
    return (Condition(_WAYPOINT, "True", "PartiallyInvalid", message),)


def _reference(key: ResourceKey) -> str:
    return f"{key.kind}.{key.group}:{key.path}" if key.group else f"{key.kind}:{key.path}"


def _ambient(state: PolicyState, mesh: Mesh) -> bool:
    """Whether istiod runs with ambient mode, as far as the manifests tell: what only waypoints serve says so too."""
    only_waypoints = (SERVICE, SERVICE_ENTRY, GATEWAY_CLASS)
    return mesh.ambient or any((each.key.group, each.key.kind) in only_waypoints for each in state.targets)


def _bound(policy: Resource, target: Target, mesh: Mesh, world: World, root: str) -> Condition | None:
    key = target.key
    match (key.group, key.kind):
        case kind if kind == GATEWAY_CLASS:
            return _gateway_class(policy, key, world, root)
        case kind if kind == GATEWAY:
            if key in mesh.waypoints:
                return Condition(_WAYPOINT, "True", "Accepted", f"bound to {key.path}")
            return Condition(_WAYPOINT, "False", "TargetNotFound", "not bound")
        case kind if kind in (SERVICE, SERVICE_ENTRY):
            return _service(key, mesh, world)
    return None


def _gateway_class(policy: Resource, key: ResourceKey, world: World, root: str) -> Condition:
    if policy.key.namespace != root:
        message = f"AuthorizationPolicy must be in the root namespace `{root}` when referencing a GatewayClass"
        return Condition(_WAYPOINT, "False", "Invalid", message)
    found = world.get(key)
    controller = text(found.spec.get("controllerName")) if found is not None else OWN_CLASSES.get(key.name, "")
    if not controller:
        return Condition(_WAYPOINT, "False", "TargetNotFound", "not bound")
    if controller != MESH_CONTROLLER:
        return Condition(_WAYPOINT, "False", "Invalid", f"GatewayClass must use controller name `{MESH_CONTROLLER}`")
    return Condition(_WAYPOINT, "True", "Accepted", f"bound to {key.name}")


def _service(key: ResourceKey, mesh: Mesh, world: World) -> Condition:
    found = world.get(key)
    if found is None:
        resolution = world.resolve(key)
        if resolution.unknown:
            return Condition(_WAYPOINT, "Unknown", "TargetNotFound", resolution.reason)
        return Condition(_WAYPOINT, "False", "TargetNotFound", f"{key} was not found")
    binding = mesh.waypoints.binding(found)
    if binding.waypoint is None:
        return Condition(_WAYPOINT, "False", "AncestorNotBound", f"{key} is not bound to a waypoint")
    return Condition(_WAYPOINT, "True", "Accepted", f"bound to {binding.waypoint.path}")


def _at_ztunnel(policy: Resource) -> Condition:
    reading = ztunnel.read(policy)
    if reading.refused:
        return Condition(_ZTUNNEL, "False", "UnsupportedValue", reading.refused)
    if reading.unsupported:
        names = ", ".join(reading.unsupported)
        return Condition(_ZTUNNEL, "True", "UnsupportedValue", f"ztunnel does not support HTTP attributes: {names}")
    return Condition(_ZTUNNEL, "True", "Accepted", "attached to ztunnel")
