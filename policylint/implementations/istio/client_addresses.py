"""Client addresses at the proxies of Istio: which they believe, and which AuthorizationPolicies decide by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.detecting import Detection
from policylint.implementations.istio import labels
from policylint.implementations.istio.mesh import Mesh, is_gateway
from policylint.model import Location, Resource, ResourceKey, World, mapping, sequence, text, texts
from policylint.policy.client_addresses import (
    LOGIN,
    PAST_PROXIES,
    Believed,
    Trust,
    is_positive,
)

PAST_GATEWAY = "a sidecar takes the address from X-Forwarded-For, which a client that reaches the pod directly can set"
_WORKLOADS = frozenset({"DaemonSet", "Deployment", "Pod", "ReplicaSet", "StatefulSet"})


def believed(
    policy: Resource, proxy: ResourceKey, world: World, settings: Mapping[str, Any]
) -> Iterator[tuple[Believed, Location]]:
    """Yield what a proxy of Istio believes of addresses, and the rule of an AuthorizationPolicy that decides by it.

    A Gateway believes X-Forwarded-For where it is told how many proxies are in front of it, else only the connection;
    a sidecar always does, since Gateways and other sidecars write it. Ambient proxies leave such a rule out.

    Source: https://istio.io/latest/docs/reference/config/security/authorization-policy/ (`remoteIpBlocks`),
    https://istio.io/latest/docs/ops/configuration/traffic-management/network-topologies/
    """
    if policy.key.kind != labels.AUTHORIZATION or labels.is_dry_run(policy):
        return
    pointer = _remote_addresses(policy)
    resource = world.get(proxy)
    if not pointer or resource is None:
        return
    rule = policy.location(*pointer)
    fix = f"let nothing but these proxies reach the pods (network policies), {LOGIN}"
    if proxy.kind == "Gateway" or is_gateway(resource):
        owner, place, proxies = counted_on(resource)
        if proxies is not None and proxies > 0:
            trust = Trust(place[1:], PAST_PROXIES, certain=False, fix=fix)
            yield Believed(owner, owner.location(*place), trust), rule
        elif proxies is None and is_positive(settings.get("numTrustedProxies")):
            yield Believed(policy, rule, Trust(pointer[1:], PAST_PROXIES, certain=False, fix=fix)), rule
    elif proxy.kind in _WORKLOADS and not _is_ambient(resource, world):
        yield Believed(policy, rule, Trust(pointer[1:], PAST_GATEWAY, certain=False, fix=fix)), rule


def counted_before(
    policy: Resource, proxy: ResourceKey, gateway: Resource, world: World, settings: Mapping[str, Any]
) -> tuple[Pointer, Location | None] | None:
    """Return where an AuthorizationPolicy decides by the client's address at a sidecar, and where the pods of a Gateway
    in front of it are told how many proxies there are.

    `numTrustedProxies` counts at gateways. A sidecar takes the last address of X-Forwarded-For, to which a Gateway
    appends who connects to it: the last of those proxies.

    Source: pilot/pkg/networking/core/gateway.go, XffNumTrustedHops, and listener_builder.go, which sets none for
    sidecars; istio/istio#30166.
    """
    pointer = _remote_addresses(policy) if policy.key.kind == labels.AUTHORIZATION else ()
    workload = world.get(proxy)
    is_sidecar = workload is not None and proxy.kind in _WORKLOADS and not is_gateway(workload)
    if not pointer or workload is None or not is_sidecar or _is_ambient(workload, world) or labels.is_dry_run(policy):
        return None
    holders = [gateway]
    if gateway.key[:2] != labels.GATEWAY:
        made = world.once(Mesh).selected(mapping(gateway.spec.get("selector")))
        holders = [held for each in made if (held := world.get(each.node.key)) is not None]
    for holder in holders:
        owner, place, proxies = counted_on(holder)
        if proxies is not None or is_positive(settings.get("numTrustedProxies")):
            return (pointer, owner.location(*place) if place else None) if proxies != 0 else None
    return None


def _remote_addresses(policy: Resource) -> Pointer:
    """Return where the first rule is that decides by the client's address alone; () without one."""
    found = decided(policy.spec, ("remoteIpBlocks", "notRemoteIpBlocks"), "remote.ip")
    return ("spec", *found) if found else ()


def decided(spec: Mapping[str, Any], fields: tuple[str, ...], key: str) -> Pointer:
    """Return where the first rule is that decides by an address alone, in some fields of a source or by a condition."""
    for index, rule in enumerate(map(mapping, sequence(spec.get("rules")))):
        conditions = [mapping(entry) for entry in sequence(rule.get("when"))]
        if any(text(condition.get("key")).startswith(("request.auth.", "source.p")) for condition in conditions):
            continue
        for number, entry in enumerate(sequence(rule.get("from"))):
            source = mapping(mapping(entry).get("source"))
            if any(source.get(name) for name in ("principals", "requestPrincipals", "serviceAccounts")):
                continue
            for name in fields:
                if not all(block.endswith("/0") for block in texts(source.get(name))):
                    return ("rules", index, "from", number, "source", name)
        for number, condition in enumerate(conditions):
            if condition.get("key") == key:
                return ("rules", index, "when", number)
    return ()


def counted_on(resource: Resource) -> tuple[Resource, Pointer, int | None]:
    """Return a Gateway, or the workload of one, where it says how many proxies are in front, and the number of them;
    None where it says nothing."""
    inside = (
        ("infrastructure", "annotations") if resource.key.kind == "Gateway" else ("template", "metadata", "annotations")
    )
    own = ("spec", *inside)
    for place in (own, ("metadata", "annotations")) if resource.key.kind == "Gateway" else (own,):
        written: Any = resource.body
        for step in place:
            written = mapping(mapping(written).get(step))
        if labels.PROXY_ANNOTATION in written:
            config = text(written[labels.PROXY_ANNOTATION])
            return resource, (*place, labels.PROXY_ANNOTATION), _trusted_proxies(config)
    return resource, (), None


def detection(gateway: Resource, settings: Mapping[str, Any]) -> Detection | None:
    """Return where a Gateway looks for clients' addresses: what it says itself counts before what the mesh says."""
    _, _, stated = counted_on(gateway)
    hops = settings.get("numTrustedProxies") if stated is None else stated
    return Detection(f"numTrustedProxies: {hops}", hops=hops) if isinstance(hops, int) and hops > 0 else None


def _trusted_proxies(config: str) -> int | None:
    """Return `numTrustedProxies` of a ProxyConfig as text, None where it does not say it."""
    from policylint.documents import read

    for document in read(config.encode(), labels.PROXY_ANNOTATION).documents:
        number = mapping(mapping(document.value).get("gatewayTopology")).get("numTrustedProxies")
        return number if isinstance(number, int) else None
    return None


def _is_ambient(workload: Resource, world: World) -> bool:
    labels = world.namespace_labels(workload.key.namespace) or {}
    return labels.get("istio.io/dataplane-mode") == "ambient"
