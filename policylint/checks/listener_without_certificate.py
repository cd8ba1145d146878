"""GWP412: a listener of HTTPS or TLS that has no certificate, and serves nobody.

It says nothing of TLS, or cert-manager is to make its Secret and does not, as the listener has no hostname.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import at
from policylint.checks.kit.routing import grade
from policylint.model import Finding, mapping
from policylint.model.resource import value_at
from policylint.simulation import Simulation
from policylint.topology import ListenerState
from policylint.topology.ancestry import implementation_of
from policylint.topology.certificates import MADE, is_annotated

RULE = "GWP412"
_ENCRYPTED = ("HTTPS", "TLS")


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.topology.gateways:
        implementation = implementation_of(state, simulation.catalog)
        if implementation is not None and simulation.catalog.has_own_certificates(implementation):
            continue
        for listener in state.listeners:
            value = value_at(listener.holder.body, listener.pointer)
            if listener.protocol in _ENCRYPTED and "tls" not in mapping(value):
                severity, confidence = grade(implementation is None)
                yield Finding(
                    RULE,
                    severity,
                    f"{listener.node} is {listener.protocol} and has no tls, so no connection gets through",
                    at(listener.holder, listener.pointer, "protocol"),
                    resources=(listener.holder.key,),
                    label="no certificate is configured",
                    help=("fix: name a Secret in `tls.certificateRefs`",),
                    confidence=confidence,
                    ground=""
                    if implementation
                    else "the controller is not known, and may have certificates of its own",
                )
            elif not listener.hostname and is_annotated(listener.holder):
                yield from _not_issued(listener)


def _not_issued(listener: ListenerState) -> Iterator[Finding]:
    """Yield a finding where cert-manager passes a listener over whose Secret was seen nowhere else."""
    for reference in listener.references:
        seen = reference.resolution.found or reference.resolution.reason.endswith(MADE)
        if reference.role == "certificate" and not seen:
            yield Finding(
                RULE,
                "warning",
                f"{listener.node} has no hostname, so cert-manager makes no certificate for it",
                at(listener.holder, listener.pointer, "name"),
                resources=(listener.holder.key, reference.wanted),
                label="cert-manager takes the names of a certificate from the listener, not from its routes",
                help=("fix: give the listener a `hostname`, or write a Certificate",),
                confidence="assumed",
                ground=f"{reference.wanted} is not in the tree",
            )
