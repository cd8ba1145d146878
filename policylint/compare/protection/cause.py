"""A GWP304 finding from one cause and the contexts it reaches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from policylint.checks.kit.wording import listing
from policylint.compare.attachment import rules_of
from policylint.compare.sides import Sides
from policylint.model import Finding, Location, Node, Related, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation

RULE = "GWP304"
_MOST_RELATED = 4
Path = tuple[Node, ...]


class Cause(NamedTuple):
    """What makes a protection weaker, the same for all it reaches.

    Args:
        field: as a person would look for it, e.g. `jwt.optional`.
        change: what happened to it, e.g. `goes from false to true`.
        says: what that means, one clause.
        owners: whose setting it is.
        winners: who prevails over it, where that is why it is gone.
        location: where it is written now; None where nothing is left of it.
        before: where it was written before.
        fix: what to do instead, one clause.
        severity: where a purpose is still served.
        void: the purpose that is served no longer, "" where something still serves it.
    """

    field: str
    change: str
    says: str
    owners: tuple[ResourceKey, ...]
    winners: tuple[ResourceKey, ...] = ()
    location: Location | None = None
    before: Location | None = None
    fix: str = ""
    severity: Literal["warning", "note"] = "warning"
    void: str = ""


Weaker = tuple[Cause, str, Path]
"""A cause, the purpose that it leaves unserved on a way, "" for none, and the way."""


def is_unseen(sides: Sides, before: Iterable[ResourceKey], after: Iterable[ResourceKey]) -> bool:
    """Whether one of the policies that acted before does no longer, is still there, and whom it is for was not seen."""
    acting = set(after)
    states = (sides.after.policies.get(sides.pairing.key(each)) for each in before)
    return any(
        state is not None and state.key not in acting and any(each.resolution.unknown for each in state.targets)
        for state in states
    )


class Behind:
    """The routes that are attached to a Gateway or listener, or that hand requests to a backend, after the change."""

    __slots__ = ("_after", "_routes")

    def __init__(self, after: Simulation) -> None:
        self._after = after
        self._routes: dict[Node | ResourceKey, set[ResourceKey]] | None = None

    def of(self, node: Node) -> set[ResourceKey]:
        """The routes behind a node of a context."""
        if self._routes is None:
            self._routes = defaultdict(set)
            for state in self._after.topology.routes:
                for listener in (each for parent in state.parents for each in parent.attached):
                    self._routes[listener].add(state.route.key)
                    self._routes[listener.key].add(state.route.key)
                for each in state.backends:
                    self._routes[each.wanted].add(state.route.key)
        attached = node.section and node.key.kind != "Service"
        return self._routes.get(node if attached else node.key, set())


class Reach:
    """Whom a cause reaches: routes with their rules, else what it acts on itself."""

    __slots__ = ("others", "routes")

    def __init__(self) -> None:
        self.routes: dict[ResourceKey, set[Node]] = {}
        self.others: set[ResourceKey] = set()

    def add(self, behind: Behind, path: Path) -> None:
        """A context by its path."""
        last = path[-1]
        if last.key.kind.endswith("Route"):
            rules = {node for node in path if node.role.endswith("Rule")}
            self.routes.setdefault(last.key, set()).update(rules)
            return
        found = behind.of(last)
        for route in found:
            self.routes.setdefault(route, set())
        if not found:
            self.others.add(last.key)

    def join(self, other: Reach) -> None:
        """What another one reaches too."""
        for route, rules in other.routes.items():
            self.routes.setdefault(route, set()).update(rules)
        self.others |= other.others


def finding(sides: Sides, cause: Cause, reach: Reach) -> Finding:
    """The finding of one cause."""
    routes = sorted(reach.routes)
    concerned = routes or sorted(reach.others)
    first = concerned[0]
    owners = listing([str(each) for each in cause.owners])
    who = str(first) if len(concerned) == 1 else _counted(concerned)
    some = _some(sides, reach) if len(routes) == 1 else ""
    if cause.void:
        said = f"{who} {'has' if len(concerned) == 1 else 'have'} no {cause.void} in effect any more{some}"
    else:
        said = f"{who} {'is' if len(concerned) == 1 else 'are'} protected less{some}"
    related = [Related("it was written here before the change", cause.before)] if cause.before is not None else []
    location = cause.location
    for key in concerned:
        resource = sides.after.world.get(key)
        if resource is not None and location is None:
            location = resource.name_location
        elif resource is not None:
            related.append(Related(f"{key} is concerned", resource.name_location))
    assert location is not None
    return Finding(
        RULE,
        "error" if cause.void else cause.severity,
        f"{said}: {cause.field} of {owners} {cause.change}, {cause.says}",
        location,
        resources=(first, *cause.owners, *cause.winners),
        label=f"{cause.winners[0]} prevails over it" if cause.winners else cause.says,
        related=tuple(related[:_MOST_RELATED]),
        help=(f"fix: {cause.fix}",),
        confidence="assumed" if sides.after.world.movable else "certain",
        field=cause.field,
        environments=(sides.after.world.name,),
    )


def _counted(keys: list[ResourceKey]) -> str:
    kinds = {each.kind for each in keys}
    if all(each.endswith("Route") for each in kinds):
        return f"{len(keys)} routes"
    return f"{len(keys)} {kinds.pop()}s" if len(kinds) == 1 else f"{len(keys)} objects"


def _some(sides: Sides, reach: Reach) -> str:
    ((route, rules),) = reach.routes.items()
    every = rules_of(sides.after, route)
    return f" in {len(rules)} of its {len(every)} rules" if rules and len(rules & every) < len(every) else ""
