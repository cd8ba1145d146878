"""GWP307: rules on client addresses, where clients may say themselves which address they have."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.documents import Pointer
from policylint.model import Finding, Location, Node, Related, Resource, ResourceKey, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Effective
from policylint.simulation import Simulation

RULE = "GWP307"
_GROUP = "gateway.envoyproxy.io"


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
        if (group.kind.group, group.kind.kind) == (_GROUP, "ClientTrafficPolicy"):
            trust = _trust(group.effective)
            if trust is not None:
                trusting.update({context[-1]: (group.effective, trust) for context in group.contexts()})
    if not trusting:
        return
    folded: dict[tuple[ResourceKey, Pointer, ResourceKey], tuple[Resource, Effective, Trust, AddressRule]] = {}
    for group in simulation.groups:
        if (group.kind.group, group.kind.kind) != (_GROUP, "SecurityPolicy"):
            continue
        pointer = _by_address(group.effective)
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


def _trust(effective: Effective) -> Trust | None:
    """Return why a listener's client addresses can be forged, the surest reason first; None where they cannot.

    Source: api/v1alpha1/clienttrafficpolicy_types.go: ClientIPDetectionSettings, ProxyProtocolSettings.
    """
    spec = effective.spec
    detection = mapping(spec.get("clientIPDetection"))
    forwarded = mapping(detection.get("xForwardedFor"))
    ranges = [text(entry) for entry in sequence(forwarded.get("trustedCIDRs"))]
    everyone = next((index for index, entry in enumerate(ranges) if entry.endswith("/0")), None)
    if everyone is not None:
        pointer: Pointer = ("clientIPDetection", "xForwardedFor", "trustedCIDRs", everyone)
        return Trust(pointer, "every sender is trusted, so the first address of X-Forwarded-For counts", True)
    if mapping(spec.get("proxyProtocol")).get("optional") is True:
        why = "whoever connects may send a PROXY header of its own, with any address"
        return Trust(("proxyProtocol", "optional"), why, True)
    hops = forwarded.get("numTrustedHops")
    if isinstance(hops, int) and hops > 0:
        pointer = ("clientIPDetection", "xForwardedFor", "numTrustedHops")
        return Trust(pointer, "who reaches the Gateway past these proxies writes X-Forwarded-For itself", False)
    if detection.get("customHeader"):
        pointer = ("clientIPDetection", "customHeader", "name")
        return Trust(pointer, "who reaches the Gateway past the proxy that sets it writes this header itself", False)
    return None


def _by_address(effective: Effective) -> Pointer:
    """Return where the first rule is that lets in, or keeps out, by the address alone; () without one."""
    for index, rule in enumerate(sequence(mapping(effective.spec.get("authorization")).get("rules"))):
        principal = mapping(mapping(rule).get("principal"))
        if principal.get("clientCIDRs") and not principal.get("jwt"):
            return ("authorization", "rules", index, "principal", "clientCIDRs")
    return ()


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
        "fix: trust only the addresses of the proxies in front (`xForwardedFor.trustedCIDRs`), "
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
        field=path(trust.pointer),
    )
