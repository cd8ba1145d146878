"""Merging a stack of policies: replacement, or a merge with the nearest policy above the route.

Source: docs/design/implementations/envoy-gateway.md §5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from policylint.documents import Pointer
from policylint.model import ROUTE_KINDS, PolicyKind, Resource, ResourceKey, mapping
from policylint.policy.folding import Folding, Stack
from policylint.policy.results import Attachment, Effective, Losses
from policylint.policy.units import Layer
from policylint.topology import Topology

if TYPE_CHECKING:
    from policylint.policy.patching import Pairing, Pairs

APPENDED = (("rateLimit", "global", "rules"), ("rateLimit", "local", "rules"))
"""Rules of both rate limits stand side by side, as the controller names each after its policy."""


def _limits(base: list[Any], patch: list[Any]) -> Pairs | None:
    """Pair rules of local rate limits: a patch without rules for some clients leaves those of the base.

    Both are translated before they are merged: a rule for all clients becomes the default, of which each side has one,
    and the rest a list that is left out where it is empty (Envoy Gateway,
    `translateBackendTrafficPolicyForRouteWithMerge`,
    `buildLocalRateLimit`, `ir.LocalRateLimit`; issue 9233).
    """
    kept = [index for index, rule in enumerate(base) if mapping(rule).get("clientSelectors")]
    if not kept or any(mapping(rule).get("clientSelectors") for rule in patch):
        return None
    return [*((index, None) for index in kept), *((None, index) for index in range(len(patch)))]


def _global_limits(base: list[Any], patch: list[Any]) -> Pairs | None:
    """Pair rules of global rate limits: an empty list of the patch is left out."""
    return None if patch else [(index, None) for index in range(len(base))]


_PAIRINGS: Mapping[Pointer, Pairing] = {
    ("rateLimit", "local", "rules"): _limits,
    ("rateLimit", "global", "rules"): _global_limits,
}
_MERGING = ("strategic", "patch")
L4_ROUTES = ("TCPRoute", "TLSRoute", "UDPRoute")
L4_PROTOCOLS = ("TCP", "TLS", "UDP")


def merge(stack: Stack, topology: Topology) -> Effective:
    """Return the most specific policy alone, or patched onto its base, or with gaps filled on layer 4 (§4, §5).

    Fields that are null are fields that are not set: the controller merges typed objects, which know no null.

    The base of a policy with mergeType is the nearest one on a listener, ListenerSet or Gateway: a route's policy
    never is the base of a rule's. The base itself is taken as it is, whatever it replaced.
    """
    child = stack.attachments[-1]
    fills = stack.kind.kind == "BackendTrafficPolicy" and _on_layer_4(child, topology)
    layers: list[object] = []
    for attachment in stack.attachments:
        layers += (attachment.policy, attachment.declared, attachment.node.key.kind in ROUTE_KINDS)
    spec, owners, lost = child.policy.once(_merged, stack.kind, fills, *layers)
    return Effective(spec, owners, lost, stack.attachments)


def base(stack: Stack) -> Attachment | None:
    """Return the policy that the most specific one of a stack is merged with; None where it is not."""
    *above, child = stack.attachments
    if child.node.key.kind not in ROUTE_KINDS or child.declared[0].granularity not in _MERGING:
        return None
    return next((each for each in reversed(above) if each.node.key.kind not in ROUTE_KINDS), None)


def _merged(
    _: Resource, kind: PolicyKind, fills: bool, *layers: Any
) -> tuple[Mapping[str, Any], Mapping[Pointer, ResourceKey], Losses]:
    """Return spec, owners and what was lost.

    `layers` holds, from the least to the most specific policy, one after the other: the policy, what it declares, and
    whether it is attached to a route. Nothing else decides the merge, so both sides of a diff may share it.
    """
    *above, child = (Layer(*layers[start : start + 2]) for start in range(0, len(layers), 3))
    on_route: tuple[bool, ...] = layers[2::3]
    folding = Folding()
    granularity = child.declared[0].granularity
    folding.replace(child, _plain(child))
    if on_route[-1] and granularity in _MERGING:
        base = next((index for index in reversed(range(len(above))) if not on_route[index]), None)
        if base is not None:
            from policylint.policy.patching import Rules
            from policylint.policy.strategies import strategic

            by_lists = granularity == "strategic"
            rules = strategic(kind.merge.lists, APPENDED) if by_lists else Rules(_PAIRINGS.get)
            nearest = above.pop(base)
            inherited = _plain(nearest)
            # Go writes no empty list of these fields (`omitempty`), so a patch does not say it.
            own = {name: value for name, value in _plain(child).items() if value != [] or name not in inherited}
            folding.replace(child, own)
            folding.patch(nearest, inherited, rules, over=False)
    for layer in reversed(above):
        everybody = folding.holders() or {child.key}
        for name, value in _plain(layer).items():
            if fills:
                folding.offer(layer, (name,), value)
            else:
                folding.lose(layer, (name,), value, everybody)
    return folding.spec, folding.owners(), folding.lost()


def _on_layer_4(attachment: Attachment, topology: Topology) -> bool:
    """Tell whether a policy acts on a connection: there the broader one gives the fields that it leaves out."""
    if attachment.node.key.kind in ROUTE_KINDS:
        return attachment.node.key.kind in L4_ROUTES
    listener = topology.listener(attachment.node)
    return listener is not None and listener.protocol in L4_PROTOCOLS


def _plain(layer: Layer) -> dict[str, Any]:
    """Return a spec proper without nulls."""
    plain: dict[str, Any] = _without_nulls(layer.declared[0].proper)
    return plain


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
