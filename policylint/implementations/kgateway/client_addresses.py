"""Client addresses at listeners of kgateway: who can forge them, and which rules decide by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.detecting import Detection
from policylint.model import mapping, texts
from policylint.policy.client_addresses import (
    EVERYONE,
    LAST_ADDRESS,
    PAST_PROXIES,
    PROXY_HEADER,
    Trust,
    is_positive,
    trusts_everyone,
)


def forgeable(spec: Mapping[str, Any]) -> Trust | None:
    """Return why a listener's client addresses can be forged, the surest reason first; None where they cannot.

    Source: kgateway's CRD of ListenerPolicy: useRemoteAddress, xffTrustedCIDRs, xffNumTrustedHops, proxyProtocol.
    """
    http = mapping(spec.get("httpSettings"))
    everyone = trusts_everyone(http.get("xffTrustedCIDRs"))
    if everyone is not None:
        return Trust(("httpSettings", "xffTrustedCIDRs", everyone), EVERYONE, certain=True)
    if mapping(spec.get("proxyProtocol")).get("allowRequestsWithoutProxyProtocol") is True:
        return Trust(("proxyProtocol", "allowRequestsWithoutProxyProtocol"), PROXY_HEADER, certain=True)
    if is_positive(http.get("xffNumTrustedHops")):
        return Trust(("httpSettings", "xffNumTrustedHops"), PAST_PROXIES, certain=False)
    if http.get("useRemoteAddress") is False and not http.get("xffTrustedCIDRs"):
        return Trust(("httpSettings", "useRemoteAddress"), LAST_ADDRESS, certain=True)
    return None


def detection(spec: Mapping[str, Any]) -> Detection | None:
    """Return where a listener looks for clients' addresses: whoever is not the edge skips the address of who connects,
    which the proxy before has written down."""
    http = mapping(spec.get("httpSettings"))
    stated, is_edge = http.get("xffNumTrustedHops"), http.get("useRemoteAddress") is not False
    networks = tuple(texts(http.get("xffTrustedCIDRs")))
    if networks and not is_edge:
        return Detection("xffTrustedCIDRs", networks=networks)
    hops = (stated if isinstance(stated, int) else 0) + (not is_edge)
    field = f"xffNumTrustedHops: {stated}" if is_edge else "useRemoteAddress: false"
    return Detection(field, hops=hops) if hops > 0 else None


def rule(spec: Mapping[str, Any]) -> Pointer:
    return ("acl", "rules") if mapping(spec.get("acl")).get("rules") else ()
