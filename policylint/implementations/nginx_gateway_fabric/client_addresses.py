"""Client addresses at NGINX Gateway Fabric: who can forge them, and which rules and snippets decide by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.model import Node, Resource, ResourceKey, mapping, sequence, text
from policylint.patterns import Pattern
from policylint.policy.bindings import ObjectBinding
from policylint.policy.client_addresses import (
    EVERYONE,
    LOGIN,
    Believed,
    Trust,
    trusts_everyone,
)
from policylint.topology import Topology
from policylint.topology.graph import whole

_NGINX_PROXY = ("gateway.nginx.org", "NginxProxy")
LAST = "every sender is trusted, so whoever connects says its address in X-Forwarded-For"
PAST_BALANCER = "a client that reaches the Gateway directly, past the load balancer, can send a PROXY header"
_BY_ADDRESS = Pattern(r"\b(?:allow|deny)\s+[0-9A-Fa-f:.]+(?:/\d+)?\s*;")
_CLIENT_ADDRESS = Pattern(r"\$(?:binary_)?remote_addr\b")


def believing(bindings: Sequence[ObjectBinding], topology: Topology) -> dict[Node, Believed]:
    """Return the Gateways of NGINX Gateway Fabric whose client addresses can be forged.

    A Gateway's own NginxProxy wins over that of its class, field by field, lists whole.

    Source: the CRD of NginxProxy, `rewriteClientIP`; https://nginx.org/en/docs/http/ngx_http_realip_module.html
    """
    proxies: dict[ResourceKey, Resource] = {
        binding.node.key: binding.resolution.resource
        for binding in bindings
        if binding.form == "parameters" and binding.wanted[:2] == _NGINX_PROXY and binding.resolution.resource
    }
    believed: dict[Node, Believed] = {}
    for state in topology.gateways if proxies else ():
        stack = [proxies[key] for key in (state.gateway.key, state.class_key) if key in proxies]
        rewritings = [mapping(proxy.spec.get("rewriteClientIP")) for proxy in stack]
        owner, ranges = next(
            (
                (proxy, rewriting["trustedAddresses"])
                for proxy, rewriting in zip(stack, rewritings, strict=True)
                if "trustedAddresses" in rewriting
            ),
            (None, ()),
        )
        set_fields: dict[str, Any] = {}
        for rewriting in reversed(rewritings):
            set_fields.update(rewriting)
        everyone = trusts_everyone([mapping(entry).get("value") for entry in sequence(ranges)])
        if owner is None or everyone is None or not set_fields.get("mode"):
            continue
        why = EVERYONE if set_fields.get("setIPRecursively") is True else LAST
        if set_fields["mode"] == "ProxyProtocol":
            why = PAST_BALANCER
        pointer = ("rewriteClientIP", "trustedAddresses", everyone, "value")
        fix = f"trust only the addresses of the proxies in front (`trustedAddresses`), {LOGIN}"
        trust = Trust(pointer, why, why != PAST_BALANCER, fix)
        believed[whole(state.gateway.key)] = Believed(owner, owner.location("spec", *pointer), trust)
    return believed


def decided_by_snippet(spec: Mapping[str, Any]) -> Pointer:
    """Return where the first snippet of NGINX's configuration is that lets addresses in or keeps them out."""
    for index, snippet in enumerate(sequence(spec.get("snippets"))):
        if _BY_ADDRESS.search(text(mapping(snippet).get("value"))):
            return ("snippets", index, "value")
    return ()


def counted(spec: Mapping[str, Any]) -> Pointer:
    """Return where the first rule of a RateLimitPolicy is that counts requests by address."""
    local = mapping(mapping(spec.get("rateLimit")).get("local"))
    for index, rule in enumerate(sequence(local.get("rules"))):
        if _CLIENT_ADDRESS.search(text(mapping(rule).get("key"))):
            return ("rateLimit", "local", "rules", index, "key")
    return ()
