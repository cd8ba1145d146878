"""Who may reach the routes of a graph: without a login, from some addresses alone, with one, nobody, or not known.

Read from the ways that `reach` lists; the worst way of a route through a Gateway is what is said of it there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from policylint.doors import with_doors
from policylint.model import ResourceKey, mapping, sequence
from policylint.model.words import count, listing
from policylint.namedtuple import NamedTuple
from policylint.reach import WayIn, all_ways, asked, end_in_words, is_for_anybody
from policylint.simulation import Simulation
from policylint.topology import RouteState
from policylint.trace import Requirements, Tracer, login_in_words

State = Literal["open", "addresses", "unknown", "login", "closed"]
STATES: Final[Mapping[State, str]] = {
    "open": "no login",
    "addresses": "no login, only some addresses",
    "unknown": "login not known",
    "login": "login",
    "closed": "no request gets to a backend",
}
"""State → its words in the legend, the worst first."""
_COUNTED: Final[Mapping[State, tuple[str, str]]] = {
    "open": ("is open without a login", "are open without a login"),
    "addresses": ("is open to some addresses", "are open to some addresses"),
    "login": ("asks for a login", "ask for a login"),
    "unknown": ("is not known", "are not known"),
    "closed": ("lets no request through", "let no request through"),
}
MOST_MATCHES: Final = 4_000
"""Matches of routes beyond which the page does not tell who may reach them."""
_WORST = list(STATES)


class Exposure(NamedTuple):
    """Who may reach a route through a Gateway, or at all.

    Args:
        gateway: None where no Gateway leads to the route.
        hosts: the hosts that are meant, as `reach` writes them.
        words: what is asked of its requests, with what makes that so.
    """

    environment: str
    gateway: ResourceKey | None
    route: ResourceKey
    hosts: tuple[str, ...]
    state: State
    words: str


def exposures(simulations: Sequence[Simulation]) -> list[Exposure] | None:
    """Return who may reach each route through each Gateway, or other door; None where there are too many to tell."""
    simulations = [with_doors(simulation) for simulation in simulations]
    routes = [state.route for simulation in simulations for state in simulation.topology.routes]
    rules = [mapping(rule) for route in routes for rule in sequence(route.spec.get("rules"))]
    if sum(max(1, len(sequence(rule.get("matches")))) for rule in rules) > MOST_MATCHES:
        return None
    return [exposure for simulation in simulations for exposure in _of(simulation)]


def _of(simulation: Simulation) -> Iterator[Exposure]:
    environment = simulation.world.name
    requirements = Requirements(Tracer(simulation, nearest=False))
    found: dict[tuple[ResourceKey, ResourceKey], dict[tuple[State, str], list[WayIn]]] = {}
    for way in all_ways(simulation):
        if way.taken and way.trace.route is not None:
            at = found.setdefault((way.entry.gateway, way.trace.route.key), {})
            at.setdefault(_told(requirements, way), []).append(way)
    for (gateway, route), told in found.items():
        ways = [way for same in told.values() for way in same]
        hosts = tuple(dict.fromkeys(way.entry.hosts for way in ways))
        yield Exposure(environment, gateway, route, hosts, *_worst(told, len(ways)))
    reached = {route for _, route in found}
    for state in simulation.topology.routes:
        if state.route.key not in reached:
            yield Exposure(environment, None, state.route.key, state.hostnames, *_unreached(state))


def _told(requirements: Requirements, way: WayIn) -> tuple[State, str]:
    """Return who may send the requests of a way, and what is asked of them."""
    outcome = way.trace.outcome
    if not outcome.backends and not outcome.unknown:
        return "closed", end_in_words(way.trace)
    given = asked(requirements, way, "authentication")
    words = login_in_words(given)
    if given.state == "asked":
        return "login", words
    if given.state == "unknown":
        return "unknown", words
    if way.boxes and not any(is_for_anybody(way.dimensions, box) for box in way.boxes):
        return "addresses", f"{words}, {way.clients}"
    return "open", words


def _worst(told: Mapping[tuple[State, str], Sequence[WayIn]], ways: int) -> tuple[State, str]:
    """Return the worst of what is told, and on how many of the ways it is so, where others are better."""
    (state, words), same = min(told.items(), key=lambda entry: (_WORST.index(entry[0][0]), entry[0][1]))
    alike = sum(len(found) for (other, _), found in told.items() if other == state)
    if alike == ways or all(other in (state, "closed") for other, _ in told):
        return state, words
    some = next(way for way in same)
    return state, f"{words} on {alike} of {ways} ways: {some.requests or some.entry.hosts}"


def _unreached(state: RouteState) -> tuple[State, str]:
    """Return why no Gateway that was seen leads to a route."""
    doubts = [parent.resolution.reason for parent in state.parents if parent.resolution.unknown]
    unseen = [str(parent.unseen.key) for parent in state.parents if parent.unseen is not None]
    if unseen or doubts:
        return "unknown", f"login: unknown ({unseen[0]} was not seen)" if unseen else f"login: unknown ({doubts[0]})"
    if any(parent.mesh for parent in state.parents):
        return "closed", "inside the mesh only"
    return "closed", "no listener takes it"


def of_routes(found: Iterable[Exposure]) -> dict[tuple[str, ResourceKey], Exposure]:
    """Return what is worst of each route, by environment."""
    worst: dict[tuple[str, ResourceKey], Exposure] = {}
    for exposure in found:
        known = worst.setdefault((exposure.environment, exposure.route), exposure)
        if _WORST.index(exposure.state) < _WORST.index(known.state):
            worst[exposure.environment, exposure.route] = exposure
    return worst


def headline(states: Sequence[State], severities: Iterable[str]) -> str:
    """Return the state of some routes in one sentence: `9 of 12 routes are open without a login; 2 warnings`."""
    many = Counter(states)
    told = [f"{many[state]} {_COUNTED[state][many[state] > 1]}" for state in _COUNTED if many[state]]
    if told and len(states) > 1:
        first = next(state for state in _COUNTED if many[state])
        every = many[first] == len(states)
        number = (
            ("both routes" if len(states) == 2 else f"all {len(states)} routes")
            if every
            else f"{many[first]} of {len(states)} routes"
        )
        told[0] = f"{number} {_COUNTED[first][many[first] > 1]}"
    elif told:
        told[0] = told[0].replace("1 ", "1 route ", 1)
    worst = Counter(severities)
    found = [count(worst[severity], severity) for severity in ("error", "warning") if worst[severity]]
    return "; ".join([*([listing(told)] if told else []), *([listing(found)] if found else [])])


def about_unseen(simulations: Sequence[Simulation]) -> str:
    """Return what was not seen that may bring further routes; "" where nothing may."""
    reasons = (reason for simulation in simulations for reason in simulation.world.unseen.bringing_routes())
    bringing = list(dict.fromkeys(reason.partition(" may ")[0].partition(" makes ")[0] for reason in reasons))
    return f"{listing(bringing, most=3)} may bring more routes" if bringing else ""


def entries(found: Iterable[Exposure], box_of: Mapping[tuple[str, ResourceKey], Sequence[int]]) -> list[list[Any]]:
    """Return what the page holds of each route that is drawn: Gateway, box, hosts, state and words."""
    rows = []
    for exposure in found:
        for box in box_of.get((exposure.environment, exposure.route), ())[:1]:
            gateway = "" if exposure.gateway is None else str(exposure.gateway)
            at = box_of.get((exposure.environment, exposure.gateway), ()) if exposure.gateway is not None else ()
            rows.append([gateway, next(iter(at), -1), box, list(exposure.hosts), exposure.state, exposure.words])
    return rows
