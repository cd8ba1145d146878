"""HTTPRoutes and GRPCRoutes with intersecting hostnames on one listener: exactly one is accepted.

The older, then the first by `{namespace}/{name}` (docs/design/request-precedence.md §3; GRPCRouteSpec.Hostnames). Many
controllers accept both on purpose (kubernetes-sigs/gateway-api#4598): on the Gateways of those nobody comes second.
"""

from __future__ import annotations

from collections.abc import Callable

from policylint.model import Node, Resource, ResourceKey, is_symbolic
from policylint.topology.gateways import Created, Holder, precedence
from policylint.topology.hostnames import HostnameIndex
from policylint.topology.parents import Claim

REASON = "RouteConflict"
"""The spec asks for Accepted=False and names no reason."""

SharesHostnames = Callable[[str, str], bool]
"""Whether routes of both kinds may share hostnames on the Gateways of a controllerName ("" where it is not known) and
a class."""


def settle(claims: list[tuple[Resource, list[Claim]]], created: Created, shares: SharesHostnames) -> None:
    """Mark the candidates of those routes that come second; the time is that of sorting, not of comparing pairs.

    Whose attachment is not certain neither wins nor loses, nor does a hostname with a variable in it.
    """
    lenient: dict[tuple[str, str], bool] = {}
    kinds: dict[Node, set[str]] = {}
    for route, of_route in claims:
        if route.key.kind in ("HTTPRoute", "GRPCRoute"):
            for claim in of_route:
                for each in claim.candidates:
                    if not each.failure and not _shared(claim.holder, shares, lenient):
                        kinds.setdefault(each.node, set()).add(route.key.kind)
    shared = {node for node, found in kinds.items() if len(found) > 1}
    if not shared:
        return
    taken: dict[tuple[Node, str], HostnameIndex] = {}
    for route, of_route in sorted(claims, key=lambda pair: precedence(pair[0], created)):
        if route.key.kind not in ("HTTPRoute", "GRPCRoute"):
            continue
        other = "GRPCRoute" if route.key.kind == "HTTPRoute" else "HTTPRoute"
        for claim in of_route:
            for number, each in enumerate(claim.candidates):
                if each.failure or each.unknown or each.node not in shared:
                    continue
                known = tuple(pattern for pattern in each.hostnames if not is_symbolic(pattern))
                rival = _rival(taken.get((each.node, other)), known)
                if rival is not None:
                    message = f"{rival} has the hostname on {each.node} already"
                    claim.candidates[number] = each._replace(failure=REASON, message=message, rival=rival)
                else:
                    index = taken.setdefault((each.node, route.key.kind), HostnameIndex())
                    for pattern in known:
                        index.add(pattern, route.key)


def _shared(holder: Holder | None, shares: SharesHostnames, known: dict[tuple[str, str], bool]) -> bool:
    """Whether the controller of a parent takes both kinds; asked once per class."""
    if holder is None:
        return False
    asked = (holder.controller, holder.class_name)
    if asked not in known:
        known[asked] = shares(*asked)
    return known[asked]


def _rival(index: HostnameIndex | None, patterns: tuple[str, ...]) -> ResourceKey | None:
    if index is None:
        return None
    return next((found for each in patterns if (found := index.owner(each)) is not None), None)
