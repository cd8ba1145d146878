"""Trace mesh traffic: from a workload to a Service, through consumer or producer routes.

Source: docs/design/request-precedence.md §9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from policylint.doors.variables import entries, entries_of, is_left_open, words
from policylint.implementations.generic.traffic import SERVER_NAMES, SUBNETS
from policylint.matches import Miss
from policylint.model import Node, Resource, ResourceKey, World, mapping, sequence, text, texts
from policylint.model.hosts import is_exported, may_name_service
from policylint.model.keys import filled_in
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.model.spelling import find, same_kind, spelled, spelling
from policylint.namedtuple import NamedTuple
from policylint.policy.authorizing import Client, Decision, Leading, Routing
from policylint.simulation.ranking import Ranking
from policylint.spaces.addresses import cidr, network_of, number_of
from policylint.topology import RouteState, whole
from policylint.topology.routes import Rule, rules
from policylint.topology.service_ports import lacks_port, port_of
from policylint.topology.workloads import WORKLOADS, services_selecting
from policylint.trace import network
from policylint.trace.consumed import taken_off
from policylint.trace.hosts import serves
from policylint.trace.nearby import nearest_rules
from policylint.trace.policies import facts
from policylint.trace.precedence import RuleCandidate, doubt, matches_at, ordered, tried
from policylint.trace.request import PORTS, Request, RequestError
from policylint.trace.result import Forwarded, Outcome, Share, Trace

if TYPE_CHECKING:
    from policylint.simulation import Simulation
    from policylint.trace.tracing import Tracer

_WORKLOADS = tuple(kind for _, kind in WORKLOADS)
_SERVICES = ("Service", "ServiceImport")
_AS_STATED = Ranking(stated=True)
_PERHAPS = (Miss("labels", "labels of the client", undecided="which labels the pods of its client have"),)
_STREAMS = {"tcp": "TCPRoute", "tls": "TLSRoute", "udp": "UDPRoute"}
"""The kind of the routes of connections, by the scheme of a request."""


def to_service(tracer: Tracer, request: Request) -> Trace:
    """Return the trace of a request to a Service.

    The client's own routes for it come first, then those of the Service's namespace; else it goes straight there.
    """
    start = Trace(request, Outcome())
    try:
        service = service_of(tracer, request)
    except RequestError:
        if "." not in request.host:
            raise
        if (told := _let_out(tracer, request)) is None or not told.refused:
            outside = network.to_outside(tracer.simulation, start, told)
            if outside is None and told is None:
                raise
            return outside or start._replace(outcome=told or Outcome())
        return start._replace(outcome=told)
    met = met_by(tracer, service, tracer.sender(request.client), request.port, request.scheme)
    if met.virtual is not None:
        why = met.doubt or "what it does with them is not evaluated"
        reason = f"{met.virtual} routes requests for {service}, and {why}"
        return start._replace(outcome=Outcome(unknown=True, reason=reason))
    resource = tracer.simulation.world.get(service)
    if resource is not None and lacks_port(resource, request.port):
        lacks = "ports" if request.port is None else f"port {request.port}"
        return start._replace(outcome=Outcome(refused=True, reason=f"{service} has no {lacks}"))
    if len(met.routes) > 1:
        reason = f"which routes of {service} count hangs on which workload of {request.client} sends it"
        return start._replace(outcome=Outcome(unknown=True, reason=reason))
    attached = {state.route.key: state for state in _routes(tracer, service, request.port)}
    chosen = [(attached[each.route], each) for each in met.routes[0]]
    if any(_is_virtual(each.route) for each in met.routes[0]) and _carries_connections(tracer, service, request.port):
        return _by_connection(tracer, start, service, chosen)
    candidates = None if request.scheme in _STREAMS else _candidates(chosen, request)
    if candidates is None:
        return _connected(tracer, start, service, [state for state, _ in chosen])
    takers = ordered(candidates)
    if why := doubt(candidates, takers):
        return start._replace(outcome=Outcome(unknown=True, reason=why))
    if not takers:
        grpc = "Unimplemented" if request.grpc else ""
        outcome = Outcome(status=404, reason="no rule of the Service's routes matches", grpc_status=grpc)
        return start._replace(outcome=outcome, nearest=nearest_rules((), candidates, request))
    winner = takers[0]
    trace = tracer.finish(start, winner, takers, (), request.port)
    if _is_virtual(winner.route.key):
        return trace
    kind = "producer" if all(each.route.namespace == service.namespace for each in met.routes[0]) else "consumer"
    return trace._replace(notes=(*trace.notes, f"{winner.route.key} is a {kind} route of {service}"))


def to_pod(tracer: Tracer, request: Request) -> Trace:
    """Return the trace of a request to a Pod: no route applies; the Service that selects it, if any, is named."""
    trace = past_services(tracer, request, straight=True)
    workload = tracer.simulation.world.get(_object(tracer, request.pod, _WORKLOADS))
    is_stream = request.scheme in ("tcp", "udp", "sctp") and request.port is not None
    services = [] if workload is None or is_stream else services_selecting(tracer.simulation.world, workload)
    if not services or request.port is not None:  # else that of the Service is meant
        trace = tracer.sent(trace)
    if not services or not trace.outcome.backends:
        return trace
    named = _direct(tracer, Trace(request, Outcome()), services[0].key, ported=False)
    shares = (Share(services[0].key, None, 1, 1.0),)  # whatever a waypoint of the Service says of it
    policies = trace.policies if trace.beyond else named.policies
    trace = trace._replace(outcome=Outcome(shares), path=named.path, policies=policies, extensions=named.extensions)
    return trace if request.port is not None else tracer.sent(trace)


def _let_out(tracer: Tracer, request: Request) -> Outcome | None:
    """Return the end of a request for a host outside, as the client's own proxy has it; None where it has none."""
    port = request.port or PORTS.get(request.scheme)
    told = tracer.admissions.let_out(request.host, tracer.sender(request.client), port)
    if told is None:
        return None
    reason = f"{told.by.key if told.by is not None else 'the mesh'}: {told.why}"
    if told.answer != "denied":
        return Outcome(unknown=True, reason=f"{reason}; what answers at {request.host} is not here")
    cut = told.resets or request.scheme != "http"
    return Outcome(status=None if cut else told.status, refused=cut, reason=reason)


