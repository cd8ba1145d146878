"""Trace a request: the listener, the route, the rule, the policies and the backend that it reaches.

Reads one Simulation and recomputes nothing: attachment, backends and effective policies are the simulation's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, islice

from policylint.catalog.login_proxies import is_of_login
from policylint.doors import DOOR_GUARDS, PUBLISHED, is_door, is_inside, proxies, with_doors
from policylint.doors.out_of_sight import OutOfSight
from policylint.doors.variables import entries, undetermined
from policylint.implementations.generic.headers import admitted
from policylint.model import Node, Resource, ResourceKey, is_symbolic, mapping, sequence
from policylint.model.kinds import WAYS_IN
from policylint.model.spelling import spelled
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.policy.authorizing import CLIENT, Client, RequestFacts, RequestQuestion
from policylint.policy.bindings import ObjectBinding
from policylint.simulation import Simulation
from policylint.simulation.certificates import CertificateDemands
from policylint.simulation.ranking import Ranking, narrowing, ranking, sharing, stops
from policylint.simulation.serving import assumed, attached, closed_listeners, not_served
from policylint.spaces.predicates import Predicate
from policylint.topology import Candidate, GatewayState, ListenerState, ParentState, RouteState, whole
from policylint.topology.ancestry import implementation_of
from policylint.topology.hostnames import EVERY, specificity, without_port
from policylint.topology.login_proxies import is_proxy
from policylint.topology.routes import HOSTNAME_KINDS
from policylint.trace import layer4, mesh, network
from policylint.trace.admissions import PAST_MESHES, Admissions
from policylint.trace.answering import Responder, telling_apart
from policylint.trace.backends import BackendTls, taken_for_granted
from policylint.trace.considered import ambiguous, ends, notes_on, other_gateways, others_considered, preference
from policylint.trace.consumed import taken_off
from policylint.trace.hosts import is_exact, may_be, serves, taken_to_be
from policylint.trace.listeners import Selection, of_unstated_port, select
from policylint.trace.nearby import nearest_hosts, nearest_listeners, nearest_rules
from policylint.trace.policies import Policies, facts
from policylint.trace.precedence import RuleCandidate, doubt, matches_at, ordered, together, tried
from policylint.trace.request import Request, RequestError
from policylint.trace.result import Considered, Judged, Met, Outcome, Share, Trace

_SPEAKING = {"HTTP": "HTTPRoute", "HTTPS": "HTTPRoute", "TLS": "TLSRoute", "TCP": "TCPRoute", "UDP": "UDPRoute"}
"""As which kind of route the rules of a door count at a port of it."""
_MOST_SERVED = 8
_MOST_DELEGATED = 10_000
"""Matches of delegated routes of one host that requests are told apart by."""
_NOTHING = (-1, 0)
"""Less than the specificity of any hostname."""


class _Served(NamedTuple):
    """What a listener serves for a host.

    Args:
        routes: with the hostnames that they serve there.
        doubtful: the routes of which it is not known whether they are attached, with the reason.
        matches: those of their rules, tried on no request.
    """

    routes: Sequence[tuple[Resource, Sequence[str]]]
    doubtful: dict[ResourceKey, str]
    matches: Sequence[RuleCandidate]


class Tracer:
    """Traces requests through one environment; what many requests need is indexed once.

    Args:
        nearest: whether near misses are looked for where nothing matches: all routes are looked at for each.
        doors: whether requests come in beside Gateways, too.
        by_identity: whether of requests past every Service only proxies are asked, by whatever way they come there:
            clients show who they are, and the network has no say.

    Attributes:
        contended: how many matches were asked for one question, for whoever has to stop somewhere.
        questions: how many questions of policies were answered for it.
        authorizes: whether any policy or proxy may ask who sends a request.
        networks_ask: whether network policies ask anything of requests.
        named: by kinds, the objects that requests through the mesh may name, as they are spelled in full.
        in_mesh: the routes of clients in the mesh, by the Service that is their parent.
        met_inside: by entry, what the requests of accounts meet there, for `reach`.
    """

    def __init__(
        self, simulation: Simulation, *, nearest: bool = True, doors: bool = True, by_identity: bool = False
    ) -> None:
        self._nearest, self._by_identity = nearest, by_identity
        self.contended = self.questions = 0
        simulation = with_doors(simulation) if doors else simulation
        self.simulation, self.topology = simulation, simulation.topology
        self.tls = BackendTls(simulation)
        self.responder = Responder(simulation, self.tls)
        self.policies = Policies(simulation)
        self.admissions = Admissions(simulation)
        self.certificates = CertificateDemands(simulation)
        self.out_of_sight = OutOfSight(self.topology)
        self.named: dict[tuple[str, ...], dict[str, ResourceKey]] = {}
        self.in_mesh: dict[ResourceKey, list[tuple[ParentState, RouteState]]] = defaultdict(list)
        self.met_inside: dict[object, Mapping[Predicate, mesh.MetBy]] = {}
        self._attached: dict[Node, list[tuple[RouteState, Candidate]]] = defaultdict(list)
        self._of_kinds: dict[tuple[Node, tuple[str, ...]], list[tuple[RouteState, Candidate]]] = {}
        self._open: dict[ResourceKey, list[RouteState]] = defaultdict(list)
        for state, candidate in attached(simulation):
            self._attached[candidate.node].append((state, candidate))
        routes = simulation.topology.routes
        self._anywhere = [each for each in routes if any(map(is_symbolic, entries(each.route, "parentRefs")))]
        for state in routes:
            for parent in state.parents:
                if parent.section_found is None and is_symbolic(parent.section):
                    self._open[parent.wanted].append(state)
            for parent in (parent for parent in state.parents if parent.mesh):
                self.in_mesh[parent.wanted].append((parent, state))
        self._exact: dict[tuple[Node, tuple[str, ...]], dict[str, list[tuple[int, str | None]]]] = {}
        self._served: dict[tuple[Node, str, str], _Served] = {}
        self._proxies: dict[ResourceKey, list[ListenerState]] = {}
        self._selections: dict[tuple[object, ...], Selection] = {}
        self._by_host: dict[ResourceKey, dict[str, list[int]]] = {}
        self._rankings: dict[ResourceKey | None, Ranking] = {}
        self._of_sets: dict[ResourceKey, list[ListenerState]] = defaultdict(list)
        for listener in chain.from_iterable(each.listeners for each in simulation.topology.listener_sets):
            if listener.gateway is not None:
                self._of_sets[listener.gateway].append(listener)
        self._narrowing = partial(narrowing, simulation)
        self._spelled: dict[str, ResourceKey] = {}
        self._asking: dict[tuple[ResourceKey, int | None], bool] = {}
        self._senders: dict[str, Client] = {}
        self.networks_ask = network.asks(simulation)
        self.authorizes = self.admissions.any or self.policies.authorize or self.networks_ask

    def trace(self, request: Request, among: Sequence[RuleCandidate] | None = None) -> Trace:
        """Return the trace of one request.

        Args:
            among: the contenders that may take it, by precedence, where it is known that no other one does.

        Raises:
            RequestError: it names a Gateway, Service or workload that does not exist.
        """
        if request.pod:
            return mesh.to_pod(self, request)
        if request.service:
            return self.sent(mesh.to_service(self, request))
        at_gateways = (self._at_gateway(gateway, request, among) for gateway in self._gateways(request))
        traces = list(map(self.sent, at_gateways))
        best = min(traces, key=preference)
        notes = [*best.notes, *(other_gateways(best, traces) if len(traces) > 1 else ())]
        if not request.gateway and best.rule is None:
            of_kind = self.simulation.world.of_kind
            unread = [name for kind, (_, name, is_known) in WAYS_IN.items() if not is_known and of_kind(*kind)]
            notes += [f"{listing(unread)} may take it, and are not read"] if unread else []
        return best._replace(notes=tuple(notes)) if len(notes) > len(best.notes) else best

    def _connected(self, trace: Trace) -> Trace:
        if trace.request.scheme in PAST_MESHES:
            return trace
        client = None if trace.gateway is not None else self.client(trace)
        own = () if client is None or client.workload is None else (client.workload,)
        return self.tls.connected(trace, own or (() if client is None else client.callers))

    def past_services(self, request: Request) -> Trace:
        """Return the trace of a request to the pods of a workload that it names in full, past every Service."""
        if self._by_identity:
            return mesh.past_services(self, request)
        return self.sent(mesh.past_services(self, request, straight=True))

    def sent(self, trace: Trace) -> Trace:
        """Return a trace with how its backends are connected to, and with its way through the network."""
        return network.along(self.simulation, self._connected(trace))

    def knows(self, gateway: ResourceKey) -> bool:
        """Return whether a Gateway, or a Service in the mesh, is there, or is named by what is."""
        if is_inside(gateway):
            return gateway in self.simulation.world.resources
        return self.topology.gateway(gateway) is not None or gateway in self.topology.unseen

    def attached(self, listener: ListenerState, *kinds: str) -> list[tuple[RouteState, Candidate]]:
        """Return the routes of some kinds that a listener serves, with their candidates."""
        place = (listener.node, kinds)
        if place not in self._of_kinds:
            attached = self._attached.get(listener.node, [])
            if listener.gateway is not None and is_door(listener.gateway):
                self._of_kinds[place] = attached if _SPEAKING.get(listener.protocol) in kinds else []
            else:
                self._of_kinds[place] = [pair for pair in attached if pair[0].route.key.kind in kinds]
        return self._of_kinds[place]

    def serving(self, listener: ListenerState, host: str, *kinds: str) -> list[tuple[RouteState, Candidate, list[str]]]:
        """Return the routes of some kinds at a listener that may serve a host, each with those of its names that may;
        most name other hosts outright."""
        attached, place = self.attached(listener, *kinds), (listener.node, kinds)
        if place not in self._exact:
            self._exact[place] = defaultdict(list)
            for number, (state, candidate) in enumerate(attached):
                counts = listener.protocol not in ("TCP", "UDP") and state.route.key.kind != "TCPRoute"
                for name in candidate.hostnames or (None,):
                    self._exact[place][name if counts and name and is_exact(name) else EVERY].append((number, name))
        by_host, names = self._exact[place], defaultdict[int, list[str]](list)
        for number, name in (*by_host.get(EVERY, ()), *by_host.get(without_port(host), ())):
            names[number] += () if name is None else (name,)
        return [(*attached[number], names[number]) for number in sorted(names)]

    def _at_host(self, listener: ListenerState, kind: str, host: str) -> _Served:
        """Return what serves a host; of the last ones it is kept, since many requests for one host come in a row."""
        place = (listener.node, kind, host)
        if place not in self._served:
            if len(self._served) >= _MOST_SERVED:
                self._served.clear()
            attached = self.serving(listener, host, kind)
            routes = [(state.route, names) for state, _, names in attached]
            doubtful = {state.route.key: candidate.unknown for state, candidate, _ in attached if candidate.unknown}
            gateway = None if listener.gateway is None else self.topology.gateway(listener.gateway)
            ranked = self._ranking(gateway)
            found = []
            for each in matches_at(routes, host, self._narrowing, ranked, grpc=kind == "GRPCRoute"):
                status, why = self.responder.unserved(each.route, each.rule, listener.gateway)
                found.append(each._replace(unmade=why) if status == 404 else each)
            if ranked.by.calls_by_path and kind == "HTTPRoute":
                calls = self._at_host(listener, "GRPCRoute", host)
                doubtful |= calls.doubtful
                found += calls.matches
            if kind == "HTTPRoute" or not ranked.by.calls_by_path:  # else it is read with all others
                made = together([each for each in found if not each.unmade], ranked)
                found = [*made, *(each for each in found if each.unmade)]
            self._served[place] = _Served(routes, doubtful, found)
        return self._served[place]

    def contenders(self, request: Request) -> list[RuleCandidate]:
        """Return every match that might take a request for the same host at the same place, by precedence.

        They are GRPCRoutes' for gRPC calls and HTTPRoutes' for all others; none where no listener takes the request.
        Where the proxy does not tell calls from other requests, all are among those of the others.

        Args:
            request: at a Gateway or for a Service that it names in full.
        """
        if request.service or request.pod:
            return mesh.contenders(self, request) if request.service else []
        (key,) = self._gateways(request)
        gateway = self.topology.gateway(key)
        kind = "GRPCRoute" if request.grpc else "HTTPRoute"
        candidates: Iterable[RuleCandidate]
        if gateway is None:
            served = [(each.route, each.hostnames) for each, _ in self.out_of_sight.naming(key, request, kind)]
            candidates = matches_at(served, request.host, self._narrowing, grpc=request.grpc)
        else:
            listener = self._selected(gateway, request).listener
            told_apart = not request.grpc or not self._ranking(gateway).by.calls_by_path
            asked = listener if told_apart else None
            candidates = () if asked is None else self._at_host(asked, kind, request.host).matches
        ranked = sorted(candidates, key=lambda candidate: candidate.order)
        if gateway is None or not self.responder.is_flat(key):
            return ranked
        leaves = [leaf for each in ranked for leaf in self.responder.leaves(each, request)]
        return [*sorted(leaves, key=lambda leaf: leaf.order), *ranked]  # what none of them takes the first one answers

    def delegated(self, candidates: Iterable[RuleCandidate], request: Request) -> list[RuleCandidate]:
        """Return the matches of the routes that the rules of some matches delegate to, as they count below them."""
        parents = candidates if self.topology.delegations else ()
        below = chain.from_iterable(self.responder.below(candidate, request) for candidate in parents)
        return list(islice(below, _MOST_DELEGATED))

    def demands_certificate(self, request: Request) -> bool:
        """Return whether the listener that takes a request at the Gateway it names demands a client certificate."""
        if request.service or request.pod:
            return False
        (key,) = self._gateways(request)
        gateway = self.topology.gateway(key)
        listener = None if gateway is None else self._selected(gateway, request).listener
        if gateway is None or listener is None:
            return False
        return bool(self.certificates.at(self._holding(listener, gateway), listener))

    def path(self, listener: ListenerState) -> tuple[Node, ...]:
        """Return the nodes above a route: class, Gateway, ListenerSet, listener."""
        nodes: list[Node] = []
        if listener.gateway is not None:
            gateway = self.topology.gateway(listener.gateway)
            if gateway is not None and gateway.class_resolution.resource is not None:
                nodes.append(whole(gateway.class_key))
            nodes.append(whole(listener.gateway))
        if listener.holder.key != listener.gateway:
            nodes.append(whole(listener.holder.key))
        return (*nodes, listener.node)

    def _gateways(self, request: Request) -> list[ResourceKey]:
        """Return the Gateway that the request names, else all of them; those that were not seen come last."""
        if request.gateway in self._spelled:
            return [self._spelled[request.gateway]]
        keys = [*(state.gateway.key for state in self.topology.gateways), *self.topology.unseen]
        if not request.gateway:
            keys = [key for key in keys if key.kind not in PUBLISHED] or keys  # these have addresses of their own
            if not keys:
                refused = [each.sentence for each in self.simulation.refused.values()]
                but = f" ({refused[0] if len(refused) == 1 else f'the API server refuses {len(refused)} objects'})"
                but = but if refused else ""
                raise RequestError(f"there is no Gateway here{but}; --from WORKLOAD asks about mesh traffic")
            return keys
        from policylint.model.spelling import find

        if not self._spelled:
            self._spelled.update((spelled(key), key) for key in reversed(keys))
        if request.gateway in self._spelled:
            return [self._spelled[request.gateway]]
        matching = find(request.gateway, keys)
        if len(matching) == 1:
            return matching
        raise RequestError(ambiguous(request.gateway, "Gateway", matching, keys))

    def listeners(self, gateway: GatewayState) -> list[ListenerState]:
        """Return the merged list of a Gateway: its own listeners, then those of its ListenerSets."""
        return [*gateway.listeners, *self._of_sets.get(gateway.gateway.key, ())]

    def holders(self, gateway: GatewayState) -> list[Resource]:
        """Return what holds the listeners of a Gateway: itself, and its ListenerSets."""
        key = gateway.gateway.key
        sets = (each for each in self.topology.listener_sets if each.parent == key)
        return [gateway.gateway, *(each.listener_set for each in sets)]

    def _at_proxy(self, gateway: GatewayState) -> list[ListenerState]:
        """Return the listeners of the proxy that takes requests for a Gateway: those of all Gateways that share it."""
        key = gateway.gateway.key
        if key not in self._proxies:
            shared = (self.topology.gateway(other) for other in self._sharing[key] if other != key)
            states = (gateway, *filter(None, shared))
            self._proxies[key] = [listener for state in states for listener in self.listeners(state)]
        return self._proxies[key]

    @cached_property
    def _sharing(self) -> Mapping[ResourceKey, Sequence[ResourceKey]]:
        return sharing(self.simulation)

    @cached_property
    def _closed(self) -> Mapping[Node, str]:
        return closed_listeners(self.simulation)

    @cached_property
    def _stopped(self) -> Mapping[Node, str]:
        return {
            node: f"{each.consequence} (by {each.policy})" for each in stops(self.simulation) for node in each.listeners
        }

    def _holding(self, listener: ListenerState, asked: GatewayState) -> GatewayState:
        """Return the Gateway of a listener, which shares a proxy with the one that was asked."""
        own = None if listener.gateway is None else self.topology.gateway(listener.gateway)
        return asked if own is None else own

    def _selected(self, gateway: GatewayState, request: Request) -> Selection:
        """Return the listener of a Gateway that takes a request; of the last ones it is kept, as for hosts."""
        place = (gateway.gateway.key, request.port, request.scheme, request.host, request.sni)
        if place not in self._selections:
            if len(self._selections) >= _MOST_SERVED:
                self._selections.clear()
            near = (
                None
                if request.scheme in ("tcp", "udp")
                else select(self._near(gateway, request), request, self._closed)
            )
            settled = near is not None and near.listener is not None and near.status is None
            chosen = near if settled and near else select(self._at_proxy(gateway), request, self._closed)
            catalog = self.simulation.catalog
            if chosen.status == 404 and catalog.has_one_table(implementation_of(gateway, catalog) or ""):
                chosen = select(self._at_proxy(gateway), request, self._closed, one_table=True)
            guessed = chosen.listener is not None and may_be(request.sni or request.host, chosen.listener.hostname)
            if chosen.others and (guessed or request.scheme in self._ranking(gateway).by.hosts_of_port):
                chosen = self._by_routes(chosen, request.host)
            self._selections[place] = chosen
        return self._selections[place]

    def _by_routes(self, chosen: Selection, host: str) -> Selection:
        """Choose among the listeners of a port the one with the route for the narrowest host that serves a request.

        So it is where hosts belong to ports, and where variables stand for the hosts of listeners: routes name theirs.
        """
        listeners = [listener for listener in (chosen.listener, *chosen.others) if listener is not None]

        def narrowest(listener: ListenerState) -> tuple[int, int]:
            served = self.serving(listener, host, *HOSTNAME_KINDS)
            fitting = (name for _, _, names in served for name in names if serves(host, name))
            return max(map(specificity, fitting), default=_NOTHING)

        best = max(listeners, key=narrowest)
        others = tuple(each for each in listeners if each is not best)
        return chosen._replace(listener=best, others=others, by_routes=best is not chosen.listener)

    def _near(self, gateway: GatewayState, request: Request) -> list[ListenerState]:
        """Return the listeners of a Gateway but those that name another host outright: none of those is chosen."""
        listeners = self._at_proxy(gateway)
        by_host = self._by_host.get(gateway.gateway.key)
        if by_host is None:
            by_host = self._by_host[gateway.gateway.key] = defaultdict(list)
            for number, listener in enumerate(listeners):
                by_host[listener.hostname if is_exact(listener.hostname) else EVERY].append(number)
        hosts = {EVERY, without_port(request.host), without_port(request.sni)}
        return [listeners[number] for number in sorted({number for host in hosts for number in by_host.get(host, ())})]

    def _ranking(self, gateway: GatewayState | None) -> Ranking:
        key = None if gateway is None else gateway.gateway.key
        if key not in self._rankings:
            self._rankings[key] = ranking(self.simulation, gateway)
        return self._rankings[key]

    def _at_gateway(self, key: ResourceKey, request: Request, among: Sequence[RuleCandidate] | None = None) -> Trace:
        """Return the trace of the request at one Gateway."""
        start = Trace(request, Outcome(), key)
        gateway = self.topology.gateway(key)
        if gateway is None:
            return self._at_unseen(start, key, among)
        if is_symbolic(gateway.gateway.body.get("spec")):
            return self._without_listener(start, Selection(None), gateway)
        if why := not_served(gateway):
            return start._replace(outcome=Outcome(refused=True, reason=why))
        chosen = self._selected(gateway, request)
        if chosen.listener is not None:
            gateway = self._holding(chosen.listener, gateway)
        others, by_routes = len(chosen.others), chosen.by_routes
        start = start._replace(
            gateway=gateway.gateway.key, listener=chosen.listener, others=others, by_routes=by_routes
        )
        if chosen.listener is not None and (why := self._stopped.get(chosen.listener.node, "")):
            return start._replace(outcome=Outcome(unknown=True, reason=why))
        if chosen.listener is None or chosen.status is not None:
            return self._without_listener(start, chosen, gateway)
        if chosen.listener.protocol == "TLS" or request.scheme in ("tcp", "udp", "tls"):
            return layer4.at_listener(self, start, chosen.listener)
        demands = [] if request.client_certificate else self.certificates.at(gateway, chosen.listener)
        if demands:
            by = f" (by {demands[0].holder})" if demands[0].holder != key else ""
            reason = f"{chosen.listener.node} demands a client certificate{by}, the request has none"
            return start._replace(outcome=Outcome(refused=True, reason=reason))
        behaviour, node, here = self._ranking(gateway).by, chosen.listener.node, self.simulation
        kept, why, note = admitted(request.headers, lambda: behaviour.underscored(node, here.groups, here.world))
        if why:
            return start._replace(outcome=Outcome(status=400, reason=why))
        if note:
            start = start._replace(request=request._replace(headers=kept), notes=(*start.notes, note))
        return self._route(start, chosen.listener, gateway, among)

    def _at_unseen(self, start: Trace, gateway: ResourceKey, among: Sequence[RuleCandidate] | None) -> Trace:
        """Return the trace of the request at a Gateway that was not seen: only the routes that name it are known."""
        request = start.request
        naming = self.out_of_sight.naming(gateway, request, "GRPCRoute" if request.grpc else "HTTPRoute")
        served = list({each.route.key: (each.route, each.hostnames) for each, _ in naming}.values())
        everywhere = list(tried(matches_at(served, request.host, self._narrowing, grpc=request.grpc), request))
        evaluated = everywhere if among is None else list(tried(among, request))
        fitting = ordered(evaluated)
        why = doubt(evaluated, fitting)
        if why or not fitting or request.scheme in ("tcp", "udp", "tls"):
            reason = why or f"{gateway} was not seen, and no route here decides"
            return start._replace(outcome=Outcome(unknown=True, reason=reason))
        winner = fitting[0]
        rivals = list(self.out_of_sight.rivals(naming, request, winner, everywhere))
        start = start._replace(questions=tuple(telling_apart(rivals, request)))
        if other := next(iter(ordered(rivals)), None):
            reason = (
                f"{gateway} was not seen: one listener leads to {winner.route.key}, another one to {other.route.key}"
            )
            may = tuple(Considered(each.rule.node, "", each.route, each.pointer) for each in (winner, other))
            return start._replace(outcome=Outcome(unknown=True, reason=reason), considered=may)
        listener = next(node for each, node in reversed(naming) if each.route.key == winner.route.key)
        above = (whole(gateway), listener) if listener.section else (whole(gateway),)
        trace = self.finish(start, winner, fitting, above, request.port)
        note = f"{gateway} was not seen: its listeners, other routes and policies of its own are not known"
        return trace._replace(notes=(*trace.notes, note))

    def _without_listener(self, start: Trace, chosen: Selection, gateway: GatewayState) -> Trace:
        request = start.request
        if open_at := next(filter(None, map(undetermined, self.holders(gateway))), ""):
            why = f"which listeners {gateway.gateway.key} has is not known: a variable stands at {open_at}"
            return start._replace(outcome=Outcome(unknown=True, reason=why))
        if not chosen.on_port and (unstated := of_unstated_port(self._at_proxy(gateway), request)):
            why = f"the port of {unstated} is stated in no manifest"
            return start._replace(outcome=Outcome(unknown=True, reason=why))
        refused = chosen.status is None
        grpc = "Unimplemented" if request.grpc and chosen.status == 404 else ""
        outcome = Outcome(status=chosen.status, refused=refused, reason=chosen.reason, grpc_status=grpc)
        if not self._nearest:
            return start._replace(outcome=outcome)
        nearest = nearest_listeners(chosen.on_port or self.listeners(gateway), request)
        if not nearest and chosen.listener is None:
            nearest = nearest_rules(self._unattached(start), (), request)
        return start._replace(outcome=outcome, nearest=nearest)

    def _route(
        self, start: Trace, listener: ListenerState, gateway: GatewayState, among: Sequence[RuleCandidate] | None
    ) -> Trace:
        """Return the trace by the rule of an attached route that takes the request."""
        request = start.request
        plain = served = self._at_host(listener, "HTTPRoute", request.host)
        grpc = False
        if request.grpc and not self._ranking(gateway).by.calls_by_path:
            calls = self._at_host(listener, "GRPCRoute", request.host)
            serving = any(serves(request.host, name) for _, hostnames in calls.routes for name in hostnames)
            grpc = serving or not self.attached(listener, "HTTPRoute")
            served = calls if grpc else plain
        evaluated = list(tried(served.matches if among is None else among, request))
        fitting = ordered(evaluated)
        if grpc and plain.routes and not fitting:
            # Where both kinds share a hostname, a call that no GRPCRoute takes is a request like any other.
            http_candidates = list(tried(plain.matches, request))
            fitting = ordered(http_candidates)
            if fitting:
                served, evaluated = plain, http_candidates
        if why := doubt(evaluated, fitting):
            return start._replace(outcome=Outcome(unknown=True, reason=why))
        fitting = self.responder.flattened(fitting, start)
        if not fitting:
            kind = "GRPCRoute" if grpc else "HTTPRoute"
            open_states = [each for each in self.may_be_at(gateway) if each.route.key.kind == kind]
            may_serve = [(state.route, state.hostnames) for state in open_states]
            ranked = self._ranking(gateway)
            open_ones = matches_at(may_serve, request.host, self._narrowing, ranked, grpc)
            if may := [each for each in tried(open_ones, request) if all(miss.undecided for miss in each.misses)]:
                why = self.where_it_is(min(may, key=lambda each: each.order).route)
                return start._replace(outcome=Outcome(unknown=True, reason=why))
            reason = "no route" if evaluated else f"no route of this listener serves host {request.host or '(none)'}"
            status = Outcome(status=404, reason=reason, grpc_status="Unimplemented" if request.grpc else "")
            if not self._nearest:
                return start._replace(outcome=status)
            nearest = nearest_rules(self._unattached(start), evaluated, request)
            if not nearest and not evaluated:
                of_kind = self.attached(listener, "GRPCRoute" if grpc else "HTTPRoute")
                named = [(state.route, candidate.hostnames) for state, candidate in of_kind]
                nearest = nearest_hosts(named, request)
            bringing = self.simulation.world.unseen.bringing_routes()
            unseen = [f"a route that was not seen may take it: {listing(bringing, most=3)}"] if bringing else []
            return start._replace(outcome=status, nearest=nearest, notes=tuple(unseen))
        above, port = self.path(listener), request.port or listener.port
        for number, winner in enumerate(fitting):
            trace = self.finish(start, winner, fitting[number:], above, port)
            passed = [each.decision.why for each in trace.judged if each.decision.passes_on]
            if not passed:
                break
        if passed and among is not None:
            return start._replace(outcome=Outcome(unknown=True, reason=f"another rule may take it: {passed[0]}"))
        notes = list(notes_on(winner, fitting, evaluated))
        if request.client_certificate and self.certificates.at(gateway, listener, must=False):
            notes.append(f"whether {request.client_certificate} is signed by the right authority is not checked")
        notes += assumed(listener)
        if is_door(gateway.gateway.key):
            from policylint.doors.certificates import asking, taken

            by_tls = request.scheme == "https"
            notes += asking(self.simulation.world, winner.route.key, encrypted=by_tls)
            if by_tls:
                notes += taken(self.simulation.world, (gateway.gateway.key, winner.route.key), request.host)
        notes += taken_to_be(request.host, (listener.hostname, winner.hostname))
        if winner.route.key in served.doubtful:
            notes.append(f"{winner.route.key} may not be attached: {served.doubtful[winner.route.key]}")
        return trace._replace(notes=(*trace.notes, *notes)) if notes else trace

    def may_be_at(self, gateway: GatewayState) -> tuple[RouteState, ...]:
        """Return the routes that may be attached to a Gateway: a variable stands for the listener, or for all that they
        are attached to."""
        return (*self._open.get(gateway.gateway.key, ()), *(() if is_door(gateway.gateway.key) else self._anywhere))

    def where_it_is(self, route: Resource) -> str:
        """Return why it is not known where a route is attached that may be somewhere."""
        end = "Gateway" if route in [each.route for each in self._anywhere] else "listener"
        return f"the {end} that {route.key} is for stands in a variable"

    def finish(
        self,
        start: Trace,
        winner: RuleCandidate,
        fitting: Sequence[RuleCandidate],
        above: tuple[Node, ...],
        port: int | None,
    ) -> Trace:
        """Return the trace of a request whose rule is found: its end, the policies, the rules that came second."""
        final, trace = self.responder.respond(winner, start, port)
        nodes = (*above, *self.pods_of(start), whole(winner.route.key), winner.rule.node, *trace.path)
        trace = trace._replace(
            route=final.route,
            rule=final.rule.node,
            rule_pointer=final.pointer,
            match=str(final.match),
            hostname=winner.hostname,
            path=nodes,
            considered=others_considered(winner, fitting),
        )
        if winner.unmade:
            return trace
        reached = [share for share in trace.outcome.shares if share.share and not share.problem]
        questions: list[RequestQuestion] = []
        message = facts(start.request, questions)
        beyond = self.beyond(start)
        policies = self.met(start, nodes, reached, message)
        refused = next((met.group.effective.refused for met in policies if met.group.effective.refused), None)
        acting = tuple(met for met in policies if not met.group.effective.refused or met.group.effective.owners)
        if refused is not None:
            state = self.simulation.policies[refused]
            outcome = Outcome(status=500, reason=f"{refused} is refused ({state.invalid})")
            trace = trace._replace(outcome=outcome, forwarded=None, per_backend={}, failed_by=refused)
        gateway = None if start.gateway is None else self.topology.gateway(start.gateway)
        controller = (
            None if gateway is None else self.simulation.catalog.implementation_of_controller(gateway.controller)
        )
        left, why = self.responder.unserved(final.route, final.rule, start.gateway)
        if left and refused is None:
            outcome = Outcome(status=left, reason=why)
            trace = trace._replace(outcome=outcome, forwarded=None, per_backend={}, mirrors=())
            policies, reached = tuple(met for met in policies if met.backend is None), []
        found = self.policies.extensions(nodes, reached, controller)
        extensions = tuple(each for each in found if each.wanted not in trace.settled)
        seen = self.policies.seen(policies, gateway, message)
        if not left:
            named = () if start.gateway is None or is_door(start.gateway) else extensions  # doors have guards of them
            trace = self.judged(trace, policies, message._replace(address=seen.address), named)
        working = [share for share in trace.outcome.shares if share.share and not share.problem]
        trace = taken_off(trace, policies) if working else trace
        trace = trace._replace(
            notes=(
                *trace.notes,
                *self.refusals((*nodes, *ends(working), *(node for share in working for node in beyond(share)))),
                *taken_for_granted(self.topology.state_of(final.route), working),
            ),
            questions=(*trace.questions, *questions),
            beyond=tuple(dict.fromkeys(node for share in reached for node in beyond(share))),
            policies=acting,
            extensions=extensions,
            logins=self.logins(start.request, working),
        )
        if not (refused or left or trace.denied is not None):
            address = None if gateway is None else seen.address
            trace = self.admissions.applied(trace, self.client(start), asked_for=self.asked_for(start), address=address)
        asked = seen.note and any(each.name == CLIENT for each in trace.questions)
        return trace._replace(notes=(*trace.notes, seen.note)) if asked else trace

    def logins(self, request: Request, working: Sequence[Share]) -> tuple[ResourceKey, ...]:
        """Return the backends of a request, where all of them are proxies that ask for a login."""
        ends = dict.fromkeys((share.key, share.port) for share in working)
        if ends and is_of_login(request.path):
            return ()
        for end in ends:
            if end not in self._asking:
                self._asking[end] = is_proxy(self.simulation.world, *end)
            if not self._asking[end]:
                return ()
        return tuple(dict.fromkeys(key for key, _ in ends))

    def pods_of(self, start: Trace) -> tuple[Node, ...]:
        """Return the workloads at whose pods requests of a Gateway of Istio's own come in; itself for unseen ones."""
        state = None if start.gateway is None or not is_door(start.gateway) else self.topology.gateway(start.gateway)
        if state is None:
            return ()
        return tuple(whole(pod.key) for pod in proxies(self.simulation.world, state.gateway) or (state.gateway,))

    def met(
        self, start: Trace, nodes: Sequence[Node], reached: Sequence[Share], message: RequestFacts
    ) -> tuple[Met, ...]:
        """Return the policies on a way; at doors that are no Gateways theirs act, and those of the pods behind them."""
        policies = self.policies.met(nodes, reached, self.beyond(start), message)
        if start.request.scheme in PAST_MESHES:
            return tuple(met for met in policies if not self.admissions.hears(met.group.kind.implementation))
        if start.gateway is None or not is_door(start.gateway):
            return policies
        made = ((met, met.group.kind.implementation) for met in policies)
        return tuple(met for met, name in made if name == DOOR_GUARDS or self.admissions.hears(name))

    def judged(
        self, trace: Trace, policies: Sequence[Met], message: RequestFacts, named: Sequence[ObjectBinding] = ()
    ) -> Trace:
        """Return a trace with what policies, and objects named on its way, answer, and with the end that this means."""
        judged = (*trace.judged, *self.policies.judged(policies, message, trace.gateway))
        if named:
            from policylint.doors.beside import decided

            judged += tuple(Judged(*each, None) for each in decided(named, message))
        trace = trace._replace(judged=judged) if judged else trace
        denial = next((each for each in judged if each.decision.answer == "denied"), None)
        if denial is None:
            return trace
        why = f": {denial.decision.why}" if denial.decision.why else ""
        reason = f"{'answered' if denial.decision.direct else 'denied'} by {denial.policy}{why}"
        unread = message.stream or (trace.gateway is not None and trace.gateway.kind in PUBLISHED)
        outcome = Outcome(status=None if unread else denial.decision.status, refused=unread, reason=reason)
        return trace._replace(outcome=outcome, forwarded=None, per_backend={}, mirrors=())

    @cached_property
    def _refused(self) -> dict[Node, list[str]]:
        """Sentences on what the API server refuses, by the nodes whose requests that is about."""
        said: dict[Node, list[str]] = defaultdict(list)
        for key, broken in self.simulation.refused.items():
            state = self.simulation.policies.get(key)
            aims = [whole(key)] if state is None else [node for target in state.targets for node in target.nodes]
            for node in dict.fromkeys(aims):
                said[node].append(broken.sentence)
        return said

    def refusals(self, nodes: Iterable[Node]) -> Iterator[str]:
        """Yield what the API server refuses of the nodes that a request passes, and of the policies on them."""
        if self.simulation.refused:
            yield from dict.fromkeys(sentence for node in nodes for sentence in self._refused.get(node, ()))

    def client(self, start: Trace) -> Client:
        """Return who sends a request through the mesh, or to a Gateway."""
        return Client(None, "") if start.gateway is not None else self.sender(start.request.client)

    def sender(self, name: str) -> Client:
        """Return who a client of the mesh is, by the name that requests give it."""
        if name not in self._senders:
            if len(self._senders) >= _MOST_SERVED:
                self._senders.clear()
            self._senders[name] = mesh.client(self.simulation, name)
        return self._senders[name]

    def beyond(self, start: Trace) -> Callable[[Share], tuple[Node, ...]]:
        """Return what says which nodes a request passes beside a backend, by who sends it there."""
        gateway = None if start.gateway is None else self.topology.gateway(start.gateway)
        acting, asked_for = self.simulation.acting, self.asked_for(start)
        if gateway is not None:
            return lambda share: acting.beyond(share.key, gateway.gateway, asked_for, share.labels)
        client = self.client(start)
        return lambda share: acting.beyond_for(client, asked_for, share.key, share.labels)

    def asked_for(self, start: Trace) -> ResourceKey | None:
        """Return the Service that a client of the mesh calls; None for requests at Gateways and straight to pods."""
        return mesh.service_of(self, start.request) if start.request.service else None

    def _unattached(self, start: Trace) -> list[tuple[Resource, str]]:
        """Return the routes that name the listener and do not count there, and what they lack.

        Where no listener was chosen, those that name any listener of the Gateway.
        """
        unattached = []
        for key in self.simulation.refused.keys() - {state.route.key for state in self.topology.routes}:
            route = self.simulation.world.resources[key]
            parents = map(mapping, sequence(route.spec.get("parentRefs")))
            if start.gateway is not None and any(parent.get("name") == start.gateway.name for parent in parents):
                why = self.simulation.refused[key].because
                unattached.append((route, f"its route accepted by the API server: {why}"))
        chosen = None if start.listener is None else start.listener.node
        served = () if chosen is None else {state.route.key for state, _ in self._attached.get(chosen, ())}
        for state in self.topology.routes:
            for parent in state.parents:
                candidates = (each for each in parent.candidates if chosen in (None, each.node))
                refused = next((candidate for candidate in candidates if candidate.failure), None)
                if parent.gateway == start.gateway and not parent.accepted and refused is not None:
                    unattached.append((state.route, f"its route attached: {refused.message}"))
                elif parent.accepted and chosen in parent.attached and state.route.key not in served:
                    needs = f"its hosts served at {chosen}: its controller makes nothing of it there"
                    unattached.append((state.route, needs))
        return unattached
