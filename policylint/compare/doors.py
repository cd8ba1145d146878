"""New doors to pods that stand behind a login elsewhere: Ingresses, published Services, ports of nodes (GWP325)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from policylint.compare.pairing import Sides
from policylint.doors import is_door, with_doors
from policylint.model import Finding, Related, Resource, ResourceKey
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.reach import WayIn, asked, entries_of_routes, ways_to
from policylint.simulation import Simulation
from policylint.topology import BackendState, RouteState
from policylint.topology.workloads import is_workload, workloads_selected
from policylint.trace import Asker, Requirements, Tracer
from policylint.trace.request import arguments

RULE = "GWP325"


class _Lead(NamedTuple):
    """A door's object that leads to pods; requests for hosts that others had are compared as such (`moves`)."""

    door: ResourceKey
    route: ResourceKey
    pods: ResourceKey
    hosts: frozenset[str]


def doors_past_logins(sides: Sides) -> Iterator[Finding]:
    """Yield an error for each new door to pods of which every way asked for a login before, and that asks for none."""
    after = with_doors(sides.after)
    if after is sides.after:
        return
    before = with_doors(sides.before)
    known = set(_leads(before))
    hosts = {host for state in before.topology.routes for host in state.hostnames if host}
    new = [lead for lead in _leads(after) if _as_before(sides, lead) not in known and lead.hosts.isdisjoint(hosts)]
    if not new:
        return
    sought = _Side(before), _Side(after)
    by_route: dict[tuple[ResourceKey, ResourceKey], dict[ResourceKey, None]] = {}
    for lead in new:
        by_route.setdefault((lead.door, lead.route), {})[lead.pods] = None
    for (door, route), pods in by_route.items():
        logins = sought[0].logins({sides.pairing.was(each) for each in pods})
        way = sought[1].without_login(route, door, set(pods)) if logins else None
        if way is not None:
            yield _finding(sides, door, pods, way, logins)


def _as_before(sides: Sides, lead: _Lead) -> _Lead:
    was = sides.pairing.was
    return lead._replace(door=was(lead.door), route=was(lead.route), pods=was(lead.pods))


class _Side:
    """What is asked on the ways to some pods, on one side."""

    def __init__(self, simulation: Simulation) -> None:
        self._tracer = Tracer(simulation, nearest=False)
        self._requirements = Requirements(self._tracer)
        self._entries = entries_of_routes(self._tracer)

    def logins(self, pods: Collection[ResourceKey]) -> list[Asker]:
        """Return what is asked on all ways to pods; nothing where some way asks for no login, or is not known to."""
        world = self._tracer.simulation.world
        if any(world.get(key) is None for key in pods):
            return []
        found: dict[Asker, None] = {}
        for way in self._ways(pods):
            given = asked(self._requirements, way, "authentication")
            if given.state != "asked":
                return []
            found.update(dict.fromkeys(given.demands))
        return list(found)

    def without_login(self, route: ResourceKey, door: ResourceKey, pods: Collection[ResourceKey]) -> WayIn | None:
        """Return a way through a door that gets to pods without a login."""
        for way in self._ways(pods, route):
            if way.entry.gateway == door and asked(self._requirements, way, "authentication").state == "open":
                return way
        return None

    def _ways(self, pods: Collection[ResourceKey], route: ResourceKey | None = None) -> Iterator[WayIn]:
        topology = self._tracer.simulation.topology
        leading = dict.fromkeys(
            state.route.key
            for state in topology.routes
            if route in (None, state.route.key)
            and any(not pods_of(self._tracer.simulation, backend).isdisjoint(pods) for backend in state.backends)
        )
        for key in leading:
            for way in ways_to(self._tracer, self._entries.get(key, ()), key):
                behind = {
                    pod for share in way.trace.outcome.backends for pod in _selected(self._tracer.simulation, share)
                }
                if not behind.isdisjoint(pods):
                    yield way


def pods_of(simulation: Simulation, backend: BackendState) -> set[ResourceKey]:
    """Return the workloads behind a backend."""
    return set() if backend.role != "backend" else _selected(simulation, backend.wanted)


def _selected(simulation: Simulation, key: ResourceKey) -> set[ResourceKey]:
    resource = simulation.world.get(key)
    if resource is None:
        return set()
    if is_workload(key.group, key.kind):
        return {key}
    return {workload.key for workload in workloads_selected(simulation.world, resource)} if _is_service(key) else set()


def _is_service(key: ResourceKey) -> bool:
    return key[:2] == ("", "Service")


def _leads(simulation: Simulation) -> Iterator[_Lead]:
    """Yield which door leads to which pods, and by which object."""
    for state in simulation.topology.routes:
        for door in _doors_of(state):
            for backend in state.backends:
                for pod in pods_of(simulation, backend):
                    yield _Lead(door, state.route.key, pod, frozenset(filter(None, state.hostnames)))


def _doors_of(state: RouteState) -> Iterable[ResourceKey]:
    return {parent.gateway for parent in state.parents if parent.gateway is not None and is_door(parent.gateway)}


def _finding(
    sides: Sides, door: ResourceKey, pods: Collection[ResourceKey], way: WayIn, logins: list[Asker]
) -> Finding:
    trace = way.trace
    assert trace.route is not None
    state = with_doors(sides.after).topology.gateway(door)
    holder: Resource = trace.route
    opens = f"{door} and {holder.key}" if holder.key != door else str(door)
    names = listing(map(str, logins), most=3)
    place = trace.route.location(*trace.rule_pointer)
    if holder.key == door and state is not None:
        place = state.gateway.name_location
    owners = [each.policy for each in logins if each.policy is not None]
    here = sides.after.policies
    related = [
        Related(f"{key} asks for it on the other ways", here[key].policy.name_location) for key in owners if key in here
    ]
    request = " ".join(f"'{word}'" if " " in word else word for word in arguments(trace.request))
    return Finding(
        RULE,
        "error",
        f"{listing(map(str, sorted(pods)))} can be reached without a login through {opens}",
        place,
        resources=tuple(dict.fromkeys((holder.key, *pods, *owners))),
        label=f"all other ways ask for {names}",
        related=tuple(related[:4]),
        help=(f"see: policylint trace {request}",),
        environments=(sides.after.world.name,),
    )


__all__ = ["doors_past_logins"]
