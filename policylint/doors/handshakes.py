"""Certificates of Ingresses for which a controller turns every TLS handshake away, as their Secret is of another type.

Source: nginx/kubernetes-ingress, internal/configs/ingress.go, addSSLConfig (`ssl_reject_handshake on`): the entry of
`tls` that lists the very host decides, and of a master its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.doors.annotations import served
from policylint.doors.nginx_policies import fault_of_secret
from policylint.doors.vendors import Vendor
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resource, World, mapping, sequence, text, texts


def is_turned_away(world: World, ingress: Resource, host: str, vendor: Vendor) -> bool:
    """Return whether no TLS connection for a host of an Ingress is set up."""
    return any(name == host for name, *_ in _faults(world, ingress, vendor))


def unusable(world: World) -> Iterator[DeadEnd]:
    """Yield the certificates that a controller does not take, for which it turns connections away."""
    for ingress, vendor, certain in served(world):
        told = {place: fault for _, place, fault in _faults(world, ingress, vendor)} if certain else {}
        for place, fault in told.items():
            does, fix = f"has no certificate: {fault}", f"name a Secret of type {vendor.certificate}"
            yield DeadEnd(ingress, place, does, fix, then=f"{vendor.name} turns every TLS handshake for its hosts away")


def _faults(world: World, ingress: Resource, vendor: Vendor) -> Iterator[tuple[str, Pointer, str]]:
    """Yield the hosts of an Ingress without a certificate that is taken, with the place that names it and why."""
    for number, entry in enumerate(sequence(ingress.spec.get("tls")) if vendor.certificate else ()):
        stated = mapping(entry)
        fault = fault_of_secret(world, ingress, text(stated.get("secretName")), vendor.certificate)
        for host in texts(stated.get("hosts")) if fault else ():
            yield host, ("spec", "tls", number, "secretName"), fault
