"""Reasons why an accepted policy does nothing: istiod never says them, `istioctl analyze` hardly.

Source: docs/design/implementations/istio-analyzers.md §2.
"""

from __future__ import annotations

from collections.abc import Sequence

from policylint.implementations.istio import labels, ztunnel
from policylint.implementations.istio.mesh import Mesh, Proxy
from policylint.model import World
from policylint.policy.mutual_tls import modes
from policylint.policy.results import Idle, PolicyState, Target


def idle(state: PolicyState, mesh: Mesh, world: World, root: str) -> Idle | None:
    """Return the first reason, None where the policy acts, nothing can be said, or another rule speaks of it."""
    if state.invalid_code or state.refused or not state.targets:
        return None
    if state.groups:
        return _disabling(state, mesh) if state.key.kind == labels.PEER_AUTHENTICATION else _unused(state, mesh, world)
    if any(target.problem or target.resolution.unknown for target in state.targets):
        return None
    reasons = [_of_target(state, target, mesh, world, root) for target in state.targets]
    return reasons[0] if None not in reasons else None


def _of_target(state: PolicyState, target: Target, mesh: Mesh, world: World, root: str) -> Idle | None:
    policy, key = state.policy, target.key
    kind = key.group, key.kind
    if kind in (labels.SERVICE, labels.SERVICE_ENTRY):
        return _service(state, target, mesh, world)
    if kind == labels.GATEWAY_CLASS:
        return _gateway_class(target, policy.key.namespace, root)
    if policy.key.kind == labels.PEER_AUTHENTICATION and policy.key.namespace == root and not labels.is_wide(policy):
        why = "a PeerAuthentication with a selector is ignored in the root namespace"
        return Idle(target, why, "move it to the namespace of the workloads")
    if target.selector is not None and any(proxy.ambient for proxy in mesh.proxies if proxy.node in target.nodes):
        return Idle(target, _at_ztunnel(state), "name a waypoint's Gateway or a Service in targetRefs")
    if target.selector is None and key.kind == "Namespace":
        return _namespace(state, target, mesh, root)
    return None


def _disabling(state: PolicyState, mesh: Mesh) -> Idle | None:
    """Explain a PeerAuthentication that switches mTLS off where ztunnel reads DISABLE as PERMISSIVE.

    It acts all the same where it lifts a STRICT of a wider one (ambient/authorization.go).
    """
    if set(modes(state.policy.spec)) != {"DISABLE"}:
        return None
    proxies = [mesh.proxy(path[0].key) for group in state.groups for path in group.contexts()]
    stacks = [attachment.policy for group in state.groups for attachment in group.effective.stack]
    lifts = any("STRICT" in modes(policy.spec) for policy in stacks if policy is not state.policy)
    if lifts or not all(proxy is not None and proxy.ambient for proxy in proxies):
        return None
    why = "in ambient mode DISABLE is read as PERMISSIVE: ztunnels go on encrypting what they send to each other"
    return Idle(state.targets[0], why, "leave it out, or take the pods out of the mesh")


def _unused(state: PolicyState, mesh: Mesh, world: World) -> Idle | None:
    """Explain a policy for waypoints that no label names, where their Namespaces are here and say that they are
    ambient: whoever labels these by hand does not stop at one of two labels."""
    waypoints = mesh.waypoints
    used = {*waypoints.of_workloads.values(), *(share.waypoint for share in waypoints.canaries.values())}
    for target in state.targets:
        around = world.namespace_labels(target.key.namespace) or {}
        if target.key not in waypoints or waypoints.bound[target.key] or target.key in used:
            return None
        if around.get(labels.DATAPLANE_MODE) != "ambient" or waypoints.may_be_used(target.key):
            return None
    target = state.targets[0]
    wrong = waypoints.wrong_name(target.key.namespace)
    why = wrong or f"no label {labels.USE_WAYPOINT} names that waypoint: nothing that is sent passes it"
    return Idle(target, why, f"label Namespace {target.key.namespace} with {labels.USE_WAYPOINT}: {target.key.name}")


def _gateway_class(target: Target, home: str, root: str) -> Idle | None:
    """Explain a GatewayClass that no waypoint asks for: one counts, in the root namespace (policyattachment.go)."""
    if home != root:
        why = f"policies on a GatewayClass count in the root namespace {root} only"
        return Idle(target, why, f"move it to namespace {root}, or target the Gateway of one waypoint")
    if target.key.name != labels.WAYPOINT_CLASS:
        why = f"policies on a GatewayClass count for {labels.WAYPOINT_CLASS} only, whatever else its controller serves"
        return Idle(target, why, "target the Gateways themselves, each in its namespace")
    return None


def _service(state: PolicyState, target: Target, mesh: Mesh, world: World) -> Idle | None:
    key = target.key
    if state.kind.kind == labels.ENVOY_FILTER:
        why = "EnvoyFilters are looked up for Gateways only, never for what is behind a waypoint"
        return Idle(target, why, "name the waypoint's Gateway in targetRefs")
    service = world.get(key)
    if service is None:
        return None
    binding = mesh.waypoints.binding(service)
    if binding.waypoint is not None:
        return None
    unseen = labels.USE_WAYPOINT not in service.labels and world.namespace_labels(key.namespace) is None
    unseen = unseen or binding.unknown
    why = f"only a waypoint acts on it, and {key} is bound to none: {binding.reason}"
    fix = binding.fix or f"label {key} or its namespace with {labels.USE_WAYPOINT}: NAME"
    return Idle(target, why, fix, unknown=unseen)


def _at_ztunnel(state: PolicyState) -> str:
    """Explain why nothing of a policy is enforced where there are no sidecars."""
    if state.kind.kind != labels.AUTHORIZATION:
        return f"in ambient mode ztunnel does not act on {state.kind.kind}, and waypoints act on what names them only"
    support = ztunnel.support(state.policy)
    why = support.refused or (f"it does not support {', '.join(support.unsupported)}" if support.unsupported else "")
    return f"in ambient mode ztunnel enforces nothing of it{': ' if why else ''}{why}"


def _namespace(state: PolicyState, target: Target, mesh: Mesh, root: str) -> Idle | None:
    """Explain a policy for a whole namespace, or for the mesh, that reaches no proxy though there are some."""
    home = state.key.namespace
    around = mesh.proxies if home == root else mesh.by_namespace.get(home, [])
    proxies = [proxy for proxy in around if proxy.is_within(home, root)]
    if not proxies:
        return None  # workloads are often in another repository: nothing can be said
    if all(proxy.ambient for proxy in proxies):
        return Idle(target, _at_ztunnel(state), "name a waypoint's Gateway or a Service in targetRefs")
    if all(proxy.ambient or proxy.waypoint for proxy in proxies) and not _may_act_behind(state, proxies):
        why = "waypoints take only policies that name them or what is behind them"
        return Idle(target, why, "name the waypoint's Gateway or a Service in targetRefs")
    return None


def _may_act_behind(state: PolicyState, proxies: Sequence[Proxy]) -> bool:
    """Return whether ztunnels enforce all of it at workloads beside the waypoints, of which the tree shows none."""
    if any(proxy.ambient for proxy in proxies):
        return False
    if state.key.kind == labels.AUTHORIZATION:
        support = ztunnel.support(state.policy)
        return support.enforced and not support.unsupported
    return state.key.kind == labels.PEER_AUTHENTICATION
