"""Gateway API's policies on backends as Istio serves them: targets, and ancestors per target and per Gateway.

BackendTLSPolicy is for Services and ServiceEntries, the oldest has the target; XBackendTrafficPolicy for Services, and
of several on one the oldest gives each setting.

docs/design/implementations/istio.md §8; pilot/pkg/config/kube/gateway/backend_policies.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.implementations.istio.labels import (
    BACKEND_TLS,
    BACKEND_TRAFFIC,
    GATEWAY_CONTROLLER,
    IGNORE_ATTACHMENT,
    MESH_CONTROLLER,
    SERVICE,
    SERVICE_ENTRY,
)
from policylint.model import Node, PolicyKind, Resolution, Resource, ResourceKey, World, mapping, sequence, text
from policylint.policy.declared import Reading
from policylint.policy.folding import Folding, Stack
from policylint.policy.results import Ancestor, Effective, PolicyState, Target
from policylint.topology import Condition, Topology, whole

_KINDS = {BACKEND_TLS: (SERVICE, SERVICE_ENTRY), BACKEND_TRAFFIC: (SERVICE,)}
"""What the policies may target with Istio."""
_ACCEPTED = Condition("Accepted", "True", "Accepted")
_RESOLVED = Condition("ResolvedRefs", "True", "ResolvedRefs")


def targets(kind: PolicyKind, topology: Topology, resolved: tuple[Target, ...]) -> tuple[Target, ...]:
    """Targets as the catalog has them, with the ports of a ServiceEntry as sections, and no other kinds."""
    if kind.kind not in _KINDS:
        return resolved
    return tuple(_target(each, kind, topology.world) for each in resolved)


def _target(target: Target, kind: PolicyKind, world: World) -> Target:
    key = target.key
    if not key.kind or target.problem == "malformed":
        return target
    if (key.group, key.kind) not in _KINDS[kind.kind]:
        detail = f"Istio does not serve {kind.kind} for {key.kind}"
        return target._replace(nodes=(), problem="kind-not-allowed", detail=detail)
    entry = world.get(key)
    if (key.group, key.kind) != SERVICE_ENTRY or entry is None or not target.section:
        return target
    ports = {text(mapping(each).get("name")) for each in sequence(entry.spec.get("ports"))}
    if target.section in ports:
        node = Node(key, target.section, key.kind)
        return target._replace(nodes=(node,), resolution=Resolution("found", resource=entry), problem="", detail="")
    detail = f"{key} has no port named {target.section!r}"
    missing = Resolution("missing", detail)
    return target._replace(nodes=(), resolution=missing, problem="section-not-found", detail=detail)


def validate(policy: Resource, kind: PolicyKind, world: World) -> Reading:
    """What Istio does not translate: ignored by annotation, or without a usable CA (traffic is blocked then)."""
    if kind.kind != BACKEND_TLS:
        return Reading()
    if ignored(policy):
        pointer: Pointer = ("metadata", "annotations", IGNORE_ATTACHMENT)
        return Reading(code="ignored", reason="an annotation tells Istio to ignore the policy", pointer=pointer)
    place: Pointer = ("spec", "validation", "wellKnownCACertificates")
    known = mapping(policy.spec.get("validation")).get("wellKnownCACertificates")
    if known not in (None, "", "System"):
        return Reading(code="well-known-ca", reason=f"{known} is no well-known set of CAs", pointer=place)
    fault = _authority_fault(policy, world)
    if fault:
        place = ("spec", "validation", "caCertificateRefs", 0)
        return Reading(code="no-valid-ca", reason=f"the CA certificate reference is not valid: {fault}", pointer=place)
    return Reading()


def ignored(policy: Resource) -> bool:
    """Whether `istio.io/ignore-policy-attachment` takes a policy out."""
    return text(policy.annotations.get(IGNORE_ATTACHMENT)) == "true"


def _authority_fault(policy: Resource, world: World) -> str:
    """The reason of ResolvedRefs, "" when it holds; only the first of several CA references is looked at."""
    references = sequence(mapping(policy.spec.get("validation")).get("caCertificateRefs"))
    if not references:
        return ""
    first = mapping(references[0])
    group, kind = text(first.get("group")), text(first.get("kind"))
    if (group, kind) != ("", "ConfigMap"):
        return "InvalidKind"
    resolution = world.resolve_inner(ResourceKey("", "ConfigMap", policy.key.namespace, text(first.get("name"))))
    if resolution.missing:
        return "InvalidCACertificateRef"
    found = resolution.resource
    if found is not None and not any(mapping(found.body.get("data")).get(name) for name in ("cacert", "ca.crt")):
        return "InvalidCACertificateRef"
    return ""


def ancestors(state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
    """One per targetRef, in their order, then one per Gateway that routes to one of them, sixteen at most.

    For XBackendTrafficPolicy the targets alone, with Accepted alone.

    istiod hands one set of conditions from target to target without making it new, so that the fault of one stays on
    all that follow, and on the Gateways.
    """
    if state.kind.kind not in _KINDS:
        return ()
    tls = state.kind.kind == BACKEND_TLS
    accepted, resolved = _of_policy(state, topology.world)
    found = []
    for target in state.targets:
        fault = _of_target(state, target)
        if fault is not None and not ignored(state.policy):
            accepted = fault
        node = Node(target.key, target.section, target.key.kind)
        found.append(Ancestor(node, MESH_CONTROLLER, (accepted, resolved) if tls else (accepted,)))
    keys = {target.key for target in state.targets if not target.problem} if tls else set()
    for gateway in sorted(set(_gateways(topology, keys))):
        found.append(Ancestor(whole(gateway), GATEWAY_CONTROLLER, (accepted, resolved)))
    return tuple(found[:16])


def _of_policy(state: PolicyState, world: World) -> tuple[Condition, Condition]:
    fault = _authority_fault(state.policy, world)
    message = "the CA certificate reference is not valid"
    resolved = Condition("ResolvedRefs", "False", fault, message) if fault else _RESOLVED
    match state.invalid_code:
        case "ignored":
            return Condition("Accepted", "False", "IgnoredByIstio", state.invalid), _RESOLVED
        case "no-valid-ca":
            return Condition("Accepted", "False", "NoValidCACertificate", state.invalid), resolved
        case "":
            return _ACCEPTED, resolved
        case _:
            return Condition("Accepted", "False", "Invalid", state.invalid), resolved


def _of_target(state: PolicyState, target: Target) -> Condition | None:
    """What is wrong with one target: it is not there, or an older policy has it."""
    if target.problem:
        return Condition("Accepted", "False", "TargetNotFound", f"targetRefs invalid: {target.detail}")
    for refusal in state.refused:
        if refusal.attachment.target.pointer == target.pointer:
            message = f'Conflicts with BackendTLSPolicy "{refusal.by.name}" targeting the same backend'
            return Condition("Accepted", "False", "Conflicted", message)
    return None


def _gateways(topology: Topology, backends: set[ResourceKey]) -> Iterator[ResourceKey]:
    """The Gateways that routes to one of the backends name, whether they take the route, and a grant allows it, or not.

    Mirrors do not count, and not what other controllers serve (extractAncestorBackends).
    """
    for route in topology.routes:
        if any(each.role == "backend" and each.wanted in backends for each in route.backends):
            for parent in route.parents:
                if parent.gateway is not None and (not parent.controller or parent.controller.startswith("istio.io/")):
                    yield parent.gateway


def traffic(stack: Stack) -> Effective:
    """XBackendTrafficPolicies of one Service: each setting of the oldest that has it; nobody is told of a conflict."""
    folding = Folding()
    for each in stack.attachments:
        for name, value in each.declared[0].proper.items():
            folding.offer(each, (name,), value)
    return folding.effective(stack.attachments)