def service_of(tracer: Tracer, request: Request) -> ResourceKey:
    """Return the Service that a request of the mesh is for; a RequestError says that there is none of this name."""
    return _object(tracer, request.service, _SERVICES)


def routed_by(world: World, service: ResourceKey, client: str) -> Iterator[Resource]:
    """Yield the VirtualServices of Istio that route the requests of a namespace to a Service in the mesh, or may."""
    return (each for each in routing(world, service) if is_exported(each, client) is not False)


def routing(world: World, service: ResourceKey) -> Iterator[Resource]:
    """Yield the VirtualServices that route requests for a Service inside the mesh, or may, whoever sends them.

    One of the mesh for every host (`*`) is refused (pkg/config/validation of Istio).
    """
    for virtual in world.of_kind(*VIRTUAL_SERVICE):
        hosts, gateways = (words(entries_of(virtual.body, "spec", field)) for field in ("hosts", "gateways"))
        meant = any(host != "*" and may_name_service(host, virtual.key.namespace, service) for host in hosts)
        if meant and (not gateways or any(each == "mesh" or filled_in(each, "mesh") is not None for each in gateways)):
            yield virtual


def past_services(tracer: Tracer, request: Request, *, straight: bool = False) -> Trace:
    """Return the trace of a request to a Pod, by a Service that was not seen, or straight to its address."""
    return _direct(tracer, Trace(request, Outcome()), _object(tracer, request.pod, _WORKLOADS), straight=straight)


