"""What is wrong with the certificates and CAs that listeners name, for controllers that ask whether an object is there
and fit before they ask whether it is granted."""

from __future__ import annotations

from policylint.model import World, sequence
from policylint.topology import ListenerState, ReferenceState, Topology
from policylint.topology.certificates import authority_fault, certificate_fault, certificates
from policylint.topology.status import client_validation

Fault = tuple[str, str]
"""A reason and a message."""


def fault_of(reference: ReferenceState, world: World) -> Fault | None:
    """Return what is wrong with a reference: whether it is there and fit comes before whether it is granted."""
    if reference.granted is False:
        invalid, fault = {
            "ca": ("InvalidCACertificateRef", authority_fault),
            "certificate": ("InvalidCertificateRef", certificate_fault),
            "client-certificate": ("InvalidClientCertificateRef", certificate_fault),
        }[reference.role]
        resolution = reference.resolution
        if unfit := resolution.reason if resolution.missing else fault(resolution.resource, world):
            return invalid, unfit
    return (reference.reason, reference.message) if reference.reason else None


def seen_from(authority: ReferenceState, number: int, listener: ListenerState, topology: Topology) -> ReferenceState:
    """Return a reference of a Gateway to a CA as a listener has it: from the namespace of its ListenerSet.

    Args:
        number: of the reference, among those of the Gateway for the listener's port.
    """
    if listener.holder.key.namespace == authority.holder.key.namespace:
        return authority
    validation = client_validation(authority.holder, listener.port)
    reference = sequence(validation.value.get("caCertificateRefs"))[number]
    return topology.world.once(certificates).authority(listener.holder, authority.pointer, reference)
