"""GWP307: rules on client addresses, where clients may say themselves which address they have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policylint.checks.kit.locations import path
from policylint.documents import Pointer
from policylint.model import Finding, Location, Node, Related, Resource, ResourceKey, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Effective
from policylint.simulation import Simulation

RULE = "GWP307"
_EVERYONE = "every sender is trusted, so the first address of X-Forwarded-For counts"
_PROXY_HEADER = "whoever connects may send a PROXY header of its own, with any address"
_PAST_PROXIES = "who reaches the Gateway past these proxies writes X-Forwarded-For itself"


class Trust(NamedTuple):
    """What a listener believes of a client's address.

    Args:
        pointer: of the setting, below the spec of the ClientTrafficPolicy.
        why: how somebody forges an address.
        certain: whether every client can, or only one that does not come through the proxies that are counted on.
    """

    pointer: Pointer
    why: str
    certain: bool


class AddressRule(NamedTuple):
    """A rule on addresses, on a listener that believes them."""

    rule: Location
    holder: ResourceKey
    route: ResourceKey


def check(simulation: Simulation) -> Iterator[Finding]:
    trusting: dict[Node, tuple[Effective, Trust]] = {}
    for group in simulation.groups:
        detect = _DETECTING.get((group.kind.group, group.kind.kind))
        trust = detect(group.effective.spec) if detect is not None else None
        if trust is not None:
            trusting.update({context[-1]: (group.effective, trust) for context in group.contexts()})
    if not trusting:
        return
    folded: dict[tuple[ResourceKey, Pointer, ResourceKey], tuple[Resource, Effective, Trust, AddressRule]] = {}
    for group in simulation.groups:
        decide = _DECIDING.get((group.kind.group, group.kind.kind))
        pointer = decide(group.effective.spec) if decide is not None else ()
        rule = _owner(group.effective, pointer) if pointer else None
        if rule is None:
            continue
        for context in group.contexts():
            route = next((node.key for node in context if node.key.kind.endswith("Route")), None)
            for node in context:
                if node in trusting and route is not None:
                    effective, trust = trusting[node]
                    owner = _owner(effective, trust.pointer)
                    if owner is not None:
                        use = AddressRule(_place(group.effective, rule, pointer), rule.key, route)
                        folded.setdefault((owner.key, trust.pointer, rule.key), (owner, effective, trust, use))
    for owner, effective, trust, use in folded.values():
        yield _finding(owner, _place(effective, owner, trust.pointer), trust, use)


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
        why = "who reaches the Gateway past the proxy that sets it writes this header itself"
        return Trust(("clientIPDetection", "customHeader", "name"), why, certain=False)
    return None


def _of_kgateway(spec: Mapping[str, Any]) -> Trust | None:
    """Return the same of a ListenerPolicy; where ports have settings of their own, nothing is said.

    Source: kgateway's CRD of ListenerPolicy: useRemoteAddress, xffTrustedCIDRs, xffNumTrustedHops, proxyProtocol.
    """
    if spec.get("perPort"):
        return None
    default = mapping(spec.get("default"))
    http = mapping(default.get("httpSettings"))
    everyone = _trusts_everyone(http.get("xffTrustedCIDRs"))
    if everyone is not None:
        return Trust(("default", "httpSettings", "xffTrustedCIDRs", everyone), _EVERYONE, certain=True)
    if mapping(default.get("proxyProtocol")).get("allowRequestsWithoutProxyProtocol") is True:
        return Trust(("default", "proxyProtocol", "allowRequestsWithoutProxyProtocol"), _PROXY_HEADER, certain=True)
    if _is_positive(http.get("xffNumTrustedHops")):
        return Trust(("default", "httpSettings", "xffNumTrustedHops"), _PAST_PROXIES, certain=False)
    if http.get("useRemoteAddress") is False and not http.get("xffTrustedCIDRs"):
        why = "the last address of X-Forwarded-For counts, which who connects writes"
        return Trust(("default", "httpSettings", "useRemoteAddress"), why, certain=True)
    return None


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


_DETECTING: dict[tuple[str, str], Callable[[Mapping[str, Any]], Trust | None]] = {
    ("gateway.envoyproxy.io", "ClientTrafficPolicy"): _of_envoy_gateway,
    ("gateway.kgateway.dev", "ListenerPolicy"): _of_kgateway,
}
"""Kinds that say how listeners find the address of a client."""
_DECIDING: dict[tuple[str, str], Callable[[Mapping[str, Any]], Pointer]] = {
    ("gateway.envoyproxy.io", "SecurityPolicy"): _client_cidrs,
    ("gateway.kgateway.dev", "TrafficPolicy"): _acl,
}
"""Kinds that decide by that address."""


def _owner(effective: Effective, pointer: Pointer) -> Resource | None:
    """Return the policy that a setting comes from: that of the deepest leaf on the way to it, or of one below it."""
    owners = effective.owners
    key = next((owners[pointer[:end]] for end in range(len(pointer), 0, -1) if pointer[:end] in owners), None)
    key = key or next((key for leaf, key in owners.items() if leaf[: len(pointer)] == pointer), None)
    return next((attachment.policy for attachment in effective.stack if attachment.key == key), None)


def _place(effective: Effective, policy: Resource, pointer: Pointer) -> Location:
    """Return where a policy of a stack writes a setting."""
    attachment = next(attachment for attachment in effective.stack if attachment.key == policy.key)
    prefix = attachment.declared[0].prefix if attachment.declared else ("spec",)
    return policy.location(*prefix, *pointer)


def _finding(owner: Resource, place: Location, trust: Trust, use: AddressRule) -> Finding:
    help_ = (
        "fix: trust only the addresses of the proxies in front (`trustedCIDRs`, `xffTrustedCIDRs`), "
        "or require what no header can say: a login, a client certificate"
    )
    return Finding(
        RULE,
        "warning" if trust.certain else "note",
        f"{use.route} is guarded by client addresses that {'clients' if trust.certain else 'some clients'} can forge",
        place,
        resources=(owner.key, use.holder, use.route),
        label=trust.why,
        related=(Related(f"{use.holder} decides by them", use.rule),),
        help=(help_,),
        confidence="certain" if trust.certain else "assumed",
        ground="" if trust.certain else trust.why,
        field=path(trust.pointer),
    )
