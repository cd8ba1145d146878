"""Targets of Envoy Gateway's policies: targetSelectors across namespaces, listeners of ListenerSets.

Source: docs/design/implementations/envoy-gateway.md §1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic import resolved_to, unresolved
from policylint.model import (
    GATEWAY_GROUP,
    PolicyKind,
    Resolution,
    Resource,
    ResourceKey,
    World,
    is_symbolic,
    mapping,
    sequence,
    text,
)
from policylint.policy.results import Target
from policylint.policy.targets import targets as by_name
from policylint.topology import Topology, whole
from policylint.topology.grants import Grants


def targets(policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
    """Resolve the selectors, then the references by name, without those that are there already.

    `targetRef` hides `targetRefs`.
    """
    selectors = [reference.path for reference in kind.references if reference.form == "selectors"]
    resolved_targets = [
        _select(policy, kind, topology.world, grants, mapping(entry), ("spec", path, index))
        for path in selectors
        for index, entry in enumerate(sequence(policy.spec.get(path)))
    ]
    hidden = "refs" if policy.spec.get("targetRef") is not None else ""
    by_others = (each for each in kind.references if each.form not in ("selectors", hidden))
    of_variables = (each for each in kind.references if is_symbolic(policy.spec.get(each.path)))
    references = tuple(dict.fromkeys((*by_others, *of_variables)))
    seen = {node for each in resolved_targets for node in each.nodes}
    for target in by_name(policy, kind._replace(references=references), topology, grants):
        resolved = _in_listener_sets(target, topology) if kind.kind == "ClientTrafficPolicy" else target
        if resolved.nodes and seen.issuperset(resolved.nodes):
            continue
        seen.update(resolved.nodes)
        resolved_targets.append(resolved)
    return tuple(resolved_targets)


def _in_listener_sets(target: Target, topology: Topology) -> Target:
    """Resolve a ClientTrafficPolicy's section of a Gateway to a listener of one of its ListenerSets (§6)."""
    if target.problem != "section-not-found" or target.key.kind != "Gateway":
        return target
    nodes = tuple(
        listener.node
        for listener_set in topology.listener_sets
        for listener in listener_set.listeners
        if listener.gateway == target.key and listener.name == target.section
    )
    return resolved_to(target, *nodes) if nodes else target


def _select(
    policy: Resource, kind: PolicyKind, world: World, grants: Grants, entry: Mapping[str, Any], pointer: Pointer
) -> Target:
    """Resolve a selector to the objects with these labels in the namespaces that count, the oldest first.

    One of another namespace needs a ReferenceGrant there; without one it is left out, and the controller says nothing.
    """
    group, name = text(entry.get("group"), GATEWAY_GROUP), text(entry.get("kind"))
    rule = mapping(entry.get("namespaces"))
    everywhere = text(rule.get("from")) in ("All", "Selector")
    target = Target(pointer, ResourceKey(group, name, "" if everywhere else policy.key.namespace, ""), selector=entry)
    if kind.may_target(group, name) is None:
        return unresolved(target, "kind-not-allowed", f"{kind.kind} cannot target {name or 'an unnamed kind'}")
    chosen: list[Resource] = []
    refused: list[Resource] = []
    unknown = ""
    for resource in world.selected(group, name, entry):
        inside = _in_namespaces(policy, rule, world, resource.key.namespace)
        if inside is None:
            unknown = f"no Namespace {resource.key.namespace} is in the tree, so its labels are not known"
        elif inside:
            (refused if grants.allows(policy.key, resource.key) is False else chosen).append(resource)
    if chosen:
        chosen.sort(key=lambda policy: policy.age)
        denied = tuple(resource.key for resource in refused)
        return target._replace(nodes=tuple(whole(resource.key) for resource in chosen), denied=denied)
    unknown = unknown or world.unseen.reason(target.key)
    if unknown and not refused:
        return target._replace(resolution=Resolution("unknown", unknown))
    if refused:
        namespace = refused[0].key.namespace
        detail = f"no ReferenceGrant in namespace {namespace} lets {kind.kind} select {refused[0].key}"
        return unresolved(target._replace(key=refused[0].key), "not-granted", detail)
    namespaces = "" if everywhere else f" in namespace {policy.key.namespace}"
    return unresolved(target, "no-match", f"no {name}{namespaces} has these labels")


def _in_namespaces(policy: Resource, rule: Mapping[str, Any], world: World, namespace: str) -> bool | None:
    """Tell whether `namespaces` (Same by default) covers a namespace; None where its labels are not known."""
    from policylint.model.selectors import matches

    match text(rule.get("from")):
        case "All":
            return True
        case "Selector":
            labels = world.namespace_labels(namespace)
            return None if labels is None else matches(mapping(rule.get("selector")), labels)
        case _:
            return namespace == policy.key.namespace
