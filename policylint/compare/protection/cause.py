"""The finding of GWP304 for one cause and the contexts that it reaches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from policylint.checks.confidence import NOT_RENDERED
from policylint.checks.kit.locations import target_at
from policylint.compare.attachment import rules_of
from policylint.compare.pairing import Sides
from policylint.model import SEVERITIES, Finding, Location, Node, Related, ResourceKey, Severity
from policylint.model.words import count, listing
from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation

RULE = "GWP304"
_MOST_RELATED = 4
Path = tuple[Node, ...]


class Cause(NamedTuple):
    """A change that makes a protection weaker, the same for all that it reaches.

    Args:
        field: as a person would look for it, e.g. `jwt.optional`.
        change: what happened to it, e.g. `goes from false to true`.
        says: what that means, one clause.
        owners: the policies that set it.
        winners: the policies that prevail over it, where it is gone for that reason.
        location: where it is written now; None where nothing is left of it.
        before: where it was written before.
        fix: what to do instead, one clause.
        severity: where a purpose is still served.
        void: the purpose that is no longer served, "" where something still serves it.
        own: whether it concerns the object at the end of a way, and not the routes behind it.
        settings: the top-level settings of policies that it is about.
        drops: whether it is a condition that a login no longer has: whoever did not meet it gets in.
        ground: what was not seen of what it is concerned with, "" where all was.
    """

    field: str
    change: str
    says: str
    owners: tuple[ResourceKey, ...]
    winners: tuple[ResourceKey, ...] = ()
    location: Location | None = None
    before: Location | None = None
    fix: str = ""
    severity: Severity = "warning"
    void: str = ""
    own: bool = False
    settings: frozenset[str] = frozenset()
    drops: bool = False
    ground: str = ""


WeakenedWay = tuple[Cause, str, Path]
"""A cause, the purpose that it leaves unserved on a way ("" for none), and the way, a path of the topology."""


def target_place(state: PolicyState) -> Location:
    """Return where a policy names its first target, else its name."""
    return target_at(state.policy, state.targets[0]) if state.targets else state.policy.name_location


def is_unseen(sides: Sides, before: Iterable[ResourceKey], after: Iterable[ResourceKey]) -> bool:
    """Return whether a policy that acted before acts no longer, is still there, and has targets that were not seen."""
    states = (sides.after.policies.get(sides.pairing.key(key)) for key in before)
    idle = [state for state in states if state is not None and state.key not in set(after)]
    return any(target.resolution.unknown for state in idle for target in state.targets)


class RoutesBehind:
    """The routes that are attached to a Gateway or listener, or that send requests to a backend, after the change."""

    __slots__ = ("_after", "_routes")

    def __init__(self, after: Simulation) -> None:
        self._after = after
        self._routes: dict[Node | ResourceKey, set[ResourceKey]] | None = None

    def of(self, node: Node) -> set[ResourceKey]:
        """Return the routes behind a node of a context."""
        if self._routes is None:
            self._routes = defaultdict(set)
            for state in self._after.topology.routes:
                for listener in state.attached:
                    self._routes[listener].add(state.route.key)
                    self._routes[listener.key].add(state.route.key)
                for backend in state.backends:
                    self._routes[backend.wanted].add(state.route.key)
        attached = node.section and node.key.kind != "Service"
        return self._routes.get(node if attached else node.key, set())


class AffectedObjects:
    """The objects that a cause affects: routes with their rules or, where there are none, the nodes that it acts on."""

    __slots__ = ("others", "routes")

    def __init__(self) -> None:
        self.routes: dict[ResourceKey, set[Node]] = defaultdict(set)
        self.others: set[ResourceKey] = set()

    def add(self, routes_behind: RoutesBehind | None, path: Path) -> None:
        """Add what a context affects, by its path: what it ends in, and without `routes_behind` nothing behind that."""
        last = path[-1]
        is_route = last.key.kind.endswith("Route")
        routes = {last.key} if is_route else set() if routes_behind is None else routes_behind.of(last)
        for route in routes:
            self.routes[route].update(node for node in path if is_route and node.role.endswith("Rule"))
        if not routes:
            self.others.add(last.key)

    def join(self, other: AffectedObjects) -> None:
        """Add all that another one holds."""
        for route, rules in other.routes.items():
            self.routes[route] |= rules
        self.others |= other.others


class Weakened(NamedTuple):
    """A cause, and the objects that it affects."""

    cause: Cause
    affected: AffectedObjects


def finding(sides: Sides, weakened: Weakened, effect: Severity | None = None, *, opens: bool = False) -> Finding:
    """Return the finding of one cause.

    Args:
        effect: how bad it is for requests, None where it changes nothing for them.
        opens: whether some get in that did not: then it is no milder than that.
    """
    cause, affected_objects = weakened
    routes = sorted(affected_objects.routes)
    affected = routes or sorted(affected_objects.others)
    first = affected[0]
    owners = listing([str(owner) for owner in cause.owners])
    subject = str(first) if len(affected) == 1 else _counted(affected)
    share = share_of_rules(sides.after, *next(iter(affected_objects.routes.items()))) if len(routes) == 1 else ""
    if cause.void:
        change = f"{subject} {'has' if len(affected) == 1 else 'have'} no {cause.void} in effect any more{share}"
    else:
        change = f"{subject} {'is' if len(affected) == 1 else 'are'} less protected{share}"
    related = [Related("it was written here before the change", cause.before)] if cause.before is not None else []
    location = located(sides.after, affected, cause.location, related, "is concerned")
    worst: Severity = "error" if cause.void or effect == "error" or (effect and cause.drops) else cause.severity
    severity = min(worst, (effect if opens else None) or "note", key=SEVERITIES.index)
    return Finding(
        RULE,
        severity,
        f"{change}: {cause.field} of {owners} {cause.change}, {cause.says}",
        location,
        resources=(first, *cause.owners, *cause.winners),
        label=f"{cause.winners[0]} prevails over it" if cause.winners else cause.says,
        related=tuple(related[:_MOST_RELATED]),
        help=(f"fix: {cause.fix}",),
        confidence="assumed" if cause.ground or sides.after.world.movable else "certain",
        ground=cause.ground or (NOT_RENDERED if sides.after.world.movable else ""),
        field=cause.field,
        environments=(sides.after.world.name,),
    )


def _counted(keys: list[ResourceKey]) -> str:
    """Return several objects in words: `3 routes`, `2 Services`."""
    kinds = {key.kind for key in keys}
    if all(kind.endswith("Route") for kind in kinds):
        return count(len(keys), "route")
    return count(len(keys), kinds.pop() if len(kinds) == 1 else "object")


def share_of_rules(after: Simulation, route: ResourceKey, rules: set[Node]) -> str:
    """Return ` in 1 of its 3 rules` where a route is affected in part, else ""."""
    every = rules_of(after, route)
    return f" in {len(rules)} of its {len(every)} rules" if rules and len(rules & every) < len(every) else ""


def located(
    after: Simulation, keys: Iterable[ResourceKey], location: Location | None, related: list[Related], says: str
) -> Location:
    """Return a location, else that of the first object's name; add the other objects to `related`.

    Where none of them is there, as a door of which the Service stands in the files, it is the first of `related`.
    """
    for key in keys:
        resource = after.world.get(key)
        if resource is not None and location is None:
            location = resource.name_location
        elif resource is not None:
            related.append(Related(f"{key} {says}", resource.name_location))
    location = location or next((each.location for each in related), None)
    assert location is not None
    return location
