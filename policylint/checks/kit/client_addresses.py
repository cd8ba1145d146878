"""Which address a proxy takes for the client's, who can forge it, and what decides by it, per implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policylint.checks.kit.mesh_policies import conditions, sources
from policylint.documents import Pointer
from policylint.model import Location, Node, Resource, ResourceKey, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.simulation import Simulation
from policylint.topology.graph import whole

NGINX = ("gateway.nginx.org", "SnippetsFilter")
"""What a route names to write into NGINX's configuration."""
_NGINX_PROXY = ("gateway.nginx.org", "NginxProxy")
_EVERYONE = "every sender is trusted, so the first address of X-Forwarded-For counts"
_LAST = "every sender is trusted, so whoever connects says its address in X-Forwarded-For"
_PROXY_HEADER = "whoever connects may send a PROXY header of its own, with any address"
_PAST_PROXIES = "a client that reaches the Gateway directly, not through your proxy, can set X-Forwarded-For"
_PAST_BALANCER = "a client that reaches the Gateway directly, past the load balancer, can send a PROXY header"
_PAST_GATEWAY = "a sidecar takes the address from X-Forwarded-For, which a client that reaches the pod directly can set"
_LOGIN = "or require a login or a client certificate as well"
_BY_ADDRESS = Pattern(r"\b(?:allow|deny)\s+[0-9A-Fa-f:.]+(?:/\d+)?\s*;")
_CLIENT_ADDRESS = Pattern(r"\$(?:binary_)?remote_addr\b")
_PROXY_CONFIG = "proxy.istio.io/config"
_WORKLOADS = frozenset({"DaemonSet", "Deployment", "Pod", "ReplicaSet", "StatefulSet"})


class Trust(NamedTuple):
    """What a proxy believes of a client's address.

    Args:
        pointer: of the setting, below the spec of what says so.
        why: how somebody forges an address.
        certain: whether every client can, or only one that does not come through the proxies that are counted on.
        fix: what helps.
    """

    pointer: Pointer
    why: str
    certain: bool
    fix: str = f"trust only the addresses of the proxies in front (`trustedCIDRs`, `xffTrustedCIDRs`), {_LOGIN}"


class Believed(NamedTuple):
    """What a proxy believes, and where that is written: in which object, `owner`."""

    owner: Resource
    place: Location
    trust: Trust


def _trusts_everyone(ranges: object) -> int | None:
    """Return the index of a range of addresses that leaves none out, None without one."""
    return next((index for index, entry in enumerate(sequence(ranges)) if text(entry).endswith("/0")), None)


def _of_envoy_gateway(spec: Mapping[str, Any]) -> Trust | None:
    """Return why a listener's client addresses can be forged, the surest reason first; None where they cannot.

    Source: Envoy Gateway api/v1alpha1/clienttrafficpolicy_types.go: ClientIPDetectionSettings, ProxyProtocolSettings.
    """
    detection = mapping(spec.get("clientIPDetection"))
    forwarded = mapping(detection.get("xForwardedFor"))
    place: Pointer = ("clientIPDetection", "xForwardedFor")
    everyone = _trusts_everyone(forwarded.get("trustedCIDRs"))
    if everyone is not None:
        return Trust((*place, "trustedCIDRs", everyone), _EVERYONE, certain=True)
    if mapping(spec.get("proxyProtocol")).get("optional") is True:
        return Trust(("proxyProtocol", "optional"), _PROXY_HEADER, certain=True)
    if _is_positive(forwarded.get("numTrustedHops")):
        return Trust((*place, "numTrustedHops"), _PAST_PROXIES, certain=False)
    if detection.get("customHeader"):
        why = "a client that reaches the Gateway directly, not through that proxy, can set this header"
        return Trust(("clientIPDetection", "customHeader", "name"), why, certain=False)
    return None


