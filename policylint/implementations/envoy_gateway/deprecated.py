"""Fields that Envoy Gateway warns of: the Warning condition (docs/design/implementations/envoy-gateway.md §8)."""

from __future__ import annotations

from collections.abc import Mapping

from policylint.model import Resource, mapping
from policylint.topology import Condition

_REPLACED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "BackendTrafficPolicy": (("compression", "compressor"),),
    "SecurityPolicy": (
        ("extAuth.grpc.backendRef", "extAuth.grpc.backendRefs"),
        ("extAuth.http.backendRef", "extAuth.http.backendRefs"),
    ),
    "ClientTrafficPolicy": (
        ("enableProxyProtocol", "proxyProtocol"),
        ("headers.preserveXRequestID", "headers.requestID"),
        ("tls.clientValidation.optional", "tls.clientValidation.mode"),
    ),
}
"""Per kind the old field and the new one; `targetRef` is old in all of them."""
_ONLY_TRUE = frozenset({"tls.clientValidation.optional"})
"""Warned of only when they are true."""


def warning(policy: Resource, *, http3: bool = False) -> Condition | None:
    """Return the Warning of a policy wherever it is accepted or Invalid; None when there is nothing to warn of.

    `http3`: a listener it acts on serves TLS, so that client validation over HTTP/3 would be asked for.
    """
    fields = sorted({"targetRef": "targetRefs", **dict(_REPLACED.get(policy.key.kind, ()))}.items())
    messages = [f"spec.{old} is deprecated, use spec.{new} instead" for old, new in fields if _set(policy, old)]
    reason = "DeprecatedField"
    client_validation = mapping(policy.spec.get("tls")).get("clientValidation")
    if http3 and policy.spec.get("http3") is not None and client_validation is not None:
        reason = "Warnings" if messages else "UnsupportedHTTP3ClientValidation"
        messages.append("client certificates are not validated on HTTP/3 connections")
    return Condition("Warning", "True", reason, "; ".join(messages)) if messages else None


def _set(policy: Resource, path: str) -> bool:
    value: object = policy.spec
    for step in path.split("."):
        value = mapping(value).get(step)
    return value is True if path in _ONLY_TRUE else value is not None
