"""What becomes of a guardrail in one environment: what breaks it, what may, and what makes it hold (GWP320)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from policylint.guardrails.mesh import ANYBODY, NOBODY, MeshEntry
from policylint.guardrails.reading import OUTSIDE, Guardrail, RequestPattern, any_names, names
from policylint.guardrails.takers import Takers
from policylint.model import Location, Resource, ResourceKey, is_symbolic
from policylint.model.spelling import spelled
from policylint.model.words import shortened
from policylint.namedtuple import NamedTuple
from policylint.network.endpoints import Endpoint
from policylint.network.state import Network
from policylint.reach import (
    Door,
    EntryPoint,
    Named,
    WayIn,
    asked,
    doors,
    end_in_words,
    entries_at,
    in_words,
    is_grpc,
    request_in,
    ways_in,
)
from policylint.simulation import Simulation
from policylint.spaces.boxes import Box, intersect, is_empty, merged, subtract
from policylint.topology.hostnames import patterns, without_port
from policylint.topology.workloads import workloads_selected
from policylint.trace import Asked, Request, Requirements, Tracer

RULE = "GWP320"
_MOST_PAIRS = 100_000
"""Pairs of ends that one guardrail asks about; beyond, it is unknown."""
_ISSUERS = ("issuer", "issuerurl", "issueruri")
"""Fields of those whose tokens are taken, in lower case: `issuer` (Istio), `issuerUrl` (Kuadrant), `issuerURI`."""
_UNKNOWN = {
    "unknown": "it is not known which pods the network policies select",
    "in the mesh": "it is not known whether the mesh lets them in",
}


class Breach(NamedTuple):
    """Requests or connections that a guardrail forbids, or that are not asked for what it demands.

    Args:
        what: the requests or ends, in words.
        why: what happens to them instead.
        resource: what is responsible, and `location` where.
        shows: the arguments of `policylint trace` that show it, () for what no request shows.
        unknown: why it is not known; "" where it is so.
        ground: what was not seen and might make it otherwise, though nothing suggests that; "" where it is certain.
    """

    what: str
    why: str
    resource: ResourceKey
    location: Location
    shows: tuple[str, ...] = ()
    unknown: str = ""
    ground: str = ""


class Exempted(NamedTuple):
    """What one exception of a guardrail is about.

    Args:
        passing: the requests that it lets pass, though they break the guardrail or may, in words.
        asked: whether some of its requests are asked all the same.
    """

    passing: tuple[str, ...] = ()
    asked: bool = False

    @property
    def nothing(self) -> str:
        """Why it lets nothing pass, of one that does not."""
        return "all of these requests are asked anyway" if self.asked else "no such request reaches a backend"


class GuardrailVerdict(NamedTuple):
    """One guardrail in one environment.

    Args:
        looked_at: how many sets of requests, or pairs of ends, it is about.
        held: what makes it hold, in words, with how often.
        exempted: what each of its exceptions is about.
    """

    guardrail: Guardrail
    looked_at: int
    breaches: tuple[Breach, ...]
    held: tuple[tuple[str, int], ...]
    exempted: tuple[Exempted, ...] = ()

    @property
    def state(self) -> str:
        """broken, unknown, idle (it is about nothing here) or holds."""
        if any(not breach.unknown for breach in self.breaches):
            return "broken"
        return "unknown" if self.breaches else "holds" if self.looked_at else "idle"


def verdicts(simulation: Simulation, guardrails: Sequence[Guardrail]) -> Iterator[GuardrailVerdict]:
    """Yield the verdict on each guardrail; those about requests share the work."""
    room = (
        _Requests(simulation)
        if any(
            guardrail.form == "ask" or guardrail.is_by_address or OUTSIDE in guardrail.sources
            for guardrail in guardrails
        )
        else None
    )
    is_of_connections = any(each.form != "ask" for each in guardrails)
    mesh = MeshEntry(Tracer(simulation, nearest=False, by_identity=True)) if is_of_connections else None
    for guardrail in guardrails:
        tally = _Tally(guardrail)
        if guardrail.form == "ask":
            assert room is not None
            room.ask(tally)
        elif guardrail.is_by_address:
            assert room is not None
            room.by_address(tally)
        else:
            assert mesh is not None
            if OUTSIDE in guardrail.sources and guardrail.form == "never":
                assert room is not None
                room.from_outside(tally)
            _connections(simulation, tally, mesh)
        yield tally.verdict()


class _Tally:
    """What was found of one guardrail so far."""

    def __init__(self, guardrail: Guardrail) -> None:
        self.guardrail = guardrail
        self.looked_at = 0
        self.breaches: list[Breach] = []
        self.held: dict[str, int] = {}
        self.exempted = [Exempted() for _ in guardrail.exceptions]

    def hold(self, why: str) -> None:
        self.looked_at += 1
        self.held[why] = self.held.get(why, 0) + 1

    def breach(self, breach: Breach) -> None:
        self.looked_at += 1
        self.breaches.append(breach)

    def verdict(self) -> GuardrailVerdict:
        held = tuple(sorted(self.held.items()))
        return GuardrailVerdict(self.guardrail, self.looked_at, tuple(self.breaches), held, tuple(self.exempted))


class _Requests:
    """The ways into one environment, for guardrails about requests."""

    def __init__(self, simulation: Simulation) -> None:
        self._tracer = Tracer(simulation, nearest=False)
        self._simulation = self._tracer.simulation
        self._requirements = Requirements(self._tracer)
        self._doors = doors(self._tracer)
        self._takers = Takers(self._simulation.topology, self._doors)
        self._by_host: dict[Door, dict[str, list[EntryPoint]]] = {}

    def _entries(self, hosts: Iterable[str]) -> Iterator[EntryPoint]:
        """Yield all entries, the hosts that a guardrail names told apart."""
        for door, named in self._doors.items():
            more: Named = {} if door[1] in ("tcp", "udp") else {host: set() for host in hosts}
            yield from entries_at(door, {**more, **named})

    def _meant(self, guardrail: Guardrail) -> Iterator[EntryPoint]:
        """Yield the entries at which requests may be meant; those for one host are looked up, where both are many."""
        host = guardrail.requests.host
        if not host or host.startswith("*") or is_symbolic(host):
            yield from (entry for entry in self._entries(guardrail.hosts) if guardrail.requests.meets(entry))
            return
        for door, named in self._doors.items():
            if door not in self._by_host:
                found = self._by_host[door] = {}
                for entry in entries_at(door, named):
                    found.setdefault(without_port(entry.host), []).append(entry)
            known = self._by_host[door].get(patterns([host])[0])
            if known is None:
                known = [] if door[1] in ("tcp", "udp") else list(entries_at(door, [host]))
            for entry in known:
                if guardrail.requests.meets(entry):
                    yield entry

    def ask(self, tally: _Tally) -> None:
        """Judge a guardrail that demands to ask of all of some requests."""
        guardrail = tally.guardrail
        self._tracer.contended = self._tracer.questions = 0
        for entry in self._meant(guardrail):
            unasked: dict[object, tuple[WayIn, Asked, list[Box]]] = {}
            exceptions = {
                pattern: number for number, pattern in enumerate(guardrail.exceptions) if pattern.meets(entry)
            }
            ways = list(ways_in(self._tracer, entry, guardrail.stated))
            self._doubt(tally, entry, ways)
            for way in ways:
                ended = way.trace.outcome
                boxes = _meant(way, guardrail.requests, exceptions, self._takers.of(way))
                if not way.taken or not (ended.backends or ended.unknown):
                    continue
                if not boxes and not exceptions:
                    continue
                given = self._asked(way, guardrail)
                self._exempt(tally, way, exceptions, is_asked=given.state == "asked")
                if not boxes:
                    continue
                if given.state == "asked":
                    tally.hold(str(given))
                else:
                    route = None if way.trace.route is None else way.trace.route.key
                    alike = (route, str(given), given.state, is_grpc(way.dimensions))
                    unasked.setdefault(alike, (way, given, []))[2].extend(boxes)
            for way, given, boxes in unasked.values():
                tally.breach(self._unasked(way, boxes, given, guardrail))

    def _exempt(self, tally: _Tally, way: WayIn, exceptions: Mapping[RequestPattern, int], *, is_asked: bool) -> None:
        """Note what exceptions are about of the requests of a way."""
        own = _meant(way, tally.guardrail.requests, (), self._takers.of(way))
        for pattern, number in exceptions.items():
            passing = [box for each in own if not is_empty(box := intersect(each, pattern.box(way)))]
            if not passing or not pattern.takes_route(way):
                continue
            known = tally.exempted[number]
            if is_asked:
                tally.exempted[number] = known._replace(asked=True)
                continue
            words = in_words(way.dimensions, merged(passing))
            what = f"{_through(way.entry, words)} to {end_in_words(way.trace)}"
            if what not in known.passing:
                tally.exempted[number] = known._replace(passing=(*known.passing, what))

    def _doubt(self, tally: _Tally, entry: EntryPoint, ways: Sequence[WayIn]) -> None:
        """Count as unknown where a rule may take requests that no sample shows: expressions are not told apart."""
        pattern = next((way.undecided[0] for way in ways if way.undecided), None)
        if pattern is None:
            return
        shown = {way.trace.rule for way in ways}
        for candidate in self._tracer.contenders(request_in(entry)):
            if candidate.rule.node not in shown:
                shown.add(candidate.rule.node)
                place = candidate.route.location(*candidate.pointer)
                unknown = f"policylint cannot tell these requests apart: {shortened(pattern)}"
                what = _through(entry, "in part")
                tally.breach(
                    Breach(what, f"may be taken by {candidate.rule.node}", candidate.route.key, place, (), unknown)
                )

    def _asked(self, way: WayIn, guardrail: Guardrail) -> Asked:
        if guardrail.ask == "backendTLS":
            return Asked("asked" if way.trace.backend_tls else "unknown" if way.trace.outcome.unknown else "open")
        if guardrail.ask != "issuer":
            return asked(self._requirements, way, guardrail.ask)
        given = asked(self._requirements, way, "authentication")
        others = [
            issuer
            for met in way.trace.policies
            for ask in met.asks
            if ask.purpose == "authentication"
            for issuer in _issuers(met.group.effective.spec, ask.path)
        ]
        if given.state == "asked" and (guardrail.issuer not in others or set(others) != {guardrail.issuer}):
            return Asked("open", given.demands)
        return given

    def _unasked(self, way: WayIn, boxes: list[Box], given: Asked, guardrail: Guardrail) -> Breach:
        words = in_words(way.dimensions, merged(boxes))
        what = _through(way.entry, words)
        wanted = f"token of {guardrail.issuer}" if guardrail.issuer else guardrail.ask
        asks = f"{given._replace(ground='')} and no {wanted}" if given.demands else f"no {wanted}"
        resource, location = self._place(way)
        shows = _shown(
            request_in(way.entry, way.dimensions, boxes[0], grpc=is_grpc(way.dimensions))
            if way.dimensions
            else way.trace.request
        )
        unknown = (given.why or "their backend is not known") if given.state == "unknown" else ""
        why = f"{asks} on the way to {end_in_words(way.trace)}"
        return Breach(what, why, resource, location, shows, unknown, given.ground)

    def from_outside(self, tally: _Tally) -> None:
        """Judge a guardrail by which nothing outside may get to some backends."""
        guardrail = tally.guardrail
        for entry in self._entries(()):
            ways = list(ways_in(self._tracer, entry))
            self._doubt(tally, entry, ways)
            for way in ways:
                trace = way.trace
                hit = [key for key in trace.outcome.backends if self._is_target(key, guardrail.target)]
                if hit and guardrail.port in (None, *(share.port for share in trace.outcome.shares)):
                    what = _through(entry, way.requests)
                    resource, location = self._place(way)
                    unknown = f"{entry.gateway} was not seen" if entry.port is None else trace.unsettled
                    why = f"reaches {', '.join(map(str, hit))}"
                    tally.breach(Breach(what, why, resource, location, _shown(trace.request), unknown))
                elif trace.outcome.unknown and (may := self._hit(way, guardrail)):
                    self._judge(tally, way, list(way.boxes), may)
        for service in self._simulation.world.of_kind("", "Service"):
            if self._is_target(service.key, guardrail.target) and not tally.breaches:
                tally.hold(f"no way in leads to {service.key}")

    def by_address(self, tally: _Tally) -> None:
        """Judge a guardrail about which clients may get to some backends, by their addresses.

        It is about requests through Gateways, and Services that are published by themselves.
        """
        guardrail = tally.guardrail
        if RequestPattern() in guardrail.exceptions:
            return  # everybody may
        for entry in self._entries(()):
            ways = list(ways_in(self._tracer, entry, guardrail.stated))
            self._doubt(tally, entry, ways)
            for way in ways:
                hit = self._hit(way, guardrail)
                boxes = _meant(way, guardrail.requests, guardrail.exceptions, self._takers.of(way)) if hit else []
                if boxes:
                    self._judge(tally, way, boxes, hit)
        for service in self._simulation.world.of_kind("", "Service"):
            if self._is_target(service.key, guardrail.target) and not tally.breaches:
                tally.hold(f"no other way in leads to {service.key}")

    def _hit(self, way: WayIn, guardrail: Guardrail) -> list[ResourceKey]:
        """Return what a guardrail names of the backends of a way."""
        backends = self._takers.backends(way)
        keys = dict.fromkeys(key for key, port in backends if guardrail.port in (None, port))
        return [key for key in keys if self._is_target(key, guardrail.target)]

    def _judge(self, tally: _Tally, way: WayIn, boxes: list[Box], hit: list[ResourceKey]) -> None:
        """Judge the requests of a way that must not get to what they are sent to."""
        trace = way.trace
        if not trace.outcome.backends and not trace.outcome.unknown:
            tally.hold(end_in_words(trace))
            return
        open_question = next((judged.decision.why for judged in trace.depends), "")
        open_question = open_question or ("it depends on what was not seen" if trace.authorization == "depends" else "")
        unknown = trace.outcome.reason if trace.outcome.unknown else open_question
        unknown = unknown or (f"{way.entry.gateway} was not seen" if way.entry.port is None else trace.unsettled)
        words = in_words(way.dimensions, merged(boxes))
        resource, location = self._place(way, hit)
        grpc = is_grpc(way.dimensions)
        shown = request_in(way.entry, way.dimensions, boxes[0], grpc=grpc) if way.dimensions else trace.request
        what = _through(way.entry, words)
        tally.breach(Breach(what, f"reaches {', '.join(map(str, hit))}", resource, location, _shown(shown), unknown))

    def _is_target(self, key: ResourceKey, target: str) -> bool:
        """Return whether a backend is what a guardrail names, or has the pods of a workload that it names."""
        if names(target, key):
            return True
        service = self._simulation.world.get(key) if key[:2] == ("", "Service") else None
        selected = [] if service is None else workloads_selected(self._simulation.world, service)
        return any(names(target, workload.key) for workload in selected)

    def _place(self, way: WayIn, hit: Collection[ResourceKey] = ()) -> tuple[ResourceKey, Location]:
        """Return the rule that takes the requests of a way; the Gateway where none is known to.

        Of a Gateway that was not seen the first route that may take them, and leads to what was hit.
        """
        trace = way.trace
        if trace.route is not None:
            return trace.route.key, trace.route.location(*trace.rule_pointer)
        state = self._simulation.topology.gateway(way.entry.gateway)
        if state is not None:
            return state.gateway.key, state.gateway.name_location
        routes = self._takers.at(way.entry)
        leading = (each for each in routes if not set(hit).isdisjoint(key for key, _ in self._takers.behind(each)))
        route = next(leading, routes[0])
        return route.key, route.name_location


def _through(entry: EntryPoint, words: str) -> str:
    """Return requests in words with where they come in; connections without TLS have no host."""
    return f"{entry.hosts} {words} through {entry.gateway}".lstrip()


def _meant(
    way: WayIn, pattern: RequestPattern, exceptions: Iterable[RequestPattern], takers: Iterable[Resource]
) -> list[Box]:
    """Return the requests of a way that a guardrail means.

    Args:
        takers: the routes that may take them; an exception is made for none of several.
    """
    if not any(pattern.means(route.key) for route in takers) and not pattern.takes_route(way):
        return []
    left_out = [exception for exception in exceptions if exception.takes_route(way)]
    if not way.dimensions:
        return [] if any(not exception.predicates for exception in left_out) else [()]
    wanted = pattern.box(way)
    boxes = [box for own in way.boxes if not is_empty(box := intersect(own, wanted))]
    for exception in left_out:
        boxes = list(chain.from_iterable(subtract(box, exception.box(way)) for box in boxes))
    return boxes


def _issuers(spec: object, path: str) -> Iterator[str]:
    """Yield the issuers that a setting names."""
    from policylint.model import mapping
    from policylint.model.resource import value_at

    stack = [value_at(mapping(spec), tuple(path.split(".")))]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            named = (each for name, each in value.items() if str(name).lower() in _ISSUERS)
            yield from (each for each in named if isinstance(each, str))
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)


def _shown(request: Request) -> tuple[str, ...]:
    from policylint.trace.request import arguments

    return arguments(request)


def _connections(simulation: Simulation, tally: _Tally, mesh: MeshEntry) -> None:
    """Judge a guardrail about connections between workloads."""
    guardrail = tally.guardrail
    network = simulation.network
    ends = network.universe.endpoints
    services = [each for each in simulation.world.of_kind("", "Service") if names(guardrail.target, each.key)]
    behind = {workload.key for service in services for workload in workloads_selected(simulation.world, service)}
    pods = [(number, end) for number, end in enumerate(ends[:-2]) if end.is_pod]
    targets = [number for number, end in pods if end.key in behind or names(guardrail.target, end.key)]
    allowed = [number for number, end in pods if any(any_names(guardrail.sources, key) for key in _called(end))]
    if guardrail.form == "only":
        within = {*allowed, *targets}
        sources = [number for number, end in enumerate(ends[:-2]) if end.is_pod and number not in within]
        if OUTSIDE not in guardrail.sources:
            sources += [len(ends) + number for number in range(network.universe.addresses.all.bit_count())]
    else:
        sources = allowed
    ports = network.universe.ports.all if guardrail.port is None else network.universe.ports.at("TCP", guardrail.port)
    places = {target: place for target in targets if (place := _written(ends[target].resource)) is not None}
    if len(sources) * len(places) > _MOST_PAIRS:
        target, place = next(iter(places.items()))
        why = "there are too many pairs of workloads"
        tally.breach(Breach(f"{len(sources)} ends", "may connect", ends[target].key, place, unknown=why))
        return
    for target, place in places.items():
        for source in sources:
            verdict = _verdict(network, source, target, ports)
            if verdict == "denied":
                tally.hold(f"network policies block others from {ends[target]}")
                continue
            caller = ends[source].resource if source < len(ends) else None
            clients = ANYBODY if source < len(ends) else NOBODY
            answer, by = mesh.of(ends[target].resource, guardrail.port, caller, clients)
            if answer == "denied":
                tally.hold(f"{by} blocks others from {ends[target]}")
            else:
                verdict = "in the mesh" if answer == "unknown" and verdict == "allowed" else verdict
                tally.breach(
                    _connected(guardrail, ends[source] if source < len(ends) else None, ends[target], place, verdict)
                )


def _called(end: Endpoint) -> list[ResourceKey]:
    """Return by what a pod may be called: its workload, and its ServiceAccount."""
    return [end.key, ResourceKey("", "ServiceAccount", end.namespace, end.account)] if end.account else [end.key]


def _verdict(network: Network, source: int, target: int, ports: int) -> str:
    """Return whether an end gets to another one on any of some ports: allowed, denied or unknown."""
    perhaps = False
    restricted = source < len(network.universe.endpoints) - 2
    senders = network.row(source, "egress") if restricted else ()
    for taker in network.row(target, "ingress"):
        if not taker.ports & ports or not taker.allowed >> source & 1:
            continue
        if not restricted:
            if not taker.denied >> source & 1:
                return "allowed"
            perhaps = True
        for sender in senders:
            if sender.ports & taker.ports & ports and sender.allowed >> target & 1:
                if not (sender.denied >> target | taker.denied >> source) & 1:
                    return "allowed"
                perhaps = True
    return "unknown" if perhaps else "denied"


def _connected(
    guardrail: Guardrail, source: Endpoint | None, target: Endpoint, place: Location, verdict: str
) -> Breach:
    """Return a connection that there must not be; a source that is no end is an address outside."""
    named = "an address outside" if source is None else str(source)
    at = "" if guardrail.port is None else f" on port {guardrail.port}"
    shows: tuple[str, ...] = ()
    if source is not None and source.role == target.role == "workload" and guardrail.port is not None:
        shows = ("--from", spelled(source.key), "--to", spelled(target.key), "--port", str(guardrail.port))
    unknown = _UNKNOWN.get(verdict, "")
    return Breach(named, f"may connect to {target}{at}", target.key, place, shows, unknown)


def _written(resource: Resource | None) -> Location | None:
    return None if resource is None else resource.name_location