def contenders(tracer: Tracer, request: Request) -> list[RuleCandidate]:
    """Return every match that might take a request for a Service from the same namespace, by precedence."""
    if request.scheme in _STREAMS:
        return []
    service, home = service_of(tracer, request), _namespace(tracer.simulation.world, request.client)
    attached = _routes(tracer, service, request.port)
    ((meets, _),) = tracer.admissions.counting(service, Client(), request.port, (), stream=False)
    chosen = [(state, Leading(state.route.key)) for state in _chosen(attached, service, home, meets)]
    own = [(state, Leading(state.route.key)) for state in attached if _is_virtual(state.route.key) and meets != "none"]
    candidates = [*(_candidates(chosen, request) or ()), *(_candidates(own, request) or ())]
    return sorted((each for each in candidates if each.match.grpc == request.grpc), key=lambda each: each.order)


def consumers(tracer: Tracer, service: ResourceKey, port: int | None) -> list[str]:
    """Return the namespaces whose clients have routes of their own to a port of a Service, sorted."""
    routes = (state.route.key for state in _routes(tracer, service, port))
    return sorted({key.namespace for key in routes if not _is_virtual(key)} - {service.namespace})


def server_names(tracer: Tracer, service: ResourceKey, port: int | None) -> list[str]:
    """Return the server names by which TLSRoutes lead those who connect to a port of a Service, sorted."""
    routes = _routes(tracer, service, port)
    names = {name for state in routes for name in state.hostnames if state.route.key.kind == "TLSRoute" and name}
    own = [(state, Leading(state.route.key)) for state in routes if _is_virtual(state.route.key)]
    return sorted(names.union(*(texts(match.get(SERVER_NAMES)) for *_, match in _of_connections(own))))


class MetBy(NamedTuple):
    """What the requests of a client meet before they come to a Service.

    Args:
        routes: those that count; of several alternatives it hangs on which of its workloads sends them.
        virtual: the VirtualService that may route them, where it is not known whether it does, or where to.
        doubt: why it is not; "" where that is not evaluated.
        fronts: the waypoints that they pass, each with why they may go past it.
        outside: the meshes that know nothing of the client, where others may.
        hidden: why it does not show the Service who it is, or may not.
        kept_in: why its own proxy does not send them, or may not.
        network: by backend what network policies do to all that it sends.
    """

    routes: tuple[tuple[Leading, ...], ...]
    virtual: ResourceKey | None = None
    doubt: str = ""
    fronts: tuple[tuple[Node, str], ...] = ()
    outside: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    kept_in: tuple[Decision, ...] = ()
    network: tuple[str, ...] = ()

    @property
    def is_led_by_rules(self) -> bool:
        """Whether it hangs on the rules of certain routes alone where requests end."""
        return self.virtual is None and len(self.routes) == 1 and bool(self.routes[0])

    def is_led_by(self, candidate: RuleCandidate) -> bool:
        """Return whether a match of a rule is among those of these routes."""
        own, place = candidate.route.key, _place(candidate)
        return any(each.route == own and place not in each.left_out for each in self.routes[0])