def _of_kgateway(spec: Mapping[str, Any]) -> Trust | None:
    """Return the same of a ListenerPolicy.

    Source: kgateway's CRD of ListenerPolicy: useRemoteAddress, xffTrustedCIDRs, xffNumTrustedHops, proxyProtocol.
    """
    http = mapping(spec.get("httpSettings"))
    everyone = _trusts_everyone(http.get("xffTrustedCIDRs"))
    if everyone is not None:
        return Trust(("httpSettings", "xffTrustedCIDRs", everyone), _EVERYONE, certain=True)
    if mapping(spec.get("proxyProtocol")).get("allowRequestsWithoutProxyProtocol") is True:
        return Trust(("proxyProtocol", "allowRequestsWithoutProxyProtocol"), _PROXY_HEADER, certain=True)
    if _is_positive(http.get("xffNumTrustedHops")):
        return Trust(("httpSettings", "xffNumTrustedHops"), _PAST_PROXIES, certain=False)
    if http.get("useRemoteAddress") is False and not http.get("xffTrustedCIDRs"):
        why = "the last address of X-Forwarded-For counts, which who connects writes"
        return Trust(("httpSettings", "useRemoteAddress"), why, certain=True)
    return None


def of_nginx(simulation: Simulation) -> dict[Node, Believed]:
    """Return the Gateways of NGINX Gateway Fabric whose client addresses can be forged.

    A Gateway's own NginxProxy wins over that of its class, field by field, lists whole.

    Source: the CRD of NginxProxy, `rewriteClientIP`; https://nginx.org/en/docs/http/ngx_http_realip_module.html
    """
    proxies: dict[ResourceKey, Resource] = {
        binding.node.key: binding.resolution.resource
        for binding in simulation.bindings
        if binding.form == "parameters" and binding.wanted[:2] == _NGINX_PROXY and binding.resolution.resource
    }
    believed: dict[Node, Believed] = {}
    for state in simulation.topology.gateways if proxies else ():
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
        everyone = _trusts_everyone([mapping(entry).get("value") for entry in sequence(ranges)])
        if owner is None or everyone is None or not set_fields.get("mode"):
            continue
        why = _EVERYONE if set_fields.get("setIPRecursively") is True else _LAST
        if set_fields["mode"] == "ProxyProtocol":
            why = _PAST_BALANCER
        pointer = ("rewriteClientIP", "trustedAddresses", everyone, "value")
        fix = f"trust only the addresses of the proxies in front (`trustedAddresses`), {_LOGIN}"
        trust = Trust(pointer, why, why != _PAST_BALANCER, fix)
        believed[whole(state.gateway.key)] = Believed(owner, owner.location("spec", *pointer), trust)
    return believed


def in_mesh(simulation: Simulation, policy: Resource, proxy: ResourceKey) -> Iterator[tuple[Believed, Location]]:
    """Yield what a proxy of Istio believes of addresses, and the rule of an AuthorizationPolicy that decides by it.

    A Gateway believes X-Forwarded-For where it is told how many proxies are in front of it, else only the connection;
    a sidecar always does, since Gateways and other sidecars write it. Ambient proxies leave such a rule out.

    Source: https://istio.io/latest/docs/reference/config/security/authorization-policy/ (`remoteIpBlocks`),
    https://istio.io/latest/docs/ops/configuration/traffic-management/network-topologies/
    """
    pointer = _remote_addresses(policy)
    resource = simulation.world.get(proxy)
    if not pointer or resource is None:
        return
    rule = policy.location(*pointer)
    fix = f"let nothing but these proxies reach the pods (network policies), {_LOGIN}"
    if proxy.kind == "Gateway" or _is_gateway(resource):
        owner, place = _counted_on(resource)
        settings = simulation.catalog.settings("istio")
        if place:
            trust = Trust(place[1:], _PAST_PROXIES, certain=False, fix=fix)
            yield Believed(owner, owner.location(*place), trust), rule
        elif place is None and _is_positive(settings.get("numTrustedProxies")):
            yield Believed(policy, rule, Trust(pointer[1:], _PAST_PROXIES, certain=False, fix=fix)), rule
    elif proxy.kind in _WORKLOADS and not _is_ambient(simulation, resource):
        yield Believed(policy, rule, Trust(pointer[1:], _PAST_GATEWAY, certain=False, fix=fix)), rule


def _remote_addresses(policy: Resource) -> Pointer:
    """Return where the first rule is that decides by the client's address alone; () without one."""
    for index, rule in enumerate(sequence(policy.spec.get("rules"))):
        if any(text(condition.get("key")).startswith(("request.auth.", "source.p")) for condition in conditions(rule)):
            continue
        for number, source in enumerate(sources(rule)):
            if any(source.get(name) for name in ("principals", "requestPrincipals", "serviceAccounts")):
                continue
            for name in ("remoteIpBlocks", "notRemoteIpBlocks"):
                if not all(block.endswith("/0") for block in texts(source.get(name))):
                    return ("spec", "rules", index, "from", number, "source", name)
        for number, condition in enumerate(conditions(rule)):
            if condition.get("key") == "remote.ip":
                return ("spec", "rules", index, "when", number)
    return ()


