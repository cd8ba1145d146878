"""The references of a PayloadProcessor: a Service, and a token in a Secret (state/graph/payloadprocessor.go).

The Service may be in another namespace where a ReferenceGrant says so, the Secret is in the policy's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import ResourceKey, World, mapping, sequence, text
from policylint.model.kinds import group_of
from policylint.policy.declared import Reading
from policylint.policy.results import PolicyState
from policylint.topology import Topology
from policylint.topology.grants import Grants
from policylint.topology.references import backend_target
from policylint.topology.service_ports import ports

NOT_PERMITTED = "reference-not-permitted"
"""The invalid_code of a policy that names a Service of another namespace without a grant."""


def broken(state: PolicyState, topology: Topology) -> Reading:
    """Return the first reference that certainly leads nowhere; a Reading without code for none."""
    if state.kind.kind != "PayloadProcessor":
        return Reading()
    for index, processor in enumerate(sequence(state.policy.spec.get("processors"))):
        process = mapping(mapping(processor).get("extProcess"))
        for fault in _faults(state.key, process, ("spec", "processors", index, "extProcess"), topology.world):
            return fault
    return Reading()


def _faults(policy: ResourceKey, process: Mapping[str, Any], place: Pointer, world: World) -> Iterator[Reading]:
    reference = mapping(process.get("backendRef"))
    if reference:
        backend, _, port = backend_target(reference, policy.namespace)
        backend = backend._replace(group=group_of(backend.group))
        pointer = (*place, "backendRef")
        if Grants(world).allows(policy, backend) is False:
            reason = f"no ReferenceGrant in namespace {backend.namespace} lets {policy} name {backend}"
            yield Reading(code=NOT_PERMITTED, reason=reason, pointer=pointer)
        resolution = world.resolve_inner(backend)
        if resolution.missing:
            yield Reading(code="backend-not-found", reason=f"{backend} was not found", pointer=pointer)
        if resolution.resource is not None and port is not None:
            numbers = [service_port.number for service_port in ports(resolution.resource)]
            if None not in numbers and port not in numbers:
                yield Reading(code="backend-port", reason=f"{backend} has no port {port}", pointer=(*pointer, "port"))
    name = text(mapping(process.get("authTokenRef")).get("name"))
    if name:
        secret = ResourceKey("", "Secret", policy.namespace, name)
        if world.resolve_inner(secret).missing:
            yield Reading(code="secret-not-found", reason=f"{secret} was not found", pointer=(*place, "authTokenRef"))
