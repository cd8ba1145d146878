"""Creation order in a diff: what only the side after has is younger than everything that was there before.

Git has no creation times, so lint treats two policies on one target, or two equal matches, as equally old. A change
does say something: the cluster already has what was there before. Only what depends on it is computed anew. Which of
two policies of the side before is the older one stays unsaid: where the one that is taken to be refused changes or
goes, what that does is not known (`undecided`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from policylint.checks.kit.order import decides
from policylint.compare.pairing import Sides, differs
from policylint.matches import matches
from policylint.model import Finding, Location, ResourceKey
from policylint.model.kinds import OLDEST_PREVAILS
from policylint.model.resource import NEW
from policylint.policy.order import order_stated
from policylint.simulation import Simulation, simulate
from policylint.topology import RouteState, whole
from policylint.topology.routes import rules

_RULES = ("GWP202", "GWP206", "GWP408")


def with_ages(side: Simulation, alone: frozenset[ResourceKey]) -> Simulation:
    """Return a side with what only it has younger than all the rest, where that can decide something."""
    new = {key for key in alone if (each := side.world.get(key)) is not None and not each.created}
    if not new or not (_meets(side, new) or _ties(side, new)):
        return side
    stamped = {}
    for key in sorted(new):
        resource = side.world.resources[key]
        body = {**resource.body, "metadata": {**resource.metadata, "creationTimestamp": NEW}}
        stamped[key] = resource.replaced(body=body)
    return simulate(side.world.with_resources(stamped), side.catalog)


def undecided(sides: Sides) -> Iterator[tuple[ResourceKey, Location, str]]:
    """Yield what changes or goes and may have prevailed: another object is taken to be older, and no manifest says so.

    Each comes with its place and the reason, in words.
    """
    before, after, pairing = sides
    for key, winner in dict.fromkeys((*_policies_taken_for_younger(before), *_routes_taken_for_younger(sides))):
        was, now = before.world.get(key), after.world.get(pairing.key(key))
        if was is not None and (now is None or now.key != key or differs(was, now, after.catalog)):
            place = was if now is None else now
            does = "goes" if now is None else "changes" if now.key == key else "is renamed, and younger for that"
            reason = f"{does}; it or {winner} was in force, whichever was created first"
            yield place.key, place.name_location, reason


def unsettled(sides: Sides) -> dict[ResourceKey, str]:
    """Return the policies that go, or get a name that makes them younger, and are taken to have been in force by their
    names alone, each with the reason why that is not certain."""
    rivals = {winner: key for key, winner in _policies_taken_for_younger(sides.before)}
    pairing, after = sides.pairing, sides.after.world
    return {
        key: f"no manifest says whether {key} was created before {other}"
        for key, other in rivals.items()
        if pairing.key(key) != key or after.get(key) is None
    }


def _policies_taken_for_younger(side: Simulation) -> Iterator[tuple[ResourceKey, ResourceKey]]:
    """Yield the policies that others keep from acting by their names alone, each with the other one."""
    for state in side.policies.values():
        yield from ((refusal.attachment.key, refusal.by) for refusal in state.refused if not refusal.stated)
    yield from ((each.otherwise, each.winner) for each in side.order_dependent if decides(each))


def _routes_taken_for_younger(sides: Sides) -> Iterator[tuple[ResourceKey, ResourceKey]]:
    """Yield the routes of before that go, are renamed or leave what they claim, and whose requests another one takes by
    its name alone."""
    left = [(state.route, claims) for state in sides.before.topology.routes if (claims := _given_up(state, sides))]
    for other in sides.before.topology.routes if left else ():
        claims = set(_claims(other))
        for route, given_up in left:
            is_first = other.route.key < route.key and not order_stated(other.route, route)
            if is_first and not claims.isdisjoint(given_up):
                yield route.key, other.route.key


def _given_up(state: RouteState, sides: Sides) -> set[tuple[object, ...]]:
    """Return what a route of before claims, and no longer does under its name."""
    now, there = sides.after.world.get(state.route.key), sides.after.topology.route(state.route.key)
    if now is not None and there is not None and not differs(state.route, now, sides.after.catalog):
        return set()
    return set(_claims(state)) - (set() if there is None else set(_claims(there)))


def _ties(side: Simulation, new: set[ResourceKey]) -> bool:
    """Return whether requests, or listeners, that a new object claims are claimed by an old one in the same words."""
    for kind in OLDEST_PREVAILS.intersection(key[:2] for key in new):
        if any(each.key not in new for each in side.world.of_kind(*kind)):
            return True
    routes = [state for state in side.topology.routes if state.route.key in new]
    if not routes:
        return False
    if any(
        each.rival is not None and (each.rival in new) != (state.route.key in new)
        for state in side.topology.routes
        for parent in state.parents
        for each in parent.candidates
    ):
        return True
    claims = {claim for state in routes for claim in _claims(state)}
    others = (state for state in side.topology.routes if state.route.key not in new)
    return any(claim in claims for state in others for claim in _claims(state))


def _claims(state: RouteState) -> Iterator[tuple[object, ...]]:
    """Yield the criteria before the age by which the rules of a route are ranked, wherever it is attached."""
    grpc = state.route.key.kind == "GRPCRoute"
    of_requests = grpc or state.route.key.kind == "HTTPRoute"
    ranks = {
        match.weights[:2] if match.expressions else match.path
        for rule in (rules(state.route) if of_requests else ())
        for match in matches(rule.body, grpc=grpc)
    } or {""}
    for parent in state.parents:
        named = [(each.node, hostname) for each in parent.candidates for hostname in each.hostnames]
        for node, hostname in named or [(whole(parent.wanted), hostname) for hostname in state.hostnames]:
            yield from ((node, hostname, state.route.key.kind, rank) for rank in ranks)


def _meets(side: Simulation, new: set[ResourceKey]) -> bool:
    """Return whether a new policy shares a target with an old one."""
    for state in side.policies.values():
        if any((refusal.attachment.key in new) != (refusal.by in new) for refusal in state.refused):
            return True
    if any(len({key in new for key in dependence.policies}) == 2 for dependence in side.order_dependent):
        return True
    for group in side.groups:
        new_or_old: dict[object, set[bool]] = defaultdict(set)
        for attachment in group.effective.stack:
            new_or_old[attachment.node].add(attachment.key in new)
        if any(len(ages) == 2 for ages in new_or_old.values()):
            return True
    return False


def with_reasons(findings: Iterable[Finding], new: frozenset[ResourceKey]) -> list[Finding]:
    """Return the findings, those about conflicts with a note that the change decided the order."""
    return [_reasoned(finding, new) if finding.rule in _RULES else finding for finding in findings]


def _reasoned(finding: Finding, new: frozenset[ResourceKey]) -> Finding:
    """Add the note to a finding about a conflict, if one of the rivals is new."""
    rivals = (finding.resources[0], finding.resources[-1])
    younger = [key for key in rivals if key in new]
    if not younger:
        return finding
    rest = [line for line in finding.help if not line.startswith("note: ")]
    if len(younger) == 2:
        first = min(key.path for key in rivals)
        note = f"note: both are new in this change; as equals, the first by name prevails: {first}"
    else:
        older = next(key for key in rivals if key not in new)
        note = f"note: {younger[0].path} is new in this change, so it is younger than {older.path}, which stays"
    return finding._replace(help=(*rest, note))
