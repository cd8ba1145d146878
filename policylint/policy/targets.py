"""The nodes that a policy names: every reference by itself, by name, by selector, with section, across namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.catalog.kinds import shipped_groups
from policylint.documents import Pointer
from policylint.model import (
    GATEWAY_GROUP,
    ROUTE_KINDS,
    Node,
    PolicyKind,
    Resolution,
    Resource,
    ResourceKey,
    World,
    integer,
    mapping,
    sequence,
    text,
)
from policylint.model.keys import is_symbolic
from policylint.model.kinds import CLUSTER_SCOPED, DEFINITION, group_of
from policylint.model.policy_kind import Reference, TargetKind
from policylint.policy.results import Target, TargetProblem
from policylint.topology import Topology, whole
from policylint.topology.grants import Grants
from policylint.topology.references import is_parent, resolve_parent

NO = "the reference has no "
"""What is said of a reference before the field that it lacks."""
_OF_GATEWAY_API = frozenset({"Gateway", "GatewayClass", "ListenerSet", *ROUTE_KINDS})
"""Kinds that no other group is known to have."""


def targets(policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
    """Resolve every declared reference of a policy (docs/design/semantics.md §1, rules 2-14, §3 step 2).

    Kind and group are matched leniently (§6, trap 23): lower-case kinds, a version in the group and, if a schema lets
    it pass, no group resolve, and the Target says so in `lenient`.
    """
    found: list[Target] = []
    for reference, entry, pointer in _entries(policy, kind):
        if is_symbolic(entry) and (pointer == ("spec",) or reference.form not in _OF_WORKLOADS):
            found.append(Target(pointer, ResourceKey("", "", policy.key.namespace, ""), resolution=_VARIABLE))
            continue
        body = mapping(entry)
        if reference.inside:
            body, pointer = mapping(body.get(reference.inside)), (*pointer, reference.inside)
        if body and reference.kind and "kind" not in body:
            body = {**body, "kind": reference.kind}
        if not body and reference.form not in _OF_WORKLOADS:
            found.append(_malformed(pointer, policy, "this entry is not a reference"))
            continue
        if reference.form in _OF_WORKLOADS:
            continue  # workloads are resolved by the implementations that know them
        selector = body.get("selector") if reference.form == "refs" else None
        if reference.form == "selectors" or (isinstance(selector, dict) and "name" not in body):
            chosen = mapping(selector) if isinstance(selector, dict) else body
            found.append(_by_selector(policy, kind, topology, body, chosen, pointer))
        elif reference.sections and sequence(body.get(reference.sections)):
            for index, section in enumerate(sequence(body[reference.sections])):
                place = (*pointer, reference.sections, index)
                named = {**body, "sectionName": section}
                found.append(_by_name(policy, kind, topology, grants, named, place))
        else:
            found.append(_by_name(policy, kind, topology, grants, body, pointer))
    if kind.extension_ref:
        found.extend(_by_filter(policy, topology))
    return tuple(found)


def _by_filter(policy: Resource, topology: Topology) -> Iterator[Target]:
    """The rules whose ExtensionRef filters name the policy."""
    for node, position in topology.filters_naming(policy.key):
        yield Target(("metadata", "name"), node.key, node.section, nodes=(node,), filter=position)


def _entries(policy: Resource, kind: PolicyKind) -> Iterator[tuple[Reference, object, Pointer]]:
    whole_spec = policy.body.get("spec")
    for reference in kind.references[:1] if is_symbolic(whole_spec) else ():
        yield reference, whole_spec, ("spec",)
    for reference in kind.references:
        value: object = policy.spec
        path = tuple(reference.path.split("."))
        for step in path:
            value = value if is_symbolic(value) else mapping(value).get(step)
        if value is None:
            continue
        if reference.form in ("refs", "selectors"):
            for index, each in enumerate(sequence(value)):
                yield reference, each, ("spec", *path, index)
            if is_symbolic(value):
                yield reference, value, ("spec", *path)
        else:
            yield reference, value, ("spec", *path)


_OF_WORKLOADS = frozenset({"workload-selector", "label-selector", "namespace-selector"})
_VARIABLE = Resolution("unknown", "a variable that nothing in the tree fills in stands for its targets")


def _malformed(pointer: Pointer, policy: Resource, detail: str) -> Target:
    nowhere = ResourceKey("", "", policy.key.namespace, "")
    return Target(pointer, nowhere, resolution=Resolution("missing", detail), problem="malformed", detail=detail)


def _kind_of(kind: PolicyKind, body: Mapping[str, Any]) -> tuple[str, str, TargetKind | None, str]:
    """Group, kind, the catalog's entry that allows them, and what was read leniently."""
    group, name = text(body.get("group")), text(body.get("kind"))
    if kind.any_case:
        group, name = group.lower(), _proper_kind(kind, group.lower(), name)
    group = group_of(group)
    if "group" not in body and kind.origin == "crd" and name in _OF_GATEWAY_API:
        why = f"no group is given, {name} is of {GATEWAY_GROUP}"
        return GATEWAY_GROUP, name, kind.may_target(GATEWAY_GROUP, name), why
    allowed = kind.may_target(group, name)
    if allowed is not None and name and name[0].isupper() and "/" not in group:
        return group, name, allowed, ""
    meant = next((each for each in kind.targets if each.groupless and each.kind == name), None)
    if meant is not None and not group:
        return meant.group, name, meant, f"no group is given, {name} is of {meant.group}"
    lenient = []
    if "/" in group:
        lenient.append(f"group {group!r} carries a version")
        group = group.split("/")[0]
    if name and not name[0].isupper():
        proper = _proper_kind(kind, group, name)
        if proper != name:
            lenient.append(f"kind {name!r} is written {proper!r}")
            name = proper
    return group, name, kind.may_target(group, name), "; ".join(lenient)


