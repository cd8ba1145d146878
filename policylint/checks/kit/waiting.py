"""Requests that end while nothing comes, before the time is over that they may take (GWP526).

Envoy's timer of streams runs while a backend works on its answer (docs: faq/configuration/timeouts, «Stream timeouts»).
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.cel.functions import UndecidedError, duration
from policylint.model import Location, Node, ResourceKey, text, value_at
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Effective, Group
from policylint.simulation import Simulation
from policylint.simulation.serving import attached
from policylint.topology import RouteState
from policylint.topology.ancestry import implementation_of
from policylint.topology.routes import rules


class Time(NamedTuple):
    """How long something may take; nothing says so where it has no place."""

    written: str
    holder: ResourceKey | None = None
    place: Location | None = None

    @property
    def length(self) -> int:
        """In nanoseconds; 0 where there is no limit, or none that can be read."""
        try:
            return int(duration(self.written))
        except UndecidedError:
            return 0


class EndedEarly(NamedTuple):
    """A route with a rule whose requests may take longer than they may wait."""

    route: RouteState
    whole: Time
    idle: Time


def cuts(simulation: Simulation) -> Iterator[EndedEarly]:
    """Yield the routes whose requests are cut off, each once per place that says how long they may wait."""
    idle, whole = _by_policies(simulation)
    own = {node: time for route in simulation.topology.routes for node, time in _of_rules(route)}
    unstated: dict[Node, Time] = {}
    found: set[tuple[ResourceKey, Location | None]] = set()
    for route, candidate in attached(simulation) if own or whole else ():
        node = candidate.node
        for rule in rules(route.route):
            takes = [each for each in (own.get(rule.node), whole.get((node, rule.node))) if each is not None]
            if not takes:
                continue
            waits = idle.get((node, rule.node)) or idle.get((node, None)) or unstated.get(node)
            if waits is None:
                waits = unstated[node] = _unstated(simulation, node)
            least = min(takes, key=lambda each: each.length)
            place = (route.route.key, waits.place)
            if 0 < waits.length < least.length and place not in found:
                found.add(place)
                yield EndedEarly(route, least, waits)


def _of_rules(route: RouteState) -> Iterator[tuple[Node, Time]]:
    """Yield the rules of a route that say themselves how long a request may take."""
    for rule in rules(route.route):
        if written := text(value_at(rule.body, ("timeouts", "request"))):
            place = route.route.location("spec", "rules", rule.number, "timeouts", "request")
            yield rule.node, Time(written, route.route.key, place)


def _unstated(simulation: Simulation, node: Node) -> Time:
    """Return how long requests may wait at a listener of which nothing says so."""
    listener = simulation.topology.listener(node)
    key = None if listener is None else listener.gateway
    gateway = None if key is None else simulation.topology.gateway(key)
    name = None if gateway is None else implementation_of(gateway, simulation.catalog)
    return Time(simulation.catalog.idles(name or ""))


_Times = dict[tuple[Node, Node | None], Time]


def _by_policies(simulation: Simulation) -> tuple[_Times, _Times]:
    """Return what effective policies say of waiting and of the whole, by listener and rule; None for every rule."""
    idle: _Times = {}
    whole: _Times = {}
    for group in simulation.groups:
        for times, path in ((idle, group.kind.waits.get("idle")), (whole, group.kind.waits.get("whole"))):
            stated = _stated(group.effective, path) if path else None
            for place in _places(group) if stated is not None else ():
                times[place] = stated  # type: ignore[assignment]
    return idle, whole


def _stated(effective: Effective, path: str) -> Time | None:
    place = tuple(path.split("."))
    written = text(value_at(effective.spec, place))
    return Time(written, effective.owners.get(place), effective.location_of(place)) if written else None


def _places(group: Group) -> Iterator[tuple[Node, Node | None]]:
    """Yield the listeners, with the rules, at which a policy acts."""
    for path in group.contexts():
        below = next((number for number, node in enumerate(path) if node.key.kind.endswith("Route")), len(path))
        listener = path[below - 1]
        yield listener, path[-1] if below < len(path) else None
