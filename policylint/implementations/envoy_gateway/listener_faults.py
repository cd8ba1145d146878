"""What Envoy Gateway finds wrong with a listener by itself, before it looks at others.

Of several certificates those that can be used are served; of the CAs for client certificates, which only listeners of
HTTPS have, each one must be usable.

Source: internal/gatewayapi/{listener,validate,tls}.go @ v1.9.1: validateListenerSpec, validateTLSConfiguration,
ProcessGatewayTLS, getCaCertsFromCARefs; docs/design/implementations/envoy-gateway.md §11.
"""

from __future__ import annotations

from collections.abc import Sequence

from policylint.model import is_symbolic, text
from policylint.model.resource import value_at
from policylint.topology import Condition, ListenerState, ReferenceState
from policylint.topology.status import RESOLVED

PARTLY = "PartiallyInvalidCertificateRef"
_SERVED = ("InvalidCertificateRef", PARTLY)
"""Reasons of ResolvedRefs beside which a listener is accepted."""
_PROTOCOLS = ("HTTP", "HTTPS", "TLS", "TCP", "UDP")


def is_valid(listener: ListenerState) -> bool:
    """Tell whether a listener is valid by itself, so that it may be in another's way."""
    condition = resolved(listener)
    resolves = condition.status != "False" or condition.reason == PARTLY
    return resolves and is_known(listener) and not lacks_tls(listener) and authority_fault(listener) is None


def is_known(listener: ListenerState) -> bool:
    return listener.protocol in _PROTOCOLS or is_symbolic(listener.protocol)


def is_served(condition: Condition) -> bool:
    """Tell whether a listener is accepted that says this of its references."""
    return condition.status != "False" or condition.reason in _SERVED


def lacks_tls(listener: ListenerState) -> bool:
    """Tell whether a listener has no settings for the TLS that it speaks, or no certificate."""
    if listener.protocol not in ("HTTPS", "TLS"):
        return False
    tls = value_at(listener.holder.body, (*listener.pointer, "tls"))
    if not isinstance(tls, dict):
        return tls is None
    mode = text(tls.get("mode")) or "Terminate"
    return mode == "Terminate" and not tls.get("certificateRefs")


def resolved(listener: ListenerState) -> Condition:
    """Return ResolvedRefs: what is said last stands, of kinds of routes, certificates and CAs."""
    written = next((each for each in listener.conditions if each.type == "ResolvedRefs"), RESOLVED)
    if not is_known(listener):
        return RESOLVED
    authority = authority_fault(listener)
    if authority is not None:
        return authority
    certificates = [each for each in listener.references if each.role == "certificate"]
    faults = [each for each in certificates if each.reason]
    if faults:
        reason = PARTLY if len(faults) < len(certificates) else _of_all(faults)
        return Condition("ResolvedRefs", "False", reason, "; ".join(each.message for each in faults))
    return written if written.reason == "InvalidRouteKinds" else RESOLVED


def authority_fault(listener: ListenerState) -> Condition | None:
    """Return what is wrong with the CAs for the certificates of clients; None for nothing."""
    if listener.protocol != "HTTPS":
        return None
    return authorities_fault([each for each in listener.references if each.role == "ca"])


def authorities_fault(authorities: Sequence[ReferenceState]) -> Condition | None:
    """Return what is wrong with some CAs: other kinds are passed over where one is of a kind that can be read."""
    read = [each for each in authorities if each.reason != "InvalidCACertificateKind"]
    fault = next((each for each in read or authorities if each.reason), None)
    return None if fault is None else Condition("ResolvedRefs", "False", fault.reason, fault.message)


def _of_all(faults: Sequence[ReferenceState]) -> str:
    reasons = {each.reason for each in faults}
    return "RefNotPermitted" if reasons == {"RefNotPermitted"} else "InvalidCertificateRef"
