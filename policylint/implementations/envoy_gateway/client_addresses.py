"""Client addresses at listeners of Envoy Gateway: who can forge them, and which rules decide by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from policylint.documents import Pointer
from policylint.model import mapping, sequence, text, texts

if TYPE_CHECKING:
    from policylint.implementations.generic.detecting import Detection
    from policylint.policy.client_addresses import Trust


def forgeable(spec: Mapping[str, Any]) -> Trust | None:
    """Return why a listener's client addresses can be forged, the surest reason first; None where they cannot.

    Source: Envoy Gateway api/v1alpha1/clienttrafficpolicy_types.go: ClientIPDetectionSettings, ProxyProtocolSettings.
    """
    from policylint.policy.client_addresses import (
        EVERYONE,
        LAST_ADDRESS,
        LOGIN,
        PAST_PROXIES,
        PROXY_HEADER,
        Trust,
        is_positive,
        trusts_everyone,
    )

    detection = mapping(spec.get("clientIPDetection"))
    forwarded = mapping(detection.get("xForwardedFor"))
    place: Pointer = ("clientIPDetection", "xForwardedFor")
    everyone = trusts_everyone(forwarded.get("trustedCIDRs"))
    if everyone is not None:
        return Trust((*place, "trustedCIDRs", everyone), EVERYONE, certain=True)
    if mapping(spec.get("proxyProtocol")).get("optional") is True:
        return Trust(("proxyProtocol", "optional"), PROXY_HEADER, certain=True)
    if forwarded.get("numTrustedHops") == 0:
        return Trust(
            (*place, "numTrustedHops"), LAST_ADDRESS, certain=True, fix=f"leave `clientIPDetection` out, {LOGIN}"
        )
    if is_positive(forwarded.get("numTrustedHops")):
        return Trust((*place, "numTrustedHops"), PAST_PROXIES, certain=False)
    if detection.get("customHeader"):
        why = "a client that reaches the Gateway directly, not through that proxy, can set this header"
        return Trust(("clientIPDetection", "customHeader", "name"), why, certain=False)
    return None


def detection(spec: Mapping[str, Any]) -> Detection | None:
    """Return where a listener looks for clients' addresses (listener.go: originalIPDetectionExtensions)."""
    from policylint.implementations.generic.detecting import Detection

    settings = mapping(spec.get("clientIPDetection"))
    if header := text(mapping(settings.get("customHeader")).get("name")):
        return Detection("clientIPDetection.customHeader", header=header)
    forwarded = mapping(settings.get("xForwardedFor"))
    if networks := tuple(texts(forwarded.get("trustedCIDRs"))):
        return Detection("trustedCIDRs", networks=networks)
    hops = forwarded.get("numTrustedHops")
    # xffNumTrustedHops: one less is skipped, but nothing of none
    return Detection(f"numTrustedHops: {hops}", hops=max(hops, 1)) if isinstance(hops, int) else None


def rule(spec: Mapping[str, Any]) -> Pointer:
    """Return where the first rule is that lets in, or keeps out, by the address alone; () without one."""
    for index, rule in enumerate(sequence(mapping(spec.get("authorization")).get("rules"))):
        principal = mapping(mapping(rule).get("principal"))
        if principal.get("clientCIDRs") and not principal.get("jwt"):
            return ("authorization", "rules", index, "principal", "clientCIDRs")
    return ()
