"""GWP301: one route of a listener asks nobody who they are, where most others do.

Only said of the exception: where more routes are open than are not, being open is no oversight. Silent where something
unknown may authenticate: filters and policies of kinds whose settings the catalog does not tell apart, objects that
were not seen. What a replaced policy took along is GWP201's to tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from policylint.checks.kit.dropped import drops
from policylint.checks.kit.locations import target_at
from policylint.checks.unseen_authentication import may_authenticate_unseen
from policylint.model import Finding, Node, Related, ResourceKey, mapping, sequence
from policylint.model.words import count, verb
from policylint.policy.declared import is_opt_out
from policylint.policy.results import Group, PolicyState

if TYPE_CHECKING:
    from policylint.simulation import Simulation
    from policylint.topology import RouteState

RULE = "GWP301"
_MOST_CONTEXTS = 200_000
_REDIRECTS = "RequestRedirect"


class Protection(NamedTuple):
    """What is known of the routes.

    Args:
        by: the policy that authenticates a route behind a Gateway.
        settled: routes of which nothing is to be said: somebody thought of it, or something unknown is at work.
    """

    by: dict[tuple[ResourceKey, ResourceKey], ResourceKey]
    settled: set[ResourceKey]


def check(world: Simulation) -> Iterator[Finding]:
    protection = _protection(world)
    if not protection.by:
        return
    listeners: dict[Node, list[RouteState]] = {}
    gateways: dict[Node, ResourceKey] = {}
    for route in world.topology.routes:
        for parent in route.parents:
            for node in parent.attached if parent.gateway is not None else ():
                gateways[node] = parent.gateway  # type: ignore[assignment]
                listeners.setdefault(node, []).append(route)
    told: set[tuple[ResourceKey, ResourceKey]] = set()
    for node, routes in sorted(listeners.items()):
        gateway = gateways[node]
        closed = [each for each in routes if (gateway, each.route.key) in protection.by]
        open_ = [each for each in routes if (gateway, each.route.key) not in protection.by and _serves(each)]
        if not closed or len(open_) > len(closed):
            continue
        for each in open_:
            pair = (gateway, each.route.key)
            if (
                pair not in told
                and each.route.key not in protection.settled
                and not may_authenticate_unseen(world, each)
            ):
                told.add(pair)
                yield _finding(world, each, node, closed, protection.by[gateway, closed[0].route.key])


def _protection(world: Simulation) -> Protection:
    found = Protection({}, set(_replaced(world)))
    for group in world.groups:
        settings = group.kind.settings
        fields = [name for name in settings.authentication if name in group.effective.spec]
        if any(not is_opt_out(group.effective.spec[name]) for name in fields):
            for gateway, route in _pairs(group):
                by = next(owner for at, owner in group.effective.owners.items() if at and at[0] in fields)
                found.by.setdefault((gateway, route), by)
        elif fields or not settings.security or any(name in group.effective.spec for name in settings.authorization):
            found.settled.update(group.routes())
    for state in world.policies.values():
        settings = state.kind.settings
        said = {name for each in state.declared for name in each.proper}
        if not settings.security or state.invalid_code or said & {*settings.authentication, *settings.authorization}:
            found.settled.update(_own(state))
    return found


def _replaced(world: Simulation) -> Iterator[ResourceKey]:
    """Routes that lost what protects them: GWP201 and GWP205 say so."""
    for drop in drops(world).values():
        if not drop.kind.settings.security.isdisjoint(drop.fields):
            yield from drop.routes


def _pairs(group: Group) -> Iterator[tuple[ResourceKey, ResourceKey]]:
    """The Gateways and routes that the paths of a group go through."""
    seen: set[tuple[ResourceKey, ResourceKey]] = set()
    for number, context in enumerate(group.contexts()):
        if number >= _MOST_CONTEXTS:
            return
        gateway = next((node.key for node in context if node.role == "Gateway" or node.key.kind == "Gateway"), None)
        route = next((node.key for node in context if node.key.kind.endswith("Route")), None)
        if gateway is not None and route is not None and (gateway, route) not in seen:
            seen.add((gateway, route))
            yield gateway, route


def _own(state: PolicyState) -> Iterator[ResourceKey]:
    """Routes that a policy names itself: whatever it says of them, somebody thought of them."""
    for target in state.targets:
        if target.key.kind.endswith("Route"):
            yield from (node.key for node in target.nodes)


def _serves(route: RouteState) -> bool:
    """Whether a route hands requests to a backend; redirects need no login."""
    for rule in sequence(route.route.spec.get("rules")):
        filters = [mapping(each).get("type") for each in sequence(mapping(rule).get("filters"))]
        if sequence(mapping(rule).get("backendRefs")) and _REDIRECTS not in filters:
            return True
    return False


def _finding(world: Simulation, route: RouteState, node: Node, closed: list[RouteState], by: ResourceKey) -> Finding:
    policy = world.policies.get(by)
    related: tuple[Related, ...] = ()
    if policy is not None and policy.targets:
        related = (Related(f"{closed[0].route.key} has this", target_at(policy.policy, policy.targets[0])),)
    number = len(closed)
    return Finding(
        RULE,
        "warning",
        f"{route.route.key} is open to everybody where {count(number, 'other route')} of {node} "
        f"{verb(number, 'wants')} a login",
        route.route.name_location,
        resources=(route.route.key, node.key),
        label=f"no {by.kind} authenticates here",
        related=related,
        help=(f"fix: add the route to the targets of {by}, or say with a policy of its own that it is public",),
        field="",
    )
