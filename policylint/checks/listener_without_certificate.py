"""GWP412: a listener of HTTPS or TLS that says nothing of TLS: it has no certificate, and serves nobody."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import at
from policylint.checks.kit.routing import grade
from policylint.model import Finding, mapping
from policylint.model.resource import value_at
from policylint.simulation import Simulation
from policylint.topology.ancestry import implementation_of

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
