"""What Istio's CRDs and webhook refuse (istio.md §0 1-2, §1, §3; pkg/config/validation/validation.go)."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.implementations.istio.words import (
    AUTHORIZATION,
    ENVOY_FILTER,
    PEER_AUTHENTICATION,
    has_references,
    match_labels,
)
from policylint.model import PolicyKind, Resource, is_symbolic, mapping, sequence, text
from policylint.policy.declared import Reading


def faults(policy: Resource, kind: PolicyKind) -> Iterator[Reading]:
    """Every reason for which the API server refuses a policy."""
    yield from _references(policy, kind)
    if policy.key.kind == AUTHORIZATION:
        yield from _authorization(policy)
    if policy.key.kind == PEER_AUTHENTICATION and policy.spec.get("portLevelMtls") and not match_labels(policy):
        reason = "portLevelMtls needs a selector"
        yield Reading(code="ports-without-selector", reason=reason, pointer=("spec", "portLevelMtls"))


def _references(policy: Resource, kind: PolicyKind) -> Iterator[Reading]:
    selector = "workloadSelector" if policy.key.kind == ENVOY_FILTER else "selector"
    if has_references(policy) and policy.spec.get(selector) is not None:
        reason = f"only one of targetRefs or {selector} can be set"
        yield Reading(code="selector-and-targets", reason=reason, pointer=("spec", selector))
    entries: list[tuple[object, Pointer]] = [(policy.spec.get("targetRef"), ("spec", "targetRef"))]
    for index, each in enumerate(sequence(policy.spec.get("targetRefs"))):
        entries.append((each, ("spec", "targetRefs", index)))
    for value, pointer in entries:
        reference = mapping(value)
        group, name = text(reference.get("group")), text(reference.get("kind"))
        if reference.get("namespace"):
            reason = "targetRef.namespace must be empty: other namespaces cannot be targeted"
            yield Reading(code="target-namespace", reason=reason, pointer=(*pointer, "namespace"))
        if name and not is_symbolic(name) and kind.references and kind.may_target(group, name) is None:
            reason = f"{kind.kind} cannot target {name}{f' of group {group}' if group else ''}"
            yield Reading(code="target-kind", reason=reason, pointer=(*pointer, "kind"))


def _authorization(policy: Resource) -> Iterator[Reading]:
    action = text(policy.spec.get("action")) or "ALLOW"
    provider = text(mapping(policy.spec.get("provider")).get("name"))
    if action in ("DENY", "CUSTOM") and not sequence(policy.spec.get("rules")):
        place = "action" if "action" in policy.spec else "rules"
        yield Reading(code="no-rules", reason=f"{action} without rules would never apply", pointer=("spec", place))
    if action == "CUSTOM" and not provider:
        yield Reading(code="no-provider", reason="CUSTOM needs a provider", pointer=("spec", "action"))
    if action != "CUSTOM" and "provider" in policy.spec:
        yield Reading(code="provider", reason=f"{action} takes no provider", pointer=("spec", "provider"))
