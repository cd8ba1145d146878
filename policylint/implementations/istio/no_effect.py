"""Why an accepted policy does nothing: istiod never says it, `istioctl analyze` hardly.

Source: docs/design/implementations/istio-analyzers.md §2.
"""

from __future__ import annotations

from policylint.implementations.istio import ztunnel
from policylint.implementations.istio.labels import (
    AUTHORIZATION,
    ENVOY_FILTER,
    GATEWAY_CLASS,
    PEER_AUTHENTICATION,
    SERVICE,
    SERVICE_ENTRY,
    USE_WAYPOINT,
    WAYPOINT_CLASS,
    is_wide,
)
from policylint.implementations.istio.mesh import Mesh
from policylint.model import World
from policylint.policy.results import Idle, PolicyState, Target


def idle(state: PolicyState, mesh: Mesh, world: World, root: str) -> Idle | None:
    """The first reason, None where there is none to tell: the policy acts, or another rule speaks of it."""
    if state.invalid_code or state.refused or state.groups or not state.targets:
        return None
    if any(target.problem or target.resolution.unknown for target in state.targets):
        return None
    found = [_of_target(state, target, mesh, world, root) for target in state.targets]
    return found[0] if all(each is not None for each in found) else None


def _of_target(state: PolicyState, target: Target, mesh: Mesh, world: World, root: str) -> Idle | None:
    policy, key = state.policy, target.key
    kind = key.group, key.kind
    if kind in (SERVICE, SERVICE_ENTRY):
        return _service(state, target, mesh, world)
    if kind == GATEWAY_CLASS:
        return _gateway_class(target, policy.key.namespace, root)
    if policy.key.kind == PEER_AUTHENTICATION and policy.key.namespace == root and not is_wide(policy):
        why = "a PeerAuthentication with a selector is ignored in the root namespace"
        return Idle(target, why, "move it to the namespace of the workloads")
    if target.selector is not None and any(each.ambient for each in mesh.proxies if each.node in target.nodes):
        return Idle(target, _at_ztunnel(state), "name a waypoint's Gateway or a Service in targetRefs")
    if target.selector is None and key.kind == "Namespace":
        return _namespace(state, target, mesh, root)
    return None


def _gateway_class(target: Target, home: str, root: str) -> Idle | None:
    """Waypoints ask for the one class alone, and in the root namespace alone (policyattachment.go)."""
    if home != root:
        why = f"policies on a GatewayClass count in the root namespace {root} only"
        return Idle(target, why, f"move it to namespace {root}, or target the Gateway of one waypoint")
    if target.key.name != WAYPOINT_CLASS:
        why = f"policies on a GatewayClass count for {WAYPOINT_CLASS} only, whatever else its controller serves"
        return Idle(target, why, "target the Gateways themselves, each in its namespace")
    return None


def _service(state: PolicyState, target: Target, mesh: Mesh, world: World) -> Idle | None:
    key = target.key
    if state.kind.kind == ENVOY_FILTER:
        why = "EnvoyFilters are looked up for Gateways only, never for what is behind a waypoint"
        return Idle(target, why, "name the waypoint's Gateway in targetRefs")
    found = world.get(key)
    if found is None:
        return None
    binding = mesh.waypoints.binding(found)
    if binding.waypoint is not None:
        return None
    unseen = USE_WAYPOINT not in found.labels and world.namespace_labels(key.namespace) is None
    why = f"only a waypoint acts on it, and {key} is bound to none: {binding.reason}"
    return Idle(target, why, f"label {key} or its namespace with {USE_WAYPOINT}: NAME", unknown=unseen)


def _at_ztunnel(state: PolicyState) -> str:
    """Why nothing of a policy is enforced where there are no sidecars."""
    if state.kind.kind != AUTHORIZATION:
        return f"in ambient mode ztunnel does not act on {state.kind.kind}, and waypoints act on what names them only"
    reading = ztunnel.read(state.policy)
    why = reading.refused or (f"it does not support {', '.join(reading.unsupported)}" if reading.unsupported else "")
    return f"in ambient mode ztunnel enforces nothing of it{': ' if why else ''}{why}"


def _namespace(state: PolicyState, target: Target, mesh: Mesh, root: str) -> Idle | None:
    """A policy for a whole namespace, or for the mesh, that reaches no proxy though there are some."""
    home = state.key.namespace
    proxies = mesh.proxies if home == root else mesh.by_namespace.get(home, [])
    if not proxies:
        return None  # workloads are often in another repository: nothing can be said
    if all(each.ambient for each in proxies):
        return Idle(target, _at_ztunnel(state), "name a waypoint's Gateway or a Service in targetRefs")
    if all(each.ambient or each.waypoint for each in proxies):
        why = "waypoints take only policies that name them or what is behind them"
        if state.kind.kind == AUTHORIZATION:  # NewWaypointTerminationBuilder (docs/design/implementations/istio.md §1)
            why += ", and ask the others about connections to themselves alone"
        return Idle(target, why, "name the waypoint's Gateway or a Service in targetRefs")
    return None
