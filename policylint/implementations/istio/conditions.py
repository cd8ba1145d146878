"""The condition of an AuthorizationPolicy: WaypointAccepted, or without targetRefs ZtunnelAccepted.

Source: docs/design/implementations/istio.md §1.

pilot/pkg/serviceregistry/ambient/policies.go gives one result per targetRef; model/service.go flattenConditions makes
one condition of them.
"""

from __future__ import annotations

from policylint.implementations.istio import labels, ztunnel
from policylint.implementations.istio.mesh import Mesh
from policylint.model import Resource, ResourceKey, World, text
from policylint.policy.results import Ancestor, PolicyState
from policylint.topology import Condition, whole

_WAYPOINT = "WaypointAccepted"
_ZTUNNEL = "ZtunnelAccepted"


def waypoint_ancestors(state: PolicyState, mesh: Mesh, world: World, root: str) -> tuple[Ancestor, ...]:
    """Return the result for every targetRef."""
    if state.kind.kind != labels.AUTHORIZATION or state.invalid_code or not _ambient(state, mesh):
        return ()
    ancestors = []
    for target in state.targets:
        condition = _bound(state.policy, target.key, mesh, world, root)
        if condition is not None:
            ancestors.append(Ancestor(whole(target.key), labels.MESH_CONTROLLER, (condition,)))
    return tuple(ancestors)


def may_be_bound(state: PolicyState, mesh: Mesh, world: World) -> bool:
    """Tell whether a variable names the waypoint of a Service that a policy is on."""
    services = (world.get(target.key) for target in state.targets if target.key[:2] == labels.SERVICE)
    return any(service is not None and mesh.waypoints.binding(service).unknown for service in services)


def is_of_other_revision(state: PolicyState, mesh: Mesh) -> bool:
    """Tell whether a policy is labelled for a revision that none of the proxies in its contexts has by its labels."""
    if labels.REVISION not in state.policy.labels:
        return False
    places = (path[0].key for group in state.groups for path in group.contexts())
    proxies = (mesh.proxy(key) for key in dict.fromkeys(places))
    return not any(proxy is None or labels.counts_for(state.policy, proxy.revision) for proxy in proxies)


def flat(state: PolicyState, mesh: Mesh, world: World, root: str) -> tuple[Condition, ...]:
    """Return the one condition that the object gets."""
    if state.kind.kind != labels.AUTHORIZATION or state.invalid_code or not _ambient(state, mesh):
        return ()
    if not labels.has_references(state.policy):
        return (_at_ztunnel(state.policy),)
    ancestors = waypoint_ancestors(state, mesh, world, root)
    results = [ancestor.conditions[0] for ancestor in ancestors]
    if len(results) < 2:
        return tuple(results)
    failing = [ancestor.ancestor.key for ancestor in ancestors if ancestor.conditions[0].status == "False"]
    if not failing:
        return (Condition(_WAYPOINT, "True", "Accepted", "; ".join(result.message for result in results)),)
    message = "Invalid targetRefs: " + ", ".join(map(_reference, failing))
    if len(failing) == len(results):
        return (Condition(_WAYPOINT, "False", "Invalid", message),)
    return (Condition(_WAYPOINT, "True", "PartiallyInvalid", message),)


def _reference(key: ResourceKey) -> str:
    return f"{key.kind}.{key.group}:{key.path}" if key.group else f"{key.kind}:{key.path}"


def _ambient(state: PolicyState, mesh: Mesh) -> bool:
    """Tell whether istiod runs in ambient mode, by the manifests or by targets that only waypoints serve."""
    only_waypoints = (labels.SERVICE, labels.SERVICE_ENTRY, labels.GATEWAY_CLASS)
    return mesh.ambient or any((target.key.group, target.key.kind) in only_waypoints for target in state.targets)


def _bound(policy: Resource, key: ResourceKey, mesh: Mesh, world: World, root: str) -> Condition | None:
    match (key.group, key.kind):
        case labels.GATEWAY_CLASS:
            return _gateway_class(policy, key, world, root)
        case labels.GATEWAY if key in mesh.waypoints:
            return Condition(_WAYPOINT, "True", "Accepted", f"bound to {key.path}")
        case labels.GATEWAY:
            return Condition(_WAYPOINT, "False", "TargetNotFound", "not bound")
        case labels.SERVICE | labels.SERVICE_ENTRY:
            return _service(key, mesh, world)
    return None


def _gateway_class(policy: Resource, key: ResourceKey, world: World, root: str) -> Condition:
    if policy.key.namespace != root:
        message = f"AuthorizationPolicy must be in the root namespace `{root}` when referencing a GatewayClass"
        return Condition(_WAYPOINT, "False", "Invalid", message)
    gateway_class = world.get(key)
    controller = labels.OWN_CLASSES.get(key.name, "")
    if gateway_class is not None:
        controller = text(gateway_class.spec.get("controllerName"))
    if not controller:
        return Condition(_WAYPOINT, "False", "TargetNotFound", "not bound")
    if controller != labels.MESH_CONTROLLER:
        message = f"GatewayClass must use controller name `{labels.MESH_CONTROLLER}`"
        return Condition(_WAYPOINT, "False", "Invalid", message)
    return Condition(_WAYPOINT, "True", "Accepted", f"bound to {key.name}")


def _service(key: ResourceKey, mesh: Mesh, world: World) -> Condition:
    service = world.get(key)
    if service is None:
        resolution = world.resolve_outer(key)
        if resolution.unknown:
            return Condition(_WAYPOINT, "Unknown", "TargetNotFound", resolution.reason)
        return Condition(_WAYPOINT, "False", "TargetNotFound", f"{key} was not found")
    binding = mesh.waypoints.binding(service)
    if binding.waypoint is None:
        return Condition(_WAYPOINT, "False", "AncestorNotBound", f"{key} is not bound to a waypoint")
    return Condition(_WAYPOINT, "True", "Accepted", f"bound to {binding.waypoint.path}")


def _at_ztunnel(policy: Resource) -> Condition:
    support = ztunnel.support(policy)
    if support.refused:
        return Condition(_ZTUNNEL, "False", "UnsupportedValue", support.refused)
    if support.unsupported:
        names = ", ".join(support.unsupported)
        return Condition(_ZTUNNEL, "True", "UnsupportedValue", f"ztunnel does not support HTTP attributes: {names}")
    return Condition(_ZTUNNEL, "True", "Accepted", "attached to ztunnel")
