"""The targets of an Istio policy: targetRefs, workloads by label, or without either its namespace.

Source: docs/design/implementations/istio.md §0 1-4.
"""

from __future__ import annotations

from collections.abc import Sequence

from policylint.implementations.generic import resolved_to, unresolved
from policylint.implementations.istio import labels
from policylint.implementations.istio.mesh import Mesh, Proxy
from policylint.model import Resolution, Resource, ResourceKey, World, is_symbolic
from policylint.policy.results import Target
from policylint.topology import whole

_OWN_NAMESPACE_ONLY = frozenset({labels.PEER_AUTHENTICATION, labels.PROXY_CONFIG, labels.TELEMETRY})
"""Kinds whose selector looks only at workloads of the policy's namespace, in the root namespace too (§3, §4, §7)."""


def made_by_istiod(target: Target) -> Target:
    """Resolve a GatewayClass that istiod makes by itself, whatever the manifests hold."""
    key = target.key
    if target.nodes or (key.group, key.kind) != labels.GATEWAY_CLASS or key.name not in labels.OWN_CLASSES:
        return target
    return resolved_to(target, whole(key), reason="istiod makes it")


def without_references(
    policy: Resource, mesh: Mesh, world: World, root: str, open_gateways: bool
) -> tuple[Target, ...]:
    """Return the target of a policy that names none: the workloads it selects, else its namespace or the mesh.

    Args:
        root: the root namespace.
        open_gateways: whether selectors select Gateways that istiod deploys.
    """
    if labels.has_references(policy) or is_symbolic(policy.body.get("spec")):
        return ()  # what a variable says is no namespace's
    wanted_labels = labels.match_labels(policy)
    if wanted_labels:
        return (_selected(policy, wanted_labels, mesh, world, root, open_gateways),)
    namespace = policy.key.namespace
    node = labels.namespace_node(namespace)
    reason = "without a target it covers " + ("the mesh" if namespace == root else "its namespace")
    pointer = ("metadata", "namespace" if "namespace" in policy.metadata else "name")
    if is_symbolic(namespace):
        unknown = Resolution("unknown", "its namespace is a variable that nothing fills in")
        return (Target(pointer, node.key, resolution=unknown),)
    return (resolved_to(Target(pointer, node.key), node, reason=reason),)


def _selected(
    policy: Resource, wanted_labels: dict[str, object], mesh: Mesh, world: World, root: str, open_gateways: bool
) -> Target:
    """Resolve to every workload with these labels, in the root namespace to those of all namespaces.

    Waypoints are never selected: they take no policies but those that name them. Ingress Gateways are, as
    ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY is on by default; without it they are left out too.
    """
    namespace = policy.key.namespace
    selector = {"matchLabels": wanted_labels}
    field, _ = labels.selector_path(policy)
    target = Target(("spec", field), ResourceKey("", "Pod", namespace, ""), selector=selector)
    everywhere = namespace == root and policy.key.kind not in _OWN_NAMESPACE_ONLY
    candidates = mesh.proxies if everywhere else mesh.by_namespace.get(namespace, [])
    labelled = mesh.selected(selector, None if everywhere else namespace)
    reached = (proxy for proxy in labelled if _takes_selectors(proxy) and proxy.is_within(namespace, root))
    chosen = [proxy for proxy in reached if open_gateways or not proxy.gateway]
    if chosen:
        return target._replace(nodes=tuple(proxy.node for proxy in chosen))
    if policy.key.kind == labels.PEER_AUTHENTICATION and namespace == root:
        return target._replace(resolution=Resolution("found", "selectors in the root namespace are ignored"))
    reason = _unseen(policy, wanted_labels, mesh, world, candidates)
    if reason:
        return target._replace(resolution=Resolution("unknown", reason))
    detail = f"no workload{'' if everywhere else f' in namespace {namespace}'} has these labels"
    if any(proxy.waypoint for proxy in labelled):
        detail = "only a waypoint has these labels, and waypoints take no selectors: name it in targetRefs"
    return unresolved(target, "no-match", detail)


def _takes_selectors(proxy: Proxy) -> bool:
    return not proxy.waypoint and not proxy.assumed


def _unseen(
    policy: Resource, wanted_labels: dict[str, object], mesh: Mesh, world: World, candidates: Sequence[Proxy]
) -> str:
    """Return why a workload may be there though none was seen, "" when none can be.

    A namespace of which the tree shows no workload gets them from elsewhere, whatever other namespaces hold
    (docs/design/field-notes.md §1, need 1); but where a workload of another one has these labels, the namespace is the
    mistake.
    """
    if any(map(is_symbolic, wanted_labels.values())) or is_symbolic(policy.key.namespace):
        return "the selector holds a variable that nothing in the tree fills in"
    pods = ResourceKey("", "Pod", policy.key.namespace, "")
    if world.unseen.reason(pods):
        return world.unseen.reason(pods)
    if world.lands_anywhere(policy):
        return "it names no namespace, and may be applied to any"
    selector = {"matchLabels": wanted_labels}
    if reason := world.pods_elsewhere(selector, policy.key.namespace):
        return reason
    elsewhere = any(_takes_selectors(proxy) and proxy.place is None for proxy in mesh.selected(selector))
    if elsewhere and (world.movable or policy.key.unplaced):
        return "what it selects is there, but a kustomization may set the namespaces"
    if all(proxy.place is not None for proxy in mesh.proxies):
        return "no workload is in the tree, so they come from elsewhere"
    of_root = candidates is mesh.proxies  # where istioctl or a chart puts the ingress gateway
    around = any(proxy.place is None for proxy in candidates)
    if (of_root or not (around or elsewhere)) and policy.key.namespace not in mesh.inhabited:
        return f"no workload of namespace {policy.key.namespace} is in the tree, so they come from elsewhere"
    return ""