def met_by(tracer: Tracer, service: ResourceKey, client: Client, port: int | None, scheme: str) -> MetBy:
    """Return what the requests of a client to a Service, or to pods, meet before they come there."""
    world, attached = tracer.simulation.world, _routes(tracer, service, port)
    counted: set[tuple[Routing, tuple[Leading, ...] | None]] = {("none", None)}
    as_requests, by_connection = scheme not in _STREAMS, _carries_connections(tracer, service, port)
    if service.kind in _SERVICES:
        routes = [state.route for state in attached if as_requests or by_connection]
        counted = tracer.admissions.counting(service, client, port, routes, stream=not as_requests)
    meets = sorted(counted, key=repr)
    if as_requests and all(routing == "none" for routing, _ in meets) and service.kind in _SERVICES:
        as_requests, routes = False, routes if by_connection else []
        counted = tracer.admissions.counting(service, client, port, routes, stream=True)
        meets = [("none", led) for _, led in sorted(counted, key=repr)]
    read = attached if as_requests or by_connection else ()
    open_ = _left_open(world, service, client, read, sorted(counted, key=repr), as_requests=as_requests)
    listed = (
        tuple(Leading(each.route.key) for each in _chosen(attached, service, client.namespace, routing))
        if led is None
        else led
        for routing, led in meets
    )
    chosen = dict.fromkeys(listed)
    fronts = ((front.path[0], front.doubt) for front in tracer.simulation.acting.fronts_for(service, client))
    outside = tracer.simulation.clients.outside(client)
    called = world.get(service) if client.account else None
    hiding = (mesh.hides(client, called, port, world) for mesh in tracer.simulation.meshes.all if called)
    hidden = tuple(filter(None, hiding))
    own = (each.decision for each in tracer.admissions.by_own(service, client, port))
    kept_in = tuple(each for each in own if each.answer != "allowed")
    return MetBy(tuple(chosen), *open_, tuple(fronts), outside, hidden, kept_in)


def _left_open(
    world: World,
    service: ResourceKey,
    client: Client,
    attached: Sequence[RouteState],
    meets: Sequence[tuple[Routing, tuple[Leading, ...] | None]],
    *,
    as_requests: bool,
) -> tuple[ResourceKey | None, str]:
    """Return the VirtualService of which it is not known what it does with the requests of a client, and why: rules for
    connections are not evaluated at ports of requests, nor what a variable may stand for."""
    for led in chain.from_iterable(led or () for _, led in meets):
        if led.doubt:
            return led.route, f"{led.doubt} is not known"
    read = {state.route.key for state in attached}
    homes = [service.namespace if met == "producers" else client.namespace or "" for met, _ in meets if met != "none"]
    for virtual in chain.from_iterable(routed_by(world, service, home) for home in homes):
        by_requests = as_requests or any(entries(virtual, field) for field in ("tcp", "tls"))
        if virtual.key not in read and (by_requests or is_left_open(virtual)):
            return virtual.key, ""
    return None, ""


def _place(candidate: RuleCandidate) -> tuple[int, int]:
    return candidate.rule.number, candidate.match.number or 0


def _carries_connections(tracer: Tracer, service: ResourceKey, port: int | None) -> bool:
    called = tracer.simulation.world.get(service)
    routing = tracer.simulation.meshes.routing if called is not None else ()
    return any(called is not None and mesh.connections(called, port) for mesh in routing)


def _is_virtual(route: ResourceKey) -> bool:
    return route[:2] == VIRTUAL_SERVICE


def _chosen(
    attached: Sequence[RouteState], service: ResourceKey, home: str | None, meets: str
) -> tuple[RouteState, ...]:
    """Return the routes of Gateway API that count for a client of a namespace: its own, or those of the Service's."""
    attached = [each for each in attached if not _is_virtual(each.route.key)] if meets != "none" else ()
    of_client = home if meets == "all" else service.namespace
    own = tuple(state for state in attached if state.route.key.namespace == of_client != service.namespace)
    return own or tuple(state for state in attached if state.route.key.namespace == service.namespace)


def _connected(tracer: Tracer, start: Trace, service: ResourceKey, chosen: Sequence[RouteState]) -> Trace:
    """Return the trace of a connection, or of a request that no narrower kind of route is for (GEP-1426)."""
    request, telling = start.request, any(mesh.tells_requests for mesh in tracer.simulation.meshes.routing)
    kind = _STREAMS.get(request.scheme, "" if telling else "TCPRoute")
    fitting = sorted((each for each in chosen if each.route.key.kind == kind), key=lambda each: each.route.age)
    if request.scheme == "tls":
        name = request.sni or request.host
        fitting = [state for state in fitting if any(serves(name, each) for each in state.hostnames)]
    if not fitting:
        return _direct(tracer, start, service)
    from policylint.trace.layer4 import along_route

    return along_route(tracer, start, fitting[0], ())


