"""HTTPRoutes and GRPCRoutes with intersecting hostnames on one listener: exactly one is accepted.

The oldest wins, then the first by `{namespace}/{name}` (docs/design/request-precedence.md §3; GRPCRouteSpec.Hostnames).
Many controllers accept both on purpose (kubernetes-sigs/gateway-api#4598): on their Gateways no route loses.
"""

from __future__ import annotations

from collections.abc import Callable

from policylint.model import Node, Resource, ResourceKey, is_symbolic
from policylint.topology.gateways import Created, Holder, precedence
from policylint.topology.hostnames import HostnameIndex
from policylint.topology.parents import ParentClaim

REASON = "RouteConflict"
"""The reason of Accepted=False, for which the spec has no name."""

SharesHostnames = Callable[[str, str], bool]
"""Returns whether routes of both kinds may share hostnames on the Gateways of a controllerName ("" where it is unknown)
and a class."""


def mark_conflicts(claims: list[tuple[Resource, list[ParentClaim]]], created: Created, shares: SharesHostnames) -> None:
    """Mark the losing candidates of these routes, in the time of a sort rather than of comparing all pairs.

    A route whose attachment is uncertain neither wins nor loses, nor does a hostname that holds a variable.
    """
    # Only listeners that have routes of both kinds can have conflicts.
    lenient: dict[tuple[str, str], bool] = {}
    kinds: dict[Node, set[str]] = {}
    for route, route_claims in claims:
        if route.key.kind in ("HTTPRoute", "GRPCRoute"):
            for claim in route_claims:
                for candidate in claim.candidates:
                    if not candidate.failure and not _shared(claim.holder, shares, lenient):
                        kinds.setdefault(candidate.node, set()).add(route.key.kind)
    shared = {node for node, route_kinds in kinds.items() if len(route_kinds) > 1}
    if not shared:
        return
    # In order of precedence: a route that finds its hostname taken by the other kind loses.
    taken: dict[tuple[Node, str], HostnameIndex] = {}
    for route, route_claims in sorted(claims, key=lambda pair: precedence(pair[0], created)):
        if route.key.kind not in ("HTTPRoute", "GRPCRoute"):
            continue
        other_kind = "GRPCRoute" if route.key.kind == "HTTPRoute" else "HTTPRoute"
        for claim in route_claims:
            for number, candidate in enumerate(claim.candidates):
                if candidate.failure or candidate.unknown or candidate.node not in shared:
                    continue
                known = tuple(pattern for pattern in candidate.hostnames if not is_symbolic(pattern))
                rival = _rival(taken.get((candidate.node, other_kind)), known)
                if rival is not None:
                    message = f"{rival} has the hostname on {candidate.node} already"
                    claim.candidates[number] = candidate._replace(failure=REASON, message=message, rival=rival)
                else:
                    index = taken.setdefault((candidate.node, route.key.kind), HostnameIndex())
                    for pattern in known:
                        index.add(pattern, route.key)


def _shared(holder: Holder | None, shares: SharesHostnames, known: dict[tuple[str, str], bool]) -> bool:
    """Return whether the controller of a parent accepts both kinds; `known` remembers the answer for every class."""
    if holder is None:
        return False
    served_by = (holder.controller, holder.class_name)
    if served_by not in known:
        known[served_by] = shares(*served_by)
    return known[served_by]


def _rival(index: HostnameIndex | None, patterns: tuple[str, ...]) -> ResourceKey | None:
    if index is None:
        return None
    return next((owner for pattern in patterns if (owner := index.owner(pattern)) is not None), None)
