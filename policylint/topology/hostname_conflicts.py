"""HTTPRoutes and GRPCRoutes with intersecting hostnames on one listener: exactly one is accepted.

The oldest wins, then the first by `{namespace}/{name}` (docs/design/request-precedence.md §3; GRPCRouteSpec.Hostnames).
Many controllers accept both on purpose (kubernetes-sigs/gateway-api#4598): on their Gateways no route loses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache

from policylint.model import Node, Resource, is_symbolic
from policylint.topology.hostnames import HostnameIndex
from policylint.topology.parents import ParentClaim

REASON = "RouteConflict"
"""The reason of Accepted=False, for which the spec has no name."""

SharesHostnames = Callable[[str, str], bool]
"""Returns whether routes of both kinds may share hostnames on the Gateways of a controllerName ("" where it is unknown)
and a class."""


def mark_conflicts(claims: list[tuple[Resource, list[ParentClaim]]], shares: SharesHostnames) -> None:
    """Mark the losing candidates of these routes, in the time of a sort rather than of comparing all pairs.

    A route whose attachment is uncertain neither wins nor loses, nor does a hostname that holds a variable.
    """
    shares = cache(shares)
    claims = [claim for claim in claims if claim[0].key.kind in ("HTTPRoute", "GRPCRoute")]
    # Only listeners that have routes of both kinds can have conflicts.
    kinds: dict[Node, set[str]] = defaultdict(set)
    for route, route_claims in claims:
        for claim in route_claims:
            for candidate in claim.candidates:
                if not candidate.failure and not (
                    claim.holder and shares(claim.holder.controller, claim.holder.class_name)
                ):
                    kinds[candidate.node].add(route.key.kind)
    shared = {node for node, route_kinds in kinds.items() if len(route_kinds) > 1}
    if not shared:
        return
    # In order of precedence: a route that finds its hostname taken by the other kind loses.
    taken: dict[tuple[Node, str], HostnameIndex] = defaultdict(HostnameIndex)
    for route, route_claims in sorted(claims, key=lambda pair: (*pair[0].age, pair[0].key.kind)):
        other_kind = "GRPCRoute" if route.key.kind == "HTTPRoute" else "HTTPRoute"
        for claim in route_claims:
            for number, candidate in enumerate(claim.candidates):
                if candidate.failure or candidate.unknown or candidate.node not in shared:
                    continue
                known = [pattern for pattern in candidate.hostnames if not is_symbolic(pattern)]
                rivals = taken[candidate.node, other_kind]
                rival = next((owner for pattern in known if (owner := rivals.owner(pattern)) is not None), None)
                if rival is not None:
                    message = f"{rival} has the hostname on {candidate.node} already"
                    claim.candidates[number] = candidate._replace(failure=REASON, message=message, rival=rival)
                else:
                    for pattern in known:
                        taken[candidate.node, route.key.kind].add(pattern, route.key)