def _by_connection(
    tracer: Tracer, start: Trace, service: ResourceKey, chosen: Sequence[tuple[RouteState, Leading]]
) -> Trace:
    """Return the trace of what the rules for connections of a mesh's own routes take, one route after the other: those
    for the narrowest block and name first, as its proxies have it."""
    request, called = start.request, tracer.simulation.world.get(service)
    address = "" if called is None else text(called.spec.get("clusterIP"))
    found: list[tuple[tuple[int, ...], RouteState, Rule]] = []
    known = set[tuple[str | None, ...]]()
    for (state, led), rule, number, match in _of_connections(chosen):
        place, names, subnets = (rule.number, number), texts(match.get(SERVER_NAMES)), texts(match.get(SUBNETS))
        if place in led.left_out or (*names, None, *subnets) in known:
            continue  # what a proxy has not, or has by another rule
        known.add((*names, None, *subnets))
        ranks = [_of_subnets(subnets, address), _of_names(names, request)]
        if -1 in ranks:
            continue
        if None in ranks or address == "None" or place in led.perhaps:
            reason = f"whether {rule.node} takes the connection hangs on what is not known of it"
            return start._replace(outcome=Outcome(unknown=True, reason=reason))
        found.append((tuple(rank or 0 for rank in ranks), state, rule))
        if not names and not subnets:
            break
    best = [each for each in found if each[0] == max(rank for rank, *_ in found)]
    if len(best) > 1 or (not best and any(each[0] is not None for each in known)):
        rivals = " or ".join(str(each.node) for *_, each in best[:2]) or "none of its rules for servers"
        reason = f"whether {rivals} takes the connection, and what its proxy does then, is not followed"
        return start._replace(outcome=Outcome(unknown=True, reason=reason))
    if not best:
        return _direct(tracer, start, service)
    from policylint.trace.layer4 import along_route

    return along_route(tracer, start, best[0][1], (), rule=best[0][2])


def _of_connections(
    chosen: Sequence[tuple[RouteState, Leading]],
) -> Iterator[tuple[tuple[RouteState, Leading], Rule, int, Mapping[str, Any]]]:
    """Yield the matches of rules for connections, in order."""
    for each in chosen:
        for rule in rules(each[0].route):
            for number, match in enumerate(map(mapping, sequence(rule.body.get("matches")))):
                yield each, rule, number, match


def _of_names(names: Sequence[str], request: Request) -> int | None:
    """Return how closely the names of servers name the one that a connection asks for: -1 for not at all, None where
    that is not known."""
    if not names or request.scheme not in ("tls", "http"):
        return None if names else 0
    asked = (request.sni or request.host).lower() if request.scheme == "tls" else ""
    fitting = [each for each in names if each == "*" or serves(asked, each.lower())]
    return max((1 if each == "*" else len(each) + 1_000 * (each[0] != "*") for each in fitting), default=-1)


def _of_subnets(subnets: Sequence[str], address: str) -> int | None:
    """Return the length of the block that an address is in, 0 where none is asked for; -1 for none of them, None where
    that is not known."""
    ranges, number = [cidr(network_of(each)) for each in subnets], number_of(address)
    if not subnets or number is None or None in ranges:
        return None if subnets else 0
    sizes = (each.high - each.low for each in ranges if each is not None and each.low <= number < each.high)
    return max((200 - size.bit_length() for size in sizes), default=-1)


