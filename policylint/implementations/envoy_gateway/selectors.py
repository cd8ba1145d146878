"""Targets of Envoy Gateway's policies: targetSelectors across namespaces, listeners of ListenerSets.

Source: docs/design/implementations/envoy-gateway.md §1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import (
    GATEWAY_GROUP,
    PolicyKind,
    Resolution,
    Resource,
    ResourceKey,
    World,
    mapping,
    sequence,
    text,
)
from policylint.model.selectors import matches
from policylint.policy.order import age
from policylint.policy.results import Target
from policylint.policy.targets import targets as by_name
from policylint.topology import Topology, whole
from policylint.topology.grants import Grants


def targets(policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
    """What the selectors choose, then the references by name; one that names what is there already adds nothing, and
    `targetRef` hides `targetRefs`."""
    selectors = [each.path for each in kind.references if each.form == "selectors"]
    found = [
        _select(policy, kind, topology.world, grants, mapping(entry), ("spec", path, index))
        for path in selectors
        for index, entry in enumerate(sequence(policy.spec.get(path)))
    ]
    hidden = "refs" if policy.spec.get("targetRef") is not None else ""
    references = tuple(each for each in kind.references if each.form not in ("selectors", hidden))
    seen = {node for each in found for node in each.nodes}
    for target in by_name(policy, kind._replace(references=references), topology, grants):
        resolved = _in_listener_sets(target, topology) if kind.kind == "ClientTrafficPolicy" else target
        if resolved.nodes and seen.issuperset(resolved.nodes):
            continue
        seen.update(resolved.nodes)
        found.append(resolved)
    return tuple(found)


def _in_listener_sets(target: Target, topology: Topology) -> Target:
    """A ClientTrafficPolicy's section of a Gateway may be a listener of one of its ListenerSets (§6)."""
    if target.problem != "section-not-found" or target.key.kind != "Gateway":
        return target
    nodes = tuple(
        listener.node
        for listener_set in topology.listener_sets
        for listener in listener_set.listeners
        if listener.gateway == target.key and listener.name == target.section
    )
    return target._replace(nodes=nodes, problem="", detail="", resolution=Resolution("found")) if nodes else target


def _select(
    policy: Resource, kind: PolicyKind, world: World, grants: Grants, entry: Mapping[str, Any], pointer: Pointer
) -> Target:
    """Every object of the kind with these labels in the namespaces that count, the oldest first.

    One of another namespace needs a ReferenceGrant there; without one it is left out, and nothing is said of it.
    """
    group, name = text(entry.get("group"), GATEWAY_GROUP), text(entry.get("kind"))
    rule = mapping(entry.get("namespaces"))
    everywhere = text(rule.get("from")) in ("All", "Selector")
    target = Target(pointer, ResourceKey(group, name, "" if everywhere else policy.key.namespace, ""), selector=entry)
    if kind.may_target(group, name) is None:
        detail = f"{kind.kind} cannot target {name or 'an unnamed kind'}"
        return target._replace(resolution=Resolution("missing", detail), problem="kind-not-allowed", detail=detail)
    chosen: list[Resource] = []
    refused: list[Resource] = []
    unknown = ""
    for each in world.of_kind(group, name):
        if not matches(entry, each.labels):
            continue
        inside = _in_namespaces(policy, rule, world, each.key.namespace)
        if inside is None:
            unknown = f"no Namespace {each.key.namespace} is in the tree, so its labels are not known"
        elif inside:
            (refused if grants.allows(policy.key, each.key) is False else chosen).append(each)
    if chosen:
        chosen.sort(key=age)
        return target._replace(nodes=tuple(whole(each.key) for each in chosen))
    unknown = unknown or world.unseen.reason(target.key)
    if unknown and not refused:
        return target._replace(resolution=Resolution("unknown", unknown))
    if refused:
        namespace = refused[0].key.namespace
        detail = f"no ReferenceGrant in namespace {namespace} lets {kind.kind} select {refused[0].key}"
        missing = Resolution("missing", detail)
        return target._replace(key=refused[0].key, resolution=missing, problem="not-granted", detail=detail)
    detail = f"no {name}{'' if everywhere else f' in namespace {policy.key.namespace}'} has these labels"
    return target._replace(resolution=Resolution("missing", detail), problem="no-match", detail=detail)


def _in_namespaces(policy: Resource, rule: Mapping[str, Any], world: World, namespace: str) -> bool | None:
    """Whether `namespaces` (Same by default) covers a namespace; None where its labels are not known."""
    match text(rule.get("from")):
        case "All":
            return True
        case "Selector":
            labels = world.namespace_labels(namespace)
            return None if labels is None else matches(mapping(rule.get("selector")), labels)
        case _:
            return namespace == policy.key.namespace
