"""What controllers say of a BackendTLSPolicy and its CAs, as the conformance suite has it.

Source: docs/design/request-precedence.md §7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.model.kinds import group_of
from policylint.policy.declared import Reading
from policylint.policy.results import PolicyState
from policylint.topology import Condition
from policylint.topology.certificates import authority_fault

_CA_KINDS = frozenset({("", "ConfigMap"), ("", "Secret"), ("certificates.k8s.io", "ClusterTrustBundle")})


def without_ca(faults: Sequence[str]) -> Reading:
    """Refuse a policy that has CA references of which none is valid, from their faults."""
    if not faults or not all(faults):
        return Reading()
    reason = f"no CA certificate reference is valid: {faults[0]}"
    return Reading(code="no-valid-ca", reason=reason, pointer=("spec", "validation", "caCertificateRefs", 0))


def ca_faults(policy: Resource, world: World, kinds: Set[tuple[str, str]] = _CA_KINDS) -> list[str]:
    """Return for each entry of validation.caCertificateRefs the reason of ResolvedRefs=False, "" for a valid one.

    Args:
        kinds: groups and kinds of objects that may hold a CA.
    """
    references = sequence(mapping(policy.spec.get("validation")).get("caCertificateRefs"))
    return [_ca_fault(policy, world, mapping(reference), kinds) for reference in references]


def _ca_fault(policy: Resource, world: World, reference: Mapping[str, Any], kinds: Set[tuple[str, str]]) -> str:
    group, kind = group_of(text(reference.get("group"))), text(reference.get("kind"))
    if (group, kind) not in kinds:
        return "InvalidKind"
    namespace = "" if kind == "ClusterTrustBundle" else policy.key.namespace
    resolution = world.resolve(ResourceKey(group, kind, namespace, text(reference.get("name"))))
    holds_none = kind != "ClusterTrustBundle" and bool(authority_fault(resolution.resource, world))
    return "InvalidCACertificateRef" if resolution.missing or holds_none else ""


def _accepted(state: PolicyState) -> Condition:
    if state.invalid_code == "no-valid-ca":
        return Condition("Accepted", "False", "NoValidCACertificate", state.invalid)
    if state.invalid_code:
        return Condition("Accepted", "False", "Invalid", state.invalid)
    if state.verdict == "Conflicted":
        return Condition("Accepted", "False", "Conflicted", f"{state.by[0]} targets the same backend and is older")
    return Condition("Accepted", "True", "Accepted")


def reported(state: PolicyState, faults: Sequence[str]) -> tuple[Condition, Condition]:
    """Return Accepted and ResolvedRefs of a policy at an ancestor, from the faults of its CA references."""
    fault = next(filter(None, faults), "")
    if fault:
        return _accepted(state), Condition(
            "ResolvedRefs", "False", fault, "a CA certificate reference does not resolve"
        )
    return _accepted(state), Condition("ResolvedRefs", "True", "ResolvedRefs")
