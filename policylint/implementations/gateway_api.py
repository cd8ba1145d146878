"""Gateway API's own policies: BackendTLSPolicy's certificates and ancestors (docs/design/request-precedence.md §7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.implementations.generic import Implementation, controller_above
from policylint.model import PolicyKind, Resource, ResourceKey, World, mapping, sequence, text
from policylint.policy.declared import Reading
from policylint.policy.results import Ancestor, Declared, PolicyState
from policylint.topology import Condition, Topology, whole
from policylint.topology.ancestry import gateways_above
from policylint.topology.certificates import authority_fault

_CA_KINDS = {("", "ConfigMap"), ("", "Secret"), ("certificates.k8s.io", "ClusterTrustBundle")}


class GatewayApi(Implementation):
    """BackendTLSPolicy, as the conformance suite tests it; the other core kinds follow their catalog entries."""

    name = "gateway-api"

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """Refuse a policy that has CA references of which none is valid."""
        reading = super().validate(policy, kind, declared, world)
        if reading.code or kind.kind != "BackendTLSPolicy":
            return reading
        faults = _ca_faults(policy, world)
        if faults and all(faults):
            reason = f"no CA certificate reference is valid: {faults[0]}"
            pointer = ("spec", "validation", "caCertificateRefs", 0)
            return Reading(code="no-valid-ca", reason=reason, pointer=pointer)
        return reading

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
        """Return one ancestor per Gateway that routes to a targeted backend, with Accepted and ResolvedRefs."""
        if state.kind.kind != "BackendTLSPolicy":
            return ()
        conditions = (_accepted(state), _resolved(state, topology.world))
        gateways = {
            gateway
            for target in state.targets
            for node in target.nodes
            for gateway in gateways_above(topology, node.key)
        }
        return tuple(Ancestor(whole(key), controller_above(topology, key), conditions) for key in sorted(gateways))


def _ca_faults(policy: Resource, world: World) -> list[str]:
    """Return for each entry of validation.caCertificateRefs the reason of ResolvedRefs=False, "" for a valid one."""
    references = sequence(mapping(policy.spec.get("validation")).get("caCertificateRefs"))
    return [_ca_fault(policy, world, mapping(reference)) for reference in references]


def _ca_fault(policy: Resource, world: World, reference: Mapping[str, Any]) -> str:
    group, kind = text(reference.get("group")), text(reference.get("kind"))
    if (group, kind) not in _CA_KINDS:
        return "InvalidKind"
    namespace = "" if kind == "ClusterTrustBundle" else policy.key.namespace
    resolution = world.resolve(ResourceKey(group, kind, namespace, text(reference.get("name"))))
    holds_none = kind != "ClusterTrustBundle" and bool(authority_fault(resolution.resource))
    return "InvalidCACertificateRef" if resolution.missing or holds_none else ""


def _accepted(state: PolicyState) -> Condition:
    if state.invalid_code == "no-valid-ca":
        return Condition("Accepted", "False", "NoValidCACertificate", state.invalid)
    if state.invalid_code:
        return Condition("Accepted", "False", "Invalid", state.invalid)
    if state.verdict == "Conflicted":
        return Condition("Accepted", "False", "Conflicted", f"{state.by[0]} targets the same backend and is older")
    return Condition("Accepted", "True", "Accepted")


def _resolved(state: PolicyState, world: World) -> Condition:
    fault = next(filter(None, _ca_faults(state.policy, world)), "")
    if fault:
        return Condition("ResolvedRefs", "False", fault, "a CA certificate reference does not resolve")
    return Condition("ResolvedRefs", "True", "ResolvedRefs")
