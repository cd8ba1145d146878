"""Gateway API's own policies: BackendTLSPolicy's certificates and ancestors (docs/design/request-precedence.md §7)."""

from __future__ import annotations

from policylint.implementations.generic import Implementation
from policylint.model import PolicyKind, Resolution, Resource, ResourceKey, World, mapping, sequence, text
from policylint.policy.declared import Reading
from policylint.policy.results import Ancestor, Declared, PolicyState
from policylint.topology import Condition, Topology, whole
from policylint.topology.ancestry import gateways_above
from policylint.topology.certificates import authority_fault

_CA_KINDS = {("", "ConfigMap"), ("", "Secret"), ("certificates.k8s.io", "ClusterTrustBundle")}


class GatewayApi(Implementation):
    """BackendTLSPolicy, as the conformance suite tests it; the other core kinds are what their catalog entries say."""

    name = "gateway-api"

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """A policy none of whose CA references is valid is not accepted."""
        reading = super().validate(policy, kind, declared, world)
        if reading.code or kind.kind != "BackendTLSPolicy":
            return reading
        faults = ca_faults(policy, world)
        if faults and all(faults):
            pointer = ("spec", "validation", "caCertificateRefs", 0)
            return Reading(
                code="no-valid-ca", reason=f"no CA certificate reference is valid: {faults[0]}", pointer=pointer
            )
        return reading

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
        """One ancestor per Gateway that routes to a backend the policy targets, with Accepted and ResolvedRefs."""
        if state.kind.kind != "BackendTLSPolicy":
            return ()
        conditions = (_accepted(state), _resolved(state, topology.world))
        gateways = {
            gateway
            for target in state.targets
            for node in target.nodes
            for gateway in gateways_above(topology, node.key)
        }
        return tuple(Ancestor(whole(key), _controller(topology, key), conditions) for key in sorted(gateways))


def ca_faults(policy: Resource, world: World) -> list[str]:
    """Per entry of validation.caCertificateRefs the reason of the condition it spoils, "" for a valid one."""
    validation = mapping(policy.spec.get("validation"))
    return [_ca_fault(policy, world, mapping(each)) for each in sequence(validation.get("caCertificateRefs"))]


def _ca_fault(policy: Resource, world: World, reference: object) -> str:
    body = mapping(reference)
    group, kind = text(body.get("group")), text(body.get("kind"))
    if (group, kind) not in _CA_KINDS:
        return "InvalidKind"
    namespace = "" if kind == "ClusterTrustBundle" else policy.key.namespace
    resolution: Resolution = world.resolve(ResourceKey(group, kind, namespace, text(body.get("name"))))
    if resolution.missing:
        return "InvalidCACertificateRef"
    if kind in ("ConfigMap", "Secret") and authority_fault(resolution.resource):
        return "InvalidCACertificateRef"
    return ""


def _accepted(state: PolicyState) -> Condition:
    if state.invalid_code == "no-valid-ca":
        return Condition("Accepted", "False", "NoValidCACertificate", state.invalid)
    if state.invalid_code:
        return Condition("Accepted", "False", "Invalid", state.invalid)
    if state.verdict == "Conflicted":
        return Condition("Accepted", "False", "Conflicted", f"{state.by[0]} targets the same backend and is older")
    return Condition("Accepted", "True", "Accepted")


def _resolved(state: PolicyState, world: World) -> Condition:
    fault = next((each for each in ca_faults(state.policy, world) if each), "")
    if fault:
        return Condition("ResolvedRefs", "False", fault, "a CA certificate reference does not resolve")
    return Condition("ResolvedRefs", "True", "ResolvedRefs")


def _controller(topology: Topology, gateway: ResourceKey) -> str:
    state = topology.gateway(gateway)
    return "" if state is None else state.controller
