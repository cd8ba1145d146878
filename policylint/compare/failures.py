"""Routes whose requests a change makes answer 500, because a policy that its controller refuses prevails there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product

from policylint.compare.attachment import rules_of
from policylint.compare.change import AttachmentChange, FindingChange
from policylint.compare.contexts import MOST_CONTEXTS
from policylint.compare.pairing import Sides
from policylint.model import Node, Related, ResourceKey
from policylint.model.words import count
from policylint.simulation import Simulation

RULE = "GWP111"
_MOST_RELATED = 4
Failures = Mapping[ResourceKey, Mapping[ResourceKey, bool]]
"""Route → the refused policies by which its requests fail → whether all of its requests do."""


def failing_routes(simulation: Simulation) -> Failures:
    """Return the routes of one side that a refused policy makes answer 500, on all ways to them or on some."""
    ways: dict[ResourceKey, dict[ResourceKey, set[tuple[Node, Node]]]] = defaultdict(lambda: defaultdict(set))
    for group in simulation.groups:
        refused = group.effective.refused
        if refused is None:
            continue
        for path in islice(group.contexts(), MOST_CONTEXTS):
            for node in path:
                state = simulation.topology.route(node.key) if node.key.kind.endswith("Route") else None
                if state is not None and not node.section:
                    rules = rules_of(simulation, node.key)
                    listeners = state.attached.intersection(path) or state.attached
                    ways[node.key][refused].update(product(listeners, rules.intersection(path) or rules))
    return {
        route: {policy: len(failing) == _ways(simulation, route) for policy, failing in by_policy.items()}
        for route, by_policy in ways.items()
    }


def _ways(simulation: Simulation, route: ResourceKey) -> int:
    """Return the number of ways to a route: its listeners times its rules."""
    state = simulation.topology.route(route)
    return 0 if state is None else len(state.attached) * len(rules_of(simulation, route))


def failure_changes(sides: Sides) -> dict[ResourceKey, tuple[AttachmentChange, ...]]:
    """Return by route (as it is after) how its requests begin to fail, or are served again."""
    before, after, pairing = sides
    old, new = failing_routes(before), failing_routes(after)
    changes: dict[ResourceKey, list[AttachmentChange]] = defaultdict(list)
    for route, policy, whole in _newly(new, old, before, pairing.was):
        share = "all requests" if whole else "some requests"
        changes[route].append(AttachmentChange("answers", share, "served", "500", f"{policy} is refused"))
    for route, _, whole in _newly(old, new, after, pairing.key):
        share = "all requests" if whole else "some requests"
        changes[pairing.key(route)].append(AttachmentChange("answers", share, "500", "served"))
    return {route: tuple(listed) for route, listed in changes.items()}


def _newly(
    failing: Failures, opposite: Failures, other_side: Simulation, counterpart: Callable[[ResourceKey], ResourceKey]
) -> Iterator[tuple[ResourceKey, ResourceKey, bool]]:
    """Yield route, policy and whether all requests fail, for routes that the other side serves, in part or whole."""
    for route, by_policy in sorted(failing.items()):
        state = other_side.topology.route(counterpart(route))
        if state is not None and state.attached:
            others = opposite.get(counterpart(route), {}).values()
            yield from (
                (route, policy, whole)
                for policy, whole in sorted(by_policy.items())
                if not others or (whole and not any(others))
            )


def with_failures(sides: Sequence[Sides], changes: Sequence[FindingChange]) -> list[FindingChange]:
    """Return findings, of which those about a refused policy that new routes fail by are new and say so first."""
    if not any(change.finding.rule == RULE and change.state != "fixed" for change in changes):
        return list(changes)
    failing: dict[tuple[str, ResourceKey], dict[ResourceKey, bool]] = defaultdict(dict)
    for pair in sides:
        old, new = failing_routes(pair.before), failing_routes(pair.after)
        for route, policy, whole in _newly(new, old, pair.before, pair.pairing.was):
            failing[pair.after.world.name, policy][route] = whole
    return [_told(change, sides, failing) for change in changes]


def _told(
    change: FindingChange, sides: Sequence[Sides], failing: Mapping[tuple[str, ResourceKey], Mapping[ResourceKey, bool]]
) -> FindingChange:
    """Return a finding about a refused policy with the routes that fail by it since the change."""
    finding = change.finding
    if finding.rule != RULE or change.state == "fixed":
        return change
    routes: dict[ResourceKey, bool] = {}
    related = list(finding.related)
    for pair in sides:
        name = pair.after.world.name
        if name in finding.environments or not finding.environments:
            for route, whole in failing.get((name, finding.resources[0]), {}).items():
                resource = pair.after.world.get(route)
                if resource is not None and route not in routes:
                    related.append(Related(f"{route} answers 500", resource.name_location))
                routes[route] = routes.get(route, True) and whole
    if not routes:
        return change
    share = "all" if all(routes.values()) else "some"
    whose = str(next(iter(routes))) if len(routes) == 1 else count(len(routes), "route")
    message = f"{share} requests of {whose} will answer 500: {finding.message}"
    return FindingChange(finding._replace(message=message, related=tuple(related[:_MOST_RELATED])), "new")