def _proper_kind(kind: PolicyKind, group: str, name: str) -> str:
    known = {each.kind for each in kind.targets if each.group in ("*", group)} | {
        each for of, each in CLUSTER_SCOPED if of == group
    }
    known |= {"Gateway", "GatewayClass", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute", "Service"}
    return next((each for each in sorted(known) if each.lower() == name.lower()), name)


def _namespace(policy: Resource, group: str, kind: str, body: Mapping[str, Any], world: World) -> str:
    if (group, kind) in CLUSTER_SCOPED or (group, kind) in world.cluster_scoped:
        return ""
    return text(body.get("namespace")) or policy.key.namespace


def _by_name(
    policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants, body: Mapping[str, Any], pointer: Pointer
) -> Target:
    group, name_of_kind, allowed, lenient = _kind_of(kind, body)
    name, section = text(body.get("name")), _section(body.get("sectionName"))
    placed = {} if kind.cross_namespace == "ignored" else body
    key = ResourceKey(group, name_of_kind, _namespace(policy, group, name_of_kind, placed, topology.world), name)
    target = Target(pointer, key, section, lenient=lenient)
    requires_group = "group" not in body and any(reference.group for reference in kind.references)
    if not name or not name_of_kind or requires_group:
        missing = "kind" if not name_of_kind else "group" if name else "name"
        return target._replace(
            resolution=Resolution("missing", f"{NO}{missing}"), problem="malformed", detail=f"{NO}{missing}", lenient=""
        )
    if allowed is None:
        detail = f"{kind.kind} cannot target {name_of_kind}{f' of group {group}' if group else ''}"
        return target._replace(resolution=refused(key, detail), problem="kind-not-allowed", detail=detail)
    if lenient and allowed.groupless:
        return target._replace(resolution=Resolution("unknown", allowed.groupless))
    refusal = _crossing(policy, kind, grants, topology.world, key)
    if refusal:
        problem, detail = refusal
        return target._replace(resolution=refused(key, detail), problem=problem, detail=detail)
    if allowed.virtual or _is_virtual(kind, group, name_of_kind, topology.world):
        return target._replace(nodes=(Node(key, section, key.kind),), resolution=Resolution("found", "a virtual kind"))
    resolution = resolve_parent(topology.world, key) if is_parent(key) else topology.world.resolve_outer(key)
    if not resolution.found and key[:2] == ("", "Namespace") and topology.world.deploys(key.name):
        resolution = Resolution("found", "objects here are in it")
    target = target._replace(resolution=resolution)
    if not resolution.found and key not in topology.unseen:
        return target._replace(problem="not-found" if resolution.missing else "", detail=resolution.reason)
    if not section:
        return target._replace(nodes=(whole(key),))
    if not allowed.sections:
        detail = f"{kind.kind} takes no sectionName for {name_of_kind}"
        return target._replace(resolution=Resolution("missing", detail), problem="section-not-allowed", detail=detail)
    return _with_section(target, kind, topology)


def refused(key: ResourceKey, detail: str) -> Resolution:
    """Return the resolution of what cannot be targeted, seen or not; a variable may stand for a kind that can."""
    return Resolution("unknown" if is_symbolic(key.group) or is_symbolic(key.kind) else "missing", detail)


def _is_virtual(kind: PolicyKind, group: str, name: str, world: World) -> bool:
    """Whether a target is no Kubernetes object: its group is one that no API server knows (GEP-713 «Targeting virtual
    types»), or is the policy's own, which serves no such kind. Only kinds that a CRD tells of may mean such things.
    """
    if kind.origin != "crd" or "." not in group or group.endswith(".k8s.io") or world.of_kind(group, name):
        return False
    served = [
        (text(each.spec.get("group")), text(mapping(each.spec.get("names")).get("kind")))
        for each in world.of_kind(*DEFINITION)
    ]
    if group == kind.group:
        return (group, name) not in served
    known = {of_group for of_group, _ in served} | {of_group for of_group, _ in world.kinds()} | shipped_groups()
    return group not in known


def _section(value: object) -> str:
    """Return the section that a reference names; a bare number is a name too, of a section that is hardly there."""
    return text(value) if integer(value) is None else str(value)


def _with_section(target: Target, kind: PolicyKind, topology: Topology) -> Target:
    node = topology.node_for(target.key, target.section)
    if node is not None and (kind.synthetic_rule_names or not topology.is_synthetic(node)):
        return target._replace(nodes=(node,))
    if is_symbolic(target.section):
        return target._replace(resolution=Resolution("unknown", "sectionName holds a variable"))
    detail = f"{target.key} has no section named {target.section!r}"
    return target._replace(resolution=Resolution("missing", detail), problem="section-not-found", detail=detail)


def _crossing(
    policy: Resource, kind: PolicyKind, grants: Grants, world: World, key: ResourceKey
) -> tuple[TargetProblem, str] | None:
    """Why a reference into another namespace is refused, None when it is not one.

    Source: docs/design/semantics.md §1, rules 13, 14.
    """
    home = policy.key.namespace
    if not home or not key.namespace or key.namespace == home or kind.cross_namespace in ("yes", "clients"):
        return None
    if world.movable:  # a kustomization may yet bring the two together
        return None
    if policy.key.unplaced or key.unplaced or is_symbolic(home) or is_symbolic(key.namespace):
        return None
    if kind.cross_namespace == "no":
        return "other-namespace", f"{kind.kind} may only target objects of its own namespace {home}"
    if grants.allows(policy.key, key) is not False:
        return None
    return "not-granted", f"no ReferenceGrant in namespace {key.namespace} allows {kind.kind} from {home}"


def _by_selector(
    policy: Resource,
    kind: PolicyKind,
    topology: Topology,
    body: Mapping[str, Any],
    selector: Mapping[str, Any],
    pointer: Pointer,
) -> Target:
    """Every object of the kind whose labels match; an empty selector means all of them.

    Source: docs/design/field-notes.md §1, need 7.

    With a sectionName, the section of that name of each of them.
    """
    world = topology.world
    group, name_of_kind, allowed, lenient = _kind_of(kind, body)
    namespace = _namespace(policy, group, name_of_kind, {}, world)
    key = ResourceKey(group, name_of_kind, namespace, "")
    target = Target(pointer, key, selector=selector, lenient=lenient)
    if allowed is None:
        detail = f"{kind.kind} cannot target {name_of_kind or 'an unnamed kind'}"
        return target._replace(resolution=refused(key, detail), problem="kind-not-allowed", detail=detail)
    inside = world.selected(group, name_of_kind, selector, namespace)
    section = text(body.get("sectionName"))
    if inside and section:
        nodes = [topology.node_for(each.key, section) for each in inside]
        found = tuple(
            node
            for node in nodes
            if node is not None and (kind.synthetic_rule_names or not topology.is_synthetic(node))
        )
        if found:
            return target._replace(section=section, nodes=found)
        detail = f"no {name_of_kind} with these labels has a section named {section!r}"
        missing = Resolution("unknown" if is_symbolic(section) else "missing", detail)
        problem: TargetProblem = "" if is_symbolic(section) else "section-not-found"
        return target._replace(section=section, resolution=missing, problem=problem, detail=detail)
    if inside:
        return target._replace(nodes=tuple(whole(each.key) for each in inside))
    if (world.movable or policy.key.unplaced) and world.selected(group, name_of_kind, selector):
        reason = "what it selects is there, but a kustomization may set the namespaces"
        return target._replace(resolution=Resolution("unknown", reason))
    unseen = world.unseen.reason(key)
    if unseen:
        return target._replace(resolution=Resolution("unknown", unseen))
    detail = f"no {name_of_kind}{f' in namespace {namespace}' if namespace else ''} has these labels"
    return target._replace(resolution=Resolution("missing", detail), problem="no-match", detail=detail)


__all__ = ["targets"]