def _candidates(chosen: Sequence[tuple[RouteState, Leading]], request: Request) -> list[RuleCandidate] | None:
    """Return the matches of some routes for a request or a call; None where no route is for it."""
    virtuals = [(state, led) for state, led in chosen if _is_virtual(state.route.key)]
    if virtuals:
        return [
            each._replace(misses=each.misses or _PERHAPS, place=place)
            if _place(each) in led.perhaps
            else each._replace(place=place)
            for place, (state, led) in enumerate(virtuals)
            for each in tried(matches_at([(state.route, state.hostnames)], request.host, ranking=_AS_STATED), request)
            if _place(each) not in led.left_out
        ]
    states = [state for state, _ in chosen]
    calls = request.grpc and any(state.route.key.kind == "GRPCRoute" for state in states)
    kind = "GRPCRoute" if calls else "HTTPRoute"
    listed = [(state.route, state.hostnames) for state in states if state.route.key.kind == kind]
    taken = listed or any(state.route.key.kind in ("GRPCRoute", "HTTPRoute") for state in states)
    return list(tried(matches_at(listed, request.host, grpc=calls), request)) if taken else None


def _routes(tracer: Tracer, service: ResourceKey, port: int | None) -> list[RouteState]:
    """Return the routes whose parentRef is the Service, on a port where they name one."""
    attached = {
        state.route.key: state
        for parent, state in tracer.in_mesh.get(service, ())
        if (parent.accepted or parent.resolution.unknown) and (None in (parent.port, port) or parent.port == port)
    }
    return list(attached.values())


def _direct(
    tracer: Tracer, start: Trace, service: ResourceKey, *, ported: bool = True, straight: bool = False
) -> Trace:
    """Return the trace of traffic that reaches the Service, or pods by their address, without any route."""
    request = start.request
    port = request.port if ported else None
    section = port_of(tracer.simulation.world.get(service), port, "")[1]
    share = Share(service, port, 1, 1.0, (), section)
    path = tuple(filter(None, (whole(service), section)))
    asked = ("", "", "") if request.scheme in _STREAMS else (request.method, request.host, request.path)
    trace = start._replace(
        outcome=Outcome((share,)),
        path=path,
        forwarded=Forwarded(*asked, dict(request.headers)),
        response=dict(sorted(request.backend_headers)),
        policies=tracer.met(start, (), [share], facts(request)),
        beyond=tracer.beyond(start)(share),
        extensions=tracer.policies.extensions((), [share], ""),
    )
    trace, client = taken_off(trace, trace.policies), tracer.client(start)
    return tracer.admissions.applied(trace, client, asked_for=service, straight=straight)


def _object(tracer: Tracer, name: str, kinds: tuple[str, ...]) -> ResourceKey:
    if kinds not in tracer.named:
        known = [key for key in tracer.simulation.world.resources if key.kind in kinds]
        tracer.named[kinds] = {spelled(key): key for key in known}
    named = tracer.named[kinds]
    if name in named:
        return named[name]
    known = list(named.values())
    matching = find(name, known)
    if len(matching) == 1:
        return matching[0]
    from policylint.trace.considered import ambiguous

    raise RequestError(ambiguous(name, spelling(name).kind or kinds[0], matching, known))


def client(simulation: Simulation, name: str) -> Client:
    """Return who a client is: a workload, all that run as a ServiceAccount, a namespace, or UNMESHED."""
    world, found = simulation.world, simulation.clients.named(name)
    if found is not None and (not found.callers or found.namespace is not None):
        return found
    parsed = spelling(name)
    is_workload = any(same_kind(parsed.kind, kind) for kind in _WORKLOADS)
    if parsed.kind and not is_workload and not find(name, world.resources):
        raise RequestError(f"--from takes Kind/namespace/workload, and {parsed.kind} is no kind of workload")
    return Client(None, _namespace(world, name) or None, original=True)


def _namespace(world: World, client: str) -> str:
    """Return the namespace of a client; the workload itself need not be among the manifests."""
    if client == "":
        return ""
    parsed = spelling(client)
    if parsed.kind and same_kind(parsed.kind, "Namespace"):
        return parsed.name
    if parsed.namespace is not None:
        return parsed.namespace
    matching = find(client, world.resources)
    if len(matching) == 1:
        return text(matching[0].namespace)
    raise RequestError(f"--from takes Kind/namespace/workload, not {client!r}")
