"""Gateway API's policies on backends as Istio serves them: targets, and ancestors per target and per Gateway.

BackendTLSPolicy is for Services and ServiceEntries, the oldest has the target; XBackendTrafficPolicy for Services, and
of several on one the oldest gives each setting.

docs/design/implementations/istio.md §8; pilot/pkg/config/kube/gateway/backend_policies.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.implementations.generic import resolved_to, unresolved
from policylint.implementations.istio import labels
from policylint.model import Node, PolicyKind, Resource, ResourceKey, World, mapping, sequence, text
from policylint.policy.declared import Reading
from policylint.policy.folding import Folding, Stack
from policylint.policy.results import Ancestor, Effective, Idle, PolicyState, Target, TargetProblem
from policylint.topology import Condition, Topology, whole
from policylint.topology.secret_data import contents, entry_read

_KINDS = {labels.BACKEND_TLS: (labels.SERVICE, labels.SERVICE_ENTRY), labels.BACKEND_TRAFFIC: (labels.SERVICE,)}
"""The kinds that the policies may target with Istio."""
NO_CA = "no-valid-ca"
"""The code of a BackendTLSPolicy without a CA."""
_KNOWN = (labels.SERVICE, labels.SERVICE_ENTRY, ("", "ConfigMap"), ("", "Secret"))
"""Kinds that istiod looks for before it says that one of them holds no CA: ConfigMaps alone do."""
_TRAFFIC = ("retryConstraint",)
"""What istiod translates of an XBackendTrafficPolicy; of all else it says in its message that it does not."""
_ACCEPTED = Condition("Accepted", "True", "Accepted")
_RESOLVED = Condition("ResolvedRefs", "True", "ResolvedRefs")


def targets(
    kind: PolicyKind, topology: Topology, resolved: tuple[Target, ...], *, own_imports: bool
) -> tuple[Target, ...]:
    """Return the targets that Istio serves, with the ports of a ServiceEntry as sections.

    Args:
        own_imports: whether a ServiceImport has a host of its own; else it stands for the Service of its name.
    """
    if kind.kind not in _KINDS:
        return resolved
    if not own_imports:
        resolved = tuple(_import(target, topology) for target in resolved)
    return tuple(_target(target, kind, topology.world) for target in resolved)


def _import(target: Target, topology: Topology) -> Target:
    """Return a target on a ServiceImport as one on the Service of that name."""
    service = labels.service_of(target.key)
    if service is None:
        return target
    resolution = topology.world.resolve_outer(service)
    target = target._replace(key=service, nodes=(), resolution=resolution, problem="", detail="")
    if not resolution.found:
        problem: TargetProblem = "not-found" if resolution.missing else ""
        return target._replace(problem=problem, detail=resolution.reason)
    node = topology.node_for(service, target.section) if target.section else whole(service)
    if node is None:
        return unresolved(target, "section-not-found", f"{service} has no port named {target.section!r}")
    return target._replace(nodes=(node,))


def _target(target: Target, kind: PolicyKind, world: World) -> Target:
    key = target.key
    if not key.kind or target.problem == "malformed":
        return target
    if (key.group, key.kind) not in _KINDS[kind.kind]:
        detail = f"Istio does not serve {kind.kind} for {key.kind}"
        return target._replace(nodes=(), problem="kind-not-allowed", detail=detail)
    entry = world.get(key)
    if (key.group, key.kind) != labels.SERVICE_ENTRY or entry is None or not target.section:
        return target
    ports = {text(mapping(port).get("name")) for port in sequence(entry.spec.get("ports"))}
    if target.section in ports:
        return resolved_to(target, Node(key, target.section, key.kind), resource=entry)
    return unresolved(target, "section-not-found", f"{key} has no port named {target.section!r}")


def validate(policy: Resource, kind: PolicyKind, world: World) -> Reading:
    """Refuse what Istio does not translate: ignored by annotation, or without a usable CA (traffic is blocked then)."""
    if kind.kind not in _KINDS:
        return Reading()
    if _ignored(policy):
        pointer: Pointer = ("metadata", "annotations", labels.IGNORE_ATTACHMENT)
        return Reading(code="ignored", reason="an annotation tells Istio to ignore the policy", pointer=pointer)
    if kind.kind != labels.BACKEND_TLS:
        return Reading()
    place: Pointer = ("spec", "validation", "wellKnownCACertificates")
    known = mapping(policy.spec.get("validation")).get("wellKnownCACertificates")
    if known not in (None, "", "System"):
        return Reading(code="well-known-ca", reason=f"{known} is no well-known set of CAs", pointer=place)
    fault = _authority_fault(policy, world)
    if fault:
        place = ("spec", "validation", "caCertificateRefs", 0)
        return Reading(code=NO_CA, reason=f"the CA certificate reference is not valid: {fault}", pointer=place)
    return Reading()


def _ignored(policy: Resource) -> bool:
    """Tell whether `istio.io/ignore-policy-attachment` takes a policy out, in whatever case it is written."""
    return text(policy.annotations.get(labels.IGNORE_ATTACHMENT)).lower() == "true"


def _authority_fault(policy: Resource, world: World) -> str:
    """Return the reason of ResolvedRefs, "" when it holds; of several CA references only the first counts."""
    references = sequence(mapping(policy.spec.get("validation")).get("caCertificateRefs"))
    if not references:
        return ""
    first = mapping(references[0])
    group, kind = text(first.get("group")), text(first.get("kind"))
    if (group, kind) not in _KNOWN:
        return "InvalidKind"
    resolution = world.resolve_inner(ResourceKey(group, kind, policy.key.namespace, text(first.get("name"))))
    if resolution.missing:
        return "InvalidCACertificateRef"
    if kind != "ConfigMap":
        return "InvalidKind"
    held = contents(resolution.resource, world)
    return "" if held is None or any(entry_read(held, "cacert", "ca.crt")) else "InvalidCACertificateRef"


def ancestors(state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
    """Return one per targetRef, in their order, then one per Gateway that routes to one of them, at most sixteen.

    For XBackendTrafficPolicy the targets alone, with Accepted alone.

    istiod hands one set of conditions from target to target without making it new, so that the fault of one stays on
    all that follow, and on the Gateways.
    """
    if state.kind.kind not in _KINDS:
        return ()
    if state.invalid_code == "ignored":
        ignored = Condition("Accepted", "False", "IgnoredByIstio", state.invalid)
        nodes = (Node(target.key, target.section, target.key.kind) for target in state.targets)
        return tuple(Ancestor(node, labels.MESH_CONTROLLER, (ignored,)) for node in nodes)[:16]
    tls = state.kind.kind == labels.BACKEND_TLS
    accepted, resolved = _of_policy(state, topology.world)
    entries = []
    for target in state.targets:
        fault = _of_target(state, target)
        if fault is not None:
            accepted = fault
        node = Node(target.key, target.section, target.key.kind)
        entries.append(Ancestor(node, labels.MESH_CONTROLLER, (accepted, resolved) if tls else (accepted,)))
    keys = {target.key for target in state.targets if not target.problem} if tls else set()
    for gateway, controller in sorted(set(_gateways(topology, keys))):
        entries.append(Ancestor(whole(gateway), controller, (accepted, resolved)))
    return tuple(entries[:16])


def _of_policy(state: PolicyState, world: World) -> tuple[Condition, Condition]:
    fault = _authority_fault(state.policy, world)
    message = "the CA certificate reference is not valid"
    resolved = Condition("ResolvedRefs", "False", fault, message) if fault else _RESOLVED
    match state.invalid_code:
        case "":
            return _ACCEPTED, resolved
        case code:
            reason = "NoValidCACertificate" if code == NO_CA else "Invalid"
            return Condition("Accepted", "False", reason, state.invalid), resolved


def _of_target(state: PolicyState, target: Target) -> Condition | None:
    """Return the fault of one target: it is not there, or an older policy has it. None without one."""
    if target.problem:
        return Condition("Accepted", "False", "TargetNotFound", f"targetRefs invalid: {target.detail}")
    for refusal in state.refused:
        if refusal.attachment.target.pointer == target.pointer:
            message = f'Conflicts with BackendTLSPolicy "{refusal.by.name}" targeting the same backend'
            return Condition("Accepted", "False", "Conflicted", message)
    return None


def _gateways(topology: Topology, backends: set[ResourceKey]) -> Iterator[tuple[ResourceKey, str]]:
    """Yield the Gateways that routes to one of the backends name, with the name that istiod signs with.

    They need not be there, nor accept the route or its grant. Mirrors do not count, nor parents of other kinds, nor
    what other controllers serve (extractAncestorBackends).
    """
    for route in topology.routes:
        if any(backend.role == "backend" and backend.wanted in backends for backend in route.backends):
            for parent in route.parents:
                served = not parent.controller or labels.is_istio(parent.controller)
                if parent.wanted[:2] == labels.GATEWAY and not parent.is_default and served:
                    openshift = labels.is_openshift(parent.controller)
                    yield parent.wanted, parent.controller if openshift else labels.GATEWAY_CONTROLLER


def traffic(stack: Stack) -> Effective:
    """Return each setting that istiod reads, of the oldest XBackendTrafficPolicy of a Service that has it.

    No conflict is reported.
    """
    folding = Folding()
    for attachment in stack.attachments:
        for name in _TRAFFIC:
            if name in attachment.declared[0].proper:
                folding.offer(attachment, (name,), attachment.declared[0].proper[name])
    return folding.effective(stack.attachments)


def unread(state: PolicyState) -> Idle | None:
    """Explain an XBackendTrafficPolicy of which istiod translates nothing."""
    settings = {name for declared in state.declared for name in declared.proper}
    if state.kind.kind != labels.BACKEND_TRAFFIC or not state.targets or not settings or settings & set(_TRAFFIC):
        return None
    why = f"Istio does not support {' and '.join(sorted(settings))}, and there is nothing else in it"
    return Idle(state.targets[0], why, f"Istio reads {' and '.join(_TRAFFIC)} only")
