"""BackendTLSPolicy as Envoy Gateway does it: a status only where the policy is used.

Source: docs/design/implementations/envoy-gateway.md §7.
"""

from __future__ import annotations

from collections.abc import Mapping

from policylint.implementations.envoy_gateway.backend_uses import Use, uses
from policylint.implementations.envoy_gateway.managed import Fleet, order
from policylint.implementations.envoy_gateway.policy_status import Book
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.policy.results import PolicyState
from policylint.topology import Condition

CA_KINDS = {("", "ConfigMap"), ("", "Secret"), ("certificates.k8s.io", "ClusterTrustBundle")}
RESOLVED = Condition("ResolvedRefs", "True", "ResolvedRefs", "Resolved all the Object references.")
_Target = tuple[str, str, str, str, str]


def books(fleet: Fleet, states: list[PolicyState]) -> Mapping[ResourceKey, Book]:
    """What the controller writes on every BackendTLSPolicy."""
    ordered = sorted(states, key=lambda each: order(each.policy))
    found = {state.key: Book() for state in ordered}
    faults = {state.key: ca_fault(state.policy, fleet.world) for state in ordered}
    holders: dict[_Target, PolicyState] = {}
    """The first policy per exact target: of one port, or, with an empty section, of the whole backend."""
    for state in ordered:
        for target in _targets(state):
            holders.setdefault(target, state)
    for use in uses(fleet):
        backend = (use.key.namespace, use.key.group, use.key.kind, use.key.name)
        chosen = (holders.get((*backend, use.port)) if use.port else None) or holders.get((*backend, ""))
        if chosen is not None:
            _apply(found[chosen.key], use, faults[chosen.key])
    _conflicts(ordered, found)
    return found


def ca_fault(policy: Resource, world: World) -> tuple[str, str]:
    """Reason and message of ResolvedRefs=False when a policy has no usable CA, both empty when it has one.

    References are local. What the tree cannot know (it holds no Secret at all, a trust-manager Bundle makes the
    ConfigMap) counts as usable.
    """
    references = [mapping(each) for each in sequence(mapping(policy.spec.get("validation")).get("caCertificateRefs"))]
    kinds = [(text(each.get("group")), text(each.get("kind"))) for each in references]
    if not references:
        return "", ""
    if not any(each in CA_KINDS for each in kinds):
        supported = "supported kinds are ConfigMap, Secret, and ClusterTrustBundle in caCertificateRefs."
        return "InvalidKind", f"Unsupported reference kind, {supported}"
    faults = [
        _missing(policy, world, group, kind, text(each.get("name")))
        for (group, kind), each in zip(kinds, references, strict=True)
        if (group, kind) in CA_KINDS
    ]
    return ("InvalidCACertificateRef", faults[0]) if all(faults) else ("", "")


def _missing(policy: Resource, world: World, group: str, kind: str, name: str) -> str:
    """Why an object gives no CA: it is not there, or has neither ca.crt nor tls.crt nor a lone key."""
    namespace = "" if kind == "ClusterTrustBundle" else policy.key.namespace
    key = ResourceKey(group, kind, namespace, name)
    resolution = world.resolve(key)
    if resolution.missing:
        if kind != "ConfigMap":
            elsewhere = not world.of_kind(group, kind)
        else:
            elsewhere = world.get(ResourceKey("trust.cert-manager.io", "Bundle", "", name)) is not None
        return "" if elsewhere else f"{kind.capitalize()} {name} not found in namespace {policy.key.namespace}."
    if resolution.resource is None or kind == "ClusterTrustBundle":
        return ""
    body = resolution.resource.body
    data = {**mapping(body.get("data")), **mapping(body.get("stringData"))}
    if "ca.crt" in data or "tls.crt" in data or len(data) == 1:
        return ""
    return f"No ca found in {kind.lower()} {name}."


def _targets(state: PolicyState) -> list[_Target]:
    namespace = state.key.namespace
    return [
        (
            namespace,
            text(each.get("group")),
            text(each.get("kind")),
            text(each.get("name")),
            text(each.get("sectionName")),
        )
        for each in map(mapping, sequence(state.policy.spec.get("targetRefs")))
    ]


def _apply(book: Book, use: Use, fault: tuple[str, str]) -> None:
    reason, message = fault
    ancestor = use.ancestor.ancestor
    if not reason:
        book.set(ancestor, use.controller, RESOLVED)
        book.accept(ancestor, use.controller)
        return
    for each in [*book.entries, ancestor]:
        controller = book.controllers.get(each, use.controller)
        book.set(each, controller, Condition("Accepted", "False", "NoValidCACertificate", message))
        book.set(each, controller, Condition("ResolvedRefs", "False", reason, message))


def _conflicts(ordered: list[PolicyState], found: Mapping[ResourceKey, Book]) -> None:
    """A policy that repeats a target of an earlier one says so on that one's ancestors; its further targets are
    free."""
    holders: dict[_Target, PolicyState] = {}
    for state in ordered:
        for target in _targets(state):
            holder = holders.setdefault(target, state)
            if holder is state:
                continue
            message = f"Policy conflicts with BackendTLSPolicy {holder.key.path}."
            theirs = found[holder.key]
            for ancestor in list(theirs.entries):
                condition = Condition("Accepted", "False", "Conflicted", message)
                found[state.key].set(ancestor, theirs.controllers[ancestor], condition)
            break
