"""GWP301: one route of a listener authenticates nobody, where most others do.

Only exceptions are reported: of the routes of a listener in one namespace at least two authenticate, and twice as many
as do not. Elsewhere each application decides for itself, and being open is no oversight. Who is asked says the
evaluator of requirements (`trace.requirements`); a route that somebody thought of is none, nor is one of which that is
not known. GWP201 reports what a replaced policy took along.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import target_at
from policylint.checks.kit.losses import drops
from policylint.checks.kit.tracing import tracer_of
from policylint.model import Finding, Node, Related, ResourceKey, mapping, sequence
from policylint.model.words import count
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import asked, setters
from policylint.policy.results import Group, PolicyState
from policylint.simulation import Simulation
from policylint.topology import RouteState
from policylint.trace import Asked, Requirements

if TYPE_CHECKING:
    from policylint.reach import EntryPoint

RULE = "GWP301"
_MOST_CONTEXTS = 200_000
_FEWEST = 2
"""Routes that authenticate, for each that does not."""
_REDIRECTS = "RequestRedirect"


class Protection(NamedTuple):
    """The known protection of routes.

    Args:
        by: (Gateway, route) → the policy that authenticates.
        settled: routes not to report: somebody thought of them, or something unknown is at work.
    """

    by: dict[tuple[ResourceKey, ResourceKey], ResourceKey]
    settled: set[ResourceKey]


def check(simulation: Simulation) -> Iterator[Finding]:
    protection = _protection(simulation)
    if not protection.by:
        return
    listeners: dict[Node, list[RouteState]] = {}
    gateways: dict[Node, ResourceKey] = {}
    for route in simulation.topology.routes:
        for parent in route.parents:
            for node in parent.attached if parent.gateway is not None else ():
                gateways[node] = parent.gateway  # type: ignore[assignment]
                listeners.setdefault(node, []).append(route)
    logins: _Logins | None = None
    reported: set[tuple[ResourceKey, ResourceKey]] = set()
    for node, routes in sorted(listeners.items()):
        gateway = gateways[node]
        closed = [route for route in routes if (gateway, route.route.key) in protection.by]
        open_ = [route for route in routes if (gateway, route.route.key) not in protection.by and _serves(route)]
        for route, near in _exceptions(open_, closed):
            pair = (gateway, route.route.key)
            if pair in reported or route.route.key in protection.settled:
                continue
            logins = logins or _Logins(simulation)
            given = [each for each in logins.of(route, gateway) if each.state != "asked"]
            if not given or any(each.state != "open" for each in given):
                continue
            asking = [each for each in near if all(login.state == "asked" for login in logins.of(each, gateway))]
            if len(asking) >= _FEWEST:
                reported.add(pair)
                by = protection.by[gateway, asking[0].route.key]
                yield _finding(simulation, route, node, asking, by, next((each.ground for each in given), ""))


def _exceptions(open_: list[RouteState], closed: list[RouteState]) -> Iterator[tuple[RouteState, list[RouteState]]]:
    """Yield the open routes that are exceptions in their namespace, each with those that are not open there."""
    for route in open_:
        namespace = route.route.key.namespace
        near = [each for each in closed if each.route.key.namespace == namespace]
        alike = [each for each in open_ if each.route.key.namespace == namespace]
        if len(near) >= _FEWEST * len(alike):
            yield route, near


class _Logins:
    """What the requests of routes are asked for, found once each."""

    def __init__(self, simulation: Simulation) -> None:
        self._tracer = tracer_of(simulation)
        self._requirements = Requirements(self._tracer)
        self._entries: dict[ResourceKey, dict[ResourceKey, list[EntryPoint]]] = {}
        self._known: dict[tuple[ResourceKey, ResourceKey], list[Asked]] = {}

    def of(self, route: RouteState, gateway: ResourceKey) -> list[Asked]:
        """Return what is asked on each way to a backend of a route through a Gateway."""
        from policylint.reach import asked as asked_of
        from policylint.reach import entries_of_routes, ways_to

        key = route.route.key
        if gateway not in self._entries:
            self._entries[gateway] = entries_of_routes(self._tracer, [gateway])
        if (gateway, key) not in self._known:
            self._known[gateway, key] = [
                asked_of(self._requirements, way, "authentication")
                for way in ways_to(self._tracer, self._entries[gateway].get(key, ()), key)
                if way.trace.outcome.backends
            ]
        return self._known[gateway, key]


def _protection(simulation: Simulation) -> Protection:
    protection = Protection({}, set(_replaced(simulation)))
    for group in simulation.groups:
        settings = group.kind.settings
        fields = [name for name in settings.authentication if name in group.effective.spec]
        asking = asked(group.kind, group.effective, simulation.world, simulation.catalog)
        paths = {ask.path.split(".")[0] for ask in asking if ask.purpose == "authentication" and ask.must}
        if paths:
            for gateway, route in _pairs(group):
                by = next(owner for path in sorted(paths) for owner in setters(group.effective, path))
                protection.by.setdefault((gateway, route), by)
        elif fields or not settings.security or any(name in group.effective.spec for name in settings.authorization):
            protection.settled.update(group.routes())
    for state in simulation.policies.values():
        settings = state.kind.settings
        declared = {name for level in state.declared for name in level.proper}
        if (
            not settings.security
            or state.invalid_code
            or declared & {*settings.authentication, *settings.authorization}
        ):
            protection.settled.update(_own(state))
    return protection


def _replaced(simulation: Simulation) -> Iterator[ResourceKey]:
    """Yield the routes that lost what protects them, which GWP201 and GWP205 report."""
    for drop in drops(simulation).values():
        if not drop.kind.settings.security.isdisjoint(drop.fields):
            yield from drop.routes


def _pairs(group: Group) -> Iterator[tuple[ResourceKey, ResourceKey]]:
    """Yield the pairs of Gateway and route that the paths of a group go through."""
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
    """Yield the routes that a policy names itself: whatever it says, somebody thought of them."""
    for target in state.targets:
        if target.key.kind.endswith("Route"):
            yield from (node.key for node in target.nodes)


def _serves(route: RouteState) -> bool:
    """Return whether a route sends requests to a backend; redirects need no authentication."""
    for rule in sequence(route.route.spec.get("rules")):
        filters = [mapping(entry).get("type") for entry in sequence(mapping(rule).get("filters"))]
        if sequence(mapping(rule).get("backendRefs")) and _REDIRECTS not in filters:
            return True
    return False


def _finding(
    simulation: Simulation, route: RouteState, node: Node, closed: list[RouteState], by: ResourceKey, ground: str
) -> Finding:
    policy = simulation.policies.get(by)
    related: tuple[Related, ...] = ()
    if policy is not None and policy.targets:
        related = (Related(f"{closed[0].route.key} is protected by this", target_at(policy.policy, policy.targets[0])),)
    number = len(closed)
    return Finding(
        RULE,
        "note",
        f"{route.route.key} requires no login, unlike {count(number, 'other route')} of {node} in its namespace",
        route.route.name_location,
        resources=(route.route.key, node.key),
        label=f"no {by.kind} authenticates here",
        related=related,
        help=(f"fix: add the route to the targets of {by}, or give it a policy of its own that opens it on purpose",),
        confidence="assumed" if ground else "certain",
        ground=ground,
        field="",
    )
