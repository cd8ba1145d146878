"""What an Istio policy names: targetRefs, workloads by label, or without either its namespace.

Source: docs/design/implementations/istio.md §0 1-4.
"""

from __future__ import annotations

from collections.abc import Sequence

from policylint.documents import Pointer
from policylint.implementations.istio.labels import (
    ENVOY_FILTER,
    GATEWAY_CLASS,
    OWN_CLASSES,
    PEER_AUTHENTICATION,
    PROXY_CONFIG,
    TELEMETRY,
    has_references,
    match_labels,
    namespace_node,
)
from policylint.implementations.istio.mesh import Mesh, Proxy
from policylint.model import Resolution, Resource, ResourceKey, World, is_symbolic
from policylint.model.selectors import matches
from policylint.policy.results import Target
from policylint.topology import whole

_OWN_NAMESPACE_ONLY = frozenset({PEER_AUTHENTICATION, PROXY_CONFIG, TELEMETRY})
"""Kinds whose selector looks only at workloads of the policy's namespace, in the root namespace too (§3, §4, §7)."""


def made_by_istiod(target: Target) -> Target:
    """A GatewayClass that istiod makes by itself is there, whatever the manifests hold."""
    key = target.key
    if target.nodes or (key.group, key.kind) != GATEWAY_CLASS or key.name not in OWN_CLASSES:
        return target
    found = Resolution("found", "istiod makes it")
    return target._replace(nodes=(whole(key),), resolution=found, problem="", detail="")


def without_references(
    policy: Resource, mesh: Mesh, world: World, root: str, open_gateways: bool = True
) -> tuple[Target, ...]:
    """The target of a policy that names none: the workloads it selects, else its namespace or the mesh.

    Args:
        root: the root namespace.
        open_gateways: whether selectors select Gateways that istiod deploys.
    """
    if has_references(policy):
        return ()
    labels = match_labels(policy)
    if labels:
        return (_selected(policy, labels, mesh, world, root, open_gateways),)
    namespace = policy.key.namespace
    node = namespace_node(namespace)
    reason = "without a target it covers " + ("the mesh" if namespace == root else "its namespace")
    return (Target(_place(policy), node.key, resolution=Resolution("found", reason), nodes=(node,)),)


def _place(policy: Resource) -> Pointer:
    return ("metadata", "namespace" if "namespace" in policy.metadata else "name")


def _selected(
    policy: Resource, labels: dict[str, object], mesh: Mesh, world: World, root: str, open_gateways: bool
) -> Target:
    """Every workload with these labels, in the root namespace those of all namespaces.

    Waypoints are never selected: they take no policies but those that name them. Ingress Gateways are, as
    ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY is on by default; without it they are left out too.
    """
    namespace = policy.key.namespace
    selector = {"matchLabels": labels}
    field = "workloadSelector" if policy.key.kind == ENVOY_FILTER else "selector"
    pods = ResourceKey("", "Pod", namespace, "")
    target = Target(("spec", field), pods, selector=selector)
    everywhere = namespace == root and policy.key.kind not in _OWN_NAMESPACE_ONLY
    candidates = mesh.proxies if everywhere else mesh.by_namespace.get(namespace, [])
    chosen = tuple(each.node for each in candidates if _selects(selector, each) and (open_gateways or not each.gateway))
    if chosen:
        return target._replace(nodes=chosen)
    if policy.key.kind == PEER_AUTHENTICATION and namespace == root:
        return target._replace(resolution=Resolution("found", "selectors in the root namespace are ignored"))
    reason = _unseen(policy, labels, mesh, world, candidates)
    if reason:
        return target._replace(resolution=Resolution("unknown", reason))
    where = "" if everywhere else f" in namespace {namespace}"
    detail = f"no workload{where} has these labels"
    if any(matches(selector, each.labels) for each in candidates if each.waypoint):
        detail = "only a waypoint has these labels, and waypoints take no selectors: name it in targetRefs"
    return target._replace(resolution=Resolution("missing", detail), problem="no-match", detail=detail)


def _selects(selector: dict[str, dict[str, object]], proxy: Proxy) -> bool:
    return not proxy.waypoint and not proxy.assumed and matches(selector, proxy.labels)


def _unseen(policy: Resource, labels: dict[str, object], mesh: Mesh, world: World, candidates: Sequence[Proxy]) -> str:
    """Why a workload may be there though none was seen, "" when none can be.

    A namespace of which the tree shows no workload gets them from elsewhere, whatever other namespaces hold
    (docs/design/field-notes.md §1, need 1); but where a workload of another one has these labels, the namespace is the
    mistake.
    """
    if any(map(is_symbolic, labels.values())) or is_symbolic(policy.key.namespace):
        return "the selector holds a variable that nothing in the tree fills in"
    pods = ResourceKey("", "Pod", policy.key.namespace, "")
    if world.unseen.reason(pods):
        return world.unseen.reason(pods)
    selector = {"matchLabels": labels}
    elsewhere = any(_selects(selector, each) for each in mesh.proxies)
    if elsewhere and (world.movable or policy.key.unplaced):
        return "what it selects is there, but a kustomization may set the namespaces"
    if not mesh.proxies:
        return "no workload is in the tree, so they come from elsewhere"
    if not candidates and not elsewhere and policy.key.namespace not in mesh.inhabited:
        return f"no workload of namespace {policy.key.namespace} is in the tree, so they come from elsewhere"
    return ""