def _is_gateway(workload: Resource) -> bool:
    """Tell whether a workload is a gateway of Istio: its proxy is no sidecar."""
    metadata = mapping(mapping(workload.spec.get("template")).get("metadata"))
    labels, annotations = mapping(metadata.get("labels")), mapping(metadata.get("annotations"))
    return annotations.get("inject.istio.io/templates") == "gateway" or "gateway" in text(labels.get("istio"))


def _counted_on(resource: Resource) -> tuple[Resource, Pointer | None]:
    """Return a Gateway, or the workload of one, and where it says how many proxies are in front: () where it says that
    there is none, None where it says nothing."""
    inside = (
        ("infrastructure", "annotations") if resource.key.kind == "Gateway" else ("template", "metadata", "annotations")
    )
    own = ("spec", *inside)
    for place in (own, ("metadata", "annotations")) if resource.key.kind == "Gateway" else (own,):
        written: Any = resource.body
        for step in place:
            written = mapping(mapping(written).get(step))
        if _PROXY_CONFIG in written:
            number = _trusted_proxies(text(written[_PROXY_CONFIG]))
            return resource, None if number is None else (*place, _PROXY_CONFIG) if number > 0 else ()
    return resource, None


def _trusted_proxies(config: str) -> int | None:
    """Return `numTrustedProxies` of a ProxyConfig as text, None where it does not say it."""
    from policylint.documents import read

    for document in read(config.encode(), _PROXY_CONFIG).documents:
        number = mapping(mapping(document.value).get("gatewayTopology")).get("numTrustedProxies")
        return number if isinstance(number, int) else None
    return None


def _is_ambient(simulation: Simulation, workload: Resource) -> bool:
    labels = simulation.world.namespace_labels(workload.key.namespace) or {}
    return labels.get("istio.io/dataplane-mode") == "ambient"


def _is_positive(number: object) -> bool:
    return isinstance(number, int) and number > 0


def _client_cidrs(spec: Mapping[str, Any]) -> Pointer:
    """Return where the first rule is that lets in, or keeps out, by the address alone; () without one."""
    for index, rule in enumerate(sequence(mapping(spec.get("authorization")).get("rules"))):
        principal = mapping(mapping(rule).get("principal"))
        if principal.get("clientCIDRs") and not principal.get("jwt"):
            return ("authorization", "rules", index, "principal", "clientCIDRs")
    return ()


def _acl(spec: Mapping[str, Any]) -> Pointer:
    return ("acl", "rules") if mapping(spec.get("acl")).get("rules") else ()


def decided_by_snippet(spec: Mapping[str, Any]) -> Pointer:
    """Return where the first snippet of NGINX's configuration is that lets addresses in or keeps them out."""
    for index, snippet in enumerate(sequence(spec.get("snippets"))):
        if _BY_ADDRESS.search(text(mapping(snippet).get("value"))):
            return ("snippets", index, "value")
    return ()


def _counted(spec: Mapping[str, Any]) -> Pointer:
    """Return where the first rule of a RateLimitPolicy is that counts requests by address."""
    local = mapping(mapping(spec.get("rateLimit")).get("local"))
    for index, rule in enumerate(sequence(local.get("rules"))):
        if _CLIENT_ADDRESS.search(text(mapping(rule).get("key"))):
            return ("rateLimit", "local", "rules", index, "key")
    return ()


DETECTING: dict[tuple[str, str], Callable[[Mapping[str, Any]], Trust | None]] = {
    ("gateway.envoyproxy.io", "ClientTrafficPolicy"): _of_envoy_gateway,
    ("gateway.kgateway.dev", "ListenerPolicy"): _of_kgateway,
}
"""Kinds that say how listeners find the address of a client."""
DECIDING: dict[tuple[str, str], Callable[[Mapping[str, Any]], Pointer]] = {
    ("gateway.envoyproxy.io", "SecurityPolicy"): _client_cidrs,
    ("gateway.kgateway.dev", "TrafficPolicy"): _acl,
    ("gateway.nginx.org", "RateLimitPolicy"): _counted,
    ("gateway.nginx.org", "SnippetsPolicy"): decided_by_snippet,
}
"""Kinds that decide by that address."""
