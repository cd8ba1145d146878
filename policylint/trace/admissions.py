"""Ask the proxies that a request passes whether they let it in: its Gateway, a waypoint, and those beside the pods.

What each makes of the request is its implementation's (`Implementation.admit`); here its way is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from policylint.doors import PUBLISHED, is_door, proxies
from policylint.model import Resource, ResourceKey, text
from policylint.network.addressed import destinations
from policylint.policy.authorizing import (
    Checkpoint,
    Client,
    Decision,
    Leading,
    PlacedDecision,
    RequestFacts,
    RequestQuestion,
    Routing,
)
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.ancestry import implementation_of
from policylint.topology.service_ports import port_at
from policylint.topology.workloads import container_port
from policylint.trace.precedence import doubt, matches_at, ordered, tried
from policylint.trace.request import Request
from policylint.trace.result import Outcome, Share, Trace

_STREAMS = ("tcp", "tls", "udp")
PAST_MESHES = ("udp", "sctp")
"""What no proxy of a mesh takes: pods get it as it was sent."""
Senders = tuple[Client, ...]
"""Who sends a request on: one of them, where it is not known whether it passes a waypoint."""


class Admissions:
    """The proxies of an environment that may turn requests away."""

    __slots__ = ("_acting", "_asked", "_routed", "_simulation")

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._acting = simulation.acting
        self._routed: set[ResourceKey] | None = None
        self._asked = simulation.meshes.groups

    def hears(self, implementation_name: str) -> bool:
        """Return whether proxies ask the policies of an implementation."""
        return any(behaviour.name == implementation_name for behaviour, _ in self._asked)

    def is_of_whole_mesh(self, key: ResourceKey) -> bool:
        """Tell whether an object that is no policy may matter to all requests of a mesh."""
        return any(behaviour.is_of_whole_mesh(key) for behaviour, _ in self._asked)

    @property
    def any(self) -> bool:
        """Whether any proxy of a mesh is asked at all."""
        return bool(self._asked)

    def counting(
        self, service: ResourceKey, client: Client, port: int | None, routes: Sequence[Resource], *, stream: bool
    ) -> set[tuple[Routing, tuple[Leading, ...] | None]]:
        """Return which routes of a Service the requests of a client meet, all where nothing else is known, and which of
        them count where its mesh says that by itself.

        It is several where that hangs on which of the workloads that it may be sends them.

        Args:
            routes: all of the Service.
        """
        if client.account == "":
            return {("none", None)}
        world = self._simulation.world
        resource, meshes = world.get(service), self._simulation.meshes.routing
        found = set[tuple[Routing, tuple[Leading, ...] | None]]()
        for caller in client.callers or (None,):
            told = (mesh.routing(resource, caller, port, world, stream=stream) for mesh in meshes if resource)
            outside = caller is not None and self._simulation.meshes.proxied(caller) is False
            met: Routing = "none" if outside else next((answer for answer in told if answer is not None), "all")
            home = client.namespace if caller is None else caller.key.namespace
            asked = meshes if resource is not None and routes and met != "none" else ()
            led = (mesh.leading(resource, caller, home, port, routes, world) for mesh in asked if resource)
            found.add((met, next((each for each in led if each is not None), None)))
        return found

    def applied(
        self,
        trace: Trace,
        client: Client,
        *,
        stream: bool = False,
        asked_for: ResourceKey | None = None,
        straight: bool = False,
        address: str | None = None,
    ) -> Trace:
        """Return a trace with what the proxies on its way answer, and with the end that this means.

        Args:
            asked_for: the Service that a client of the mesh calls, whatever backend its routes lead to.
            straight: whether it calls pods by their address.
            stream: whether the proxies see no HTTP request in it.
            address: of the client, as the Gateway finds it; None for that of who connects.
        """
        if not self._asked:
            return trace
        request = trace.request
        port = request.port or (trace.listener.port if trace.listener is not None else None)
        stream = stream or request.scheme in _STREAMS
        asked = list(trace.questions)
        call = call_of(request, request.host, request.path, port, client, asked, stream=stream)
        if trace.gateway is not None:
            call = call._replace(address=request.address if address is None else address, peer=request.address)
        found: list[PlacedDecision] = []
        caller = client.workload
        senders: Senders | None = None
        gateway = None if trace.gateway is None else self._simulation.topology.gateway(trace.gateway)
        if gateway is not None and is_door(gateway.gateway.key):
            if gateway.gateway.key.kind not in PUBLISHED:  # what is no pod is in no mesh
                from policylint.doors.annotations import is_outside

                outside = trace.route is not None and is_outside(self._simulation.world, trace.route.key)
                client = Client(None, "") if outside else Client()
            pods = proxies(self._simulation.world, gateway.gateway)
            for holder in pods or (gateway.gateway,):  # whose pods were not seen stands for them
                found += self._ask(call, Checkpoint((whole(holder.key),), holder))
            if pods:
                caller = pods[0]
                client = Client(caller, caller.key.namespace)
        elif gateway is not None:
            found += self._ask(call, Checkpoint((whole(gateway.gateway.key),), gateway.gateway))
            served_by = implementation_of(gateway, self._simulation.catalog)
            meshed = any(behaviour.name == served_by for behaviour, _ in self._asked)
            outside = served_by is not None and self._simulation.catalog.sends_from_outside(served_by)
            client = Client(None, "") if outside else Client()
            client = Client(gateway.gateway, gateway.gateway.key.namespace) if meshed else client
            caller = gateway.gateway
        elif asked_for is not None and request.scheme not in PAST_MESHES:
            answers, senders = self._before(asked_for, call, client)
            found += answers
        denied = next((admission for admission in found if admission.decision.answer == "denied"), None)
        if denied is not None:
            trace = trace._replace(admissions=tuple(found), questions=tuple(asked), forwarded=None, per_backend={})
            return trace._replace(outcome=end_of(denied))
        senders = senders or (client,)
        shares = list(trace.outcome.shares)
        ends: list[PlacedDecision] = []
        for number, share in enumerate(shares):
            if share.problem or not share.share:
                continue
            answers, denied = self._behind(trace, share, caller, senders, asked, stream=stream, straight=straight)
            found += answers
            if denied is not None:
                shares[number] = share._replace(problem=turning_away(denied))
                ends.append(denied)
        trace = trace._replace(admissions=tuple(found), questions=tuple(asked))
        if not ends:
            return trace
        if any(share.share and not share.problem for share in shares):
            return trace._replace(outcome=trace.outcome._replace(shares=tuple(shares)))
        end = end_of(ends[0])
        return trace._replace(outcome=end._replace(shares=tuple(shares)), forwarded=None, per_backend={})

    def _before(
        self, asked_for: ResourceKey, call: RequestFacts, client: Client
    ) -> tuple[list[PlacedDecision], Senders]:
        """Return what a client's own proxy and the waypoint of what it calls answer, and who sends the request on."""
        if self._simulation.world.get(asked_for) is None or client.account == "":
            return [], (client,)
        found = self.by_own(asked_for, client, call.port)
        if any(each.decision.answer != "allowed" for each in found):
            return found, (client,)
        senders: Senders = (client,)
        for front in self._acting.fronts_for(asked_for, client):
            found += self._ask(call, front)
            senders = _past(front, senders)
        return found, senders

    def by_own(self, asked_for: ResourceKey, client: Client, port: int | None) -> list[PlacedDecision]:
        """Return what a client's own proxy answers before it sends a request to a Service, whichever of the workloads
        that it may be sends it."""
        world = self._simulation.world
        service = world.get(asked_for) if asked_for[:2] == ("", "Service") else None
        told: list[list[PlacedDecision]] = []
        for caller in client.callers if service is not None else ():
            own = (behaviour.blocked(service, caller, port, world) for behaviour, _ in self._asked if service)
            here = Checkpoint((whole(caller.key),), caller)
            told.append([PlacedDecision(here, each) for each in own if each is not None])
        if all([each.decision for each in one] == [each.decision for each in told[0]] for one in told):
            return told[0] if told else []
        why = "which of the workloads that it may be sends it"
        refusals = [each for one in told for each in one if each.decision.answer != "allowed"][:1]
        return [each._replace(decision=each.decision.if_so(why)) for each in refusals]

    def let_out(self, host: str, client: Client, port: int | None) -> Decision | None:
        """Return what a client's own proxy does with requests for a host that is no Service; None where it has none."""
        world, told = self._simulation.world, list[Decision | None]()
        for caller in client.callers:
            own = (behaviour.let_out(host, caller, port, world) for behaviour, _ in self._asked)
            told.append(next((each for each in own if each is not None), None))
        decision = next((each for each in told if each is not None and each.answer == "denied"), next(iter(told), None))
        if decision is None or all(each is not None and each.answer == decision.answer for each in told):
            return decision
        return decision.if_so("which of the workloads that it may be sends it")

    def _has_routes(self, service: ResourceKey) -> bool:
        """Tell whether a Service has routes of its own namespace for the requests of the mesh."""
        if self._routed is None:
            self._routed = {
                parent.wanted
                for state in self._simulation.topology.routes
                for parent in state.parents
                if parent.mesh and parent.accepted and parent.wanted.namespace == state.route.key.namespace
            }
        return service in self._routed

    def _behind(
        self,
        trace: Trace,
        share: Share,
        caller: Resource | None,
        senders: Senders,
        asked: list[RequestQuestion],
        *,
        stream: bool,
        straight: bool,
    ) -> tuple[list[PlacedDecision], PlacedDecision | None]:
        """Return what is answered before a backend and at its pods, and the answer that turns the request away.

        Args:
            caller: the Gateway that sends the request on, None for requests of the mesh; `senders` is what is known of
                the identity.
        """
        request = trace.request
        if request.scheme in PAST_MESHES:
            return [], None
        message = trace.per_backend.get(share.key) or trace.forwarded
        host, path = (request.host, request.path) if message is None else (message.host, message.path)
        found: list[PlacedDecision] = []
        for front in self._acting.fronts(share.key, caller) if trace.gateway is not None else ():
            client = senders[0] if len(senders) == 1 else Client()
            found += self._ask(call_of(request, host, path, share.port, client, asked, stream=stream), front)
            if self._has_routes(share.key):
                why = f"the routes of {share.key}, which its waypoint applies"
                found.append(PlacedDecision(front, Decision("depends", why=why)))
            senders = _past(front, senders)
        denied = next((admission for admission in found if admission.decision.answer == "denied"), None)
        if denied is not None:
            return found, denied
        client = senders[0] if len(senders) == 1 else Client()
        sender = client.workload
        is_waypoint = sender is not None and sender.key.kind == "Gateway" and sender.key != trace.gateway
        through = f" (this one comes from waypoint {sender.key.path})" if sender is not None and is_waypoint else ""
        workloads = self._acting.workloads(share.key, share.labels)
        service = self._simulation.world.get(share.key) if share.key[:2] == ("", "Service") else None
        turned_away = []
        if service is not None and not workloads and not destinations(self._simulation.world, service, share.port):
            call = call_of(request, host, path, None, client, asked, stream=stream)
            call = call._replace(dialled=share.port, service=service, labels=share.labels)
            if any(behaviour.may_refuse(call, service, self._simulation.world) for behaviour, _ in self._asked):
                pods = f"the pods of {share.key.path}, which were not seen"
                doubt = Decision("depends", why=pods if service.spec.get("selector") else leads_nowhere(service))
                found.append(PlacedDecision(Checkpoint((whole(share.key),), service), doubt))
        for workload in workloads:
            port = self._container_port(share, workload)
            call = call_of(request, host, path, port, client, asked, stream=stream)
            peer = "" if trace.gateway is not None or is_waypoint else request.address
            # the proxy beside a pod believes the last address of X-Forwarded-For, which a Gateway of the mesh writes
            is_passed_on = sender is not None and sender.key == trace.gateway
            address = request.address if is_passed_on else peer
            called = workload if straight and share.key == workload.key else None
            call = call._replace(dialled=share.port, service=service, labels=share.labels, straight=called)
            call = call._replace(address=address, peer=peer)
            here = Checkpoint((whole(workload.key),), workload)
            either = [list(self._ask(call._replace(sender=each), here)) for each in senders]
            agree = all(answers == either[0] for answers in either)
            answers = either[0] if agree else list(self._ask(call, here))
            if through:
                answers = [_noting(answer, through) for answer in answers]
            if is_passed_on and address and request.header("x-forwarded-for"):
                answers = [_noting(each, f" (of X-Forwarded-For it believes {address} alone)") for each in answers]
            found += answers
            turned_away += [answer for answer in answers if answer.decision.answer == "denied"][:1]
        if turned_away and len(turned_away) < len(workloads):
            decision = turned_away[0].decision
            decision = decision.if_so("which of the pods behind the Service gets it")
            return [*found, turned_away[0]._replace(decision=decision)], None
        return found, turned_away[0] if turned_away else None

    def _ask(self, call: RequestFacts, hop: Checkpoint) -> Iterator[PlacedDecision]:
        for behaviour, groups in self._asked:
            decision = behaviour.admit(call, hop, groups, self._simulation.world)
            if decision is not None and decision.answer == "denied" and hop.doubt:
                decision = decision.if_so(hop.doubt)
            elif decision is not None and decision.asks and hop.doubt:
                decision = decision._replace(asks="")
            if decision is not None:
                yield PlacedDecision(hop, decision)

    def has_front(self, key: ResourceKey) -> bool:
        """Return whether a waypoint may stand before a Service or a workload."""
        return bool(self._acting.fronts(key, None))

    def _container_port(self, share: Share, workload: Resource) -> int | None:
        """Return the port of the pods that a request to a port of a Service comes to, None where it is not known."""
        service = self._simulation.world.get(share.key)
        if service is None or service is workload:
            return share.port
        port = port_at(service, share.port)
        return None if port is None or port.target is None else container_port(workload, port.target)


def _past(front: Checkpoint, senders: Senders) -> Senders:
    """Return who may send a request on behind a waypoint: where it is not known whether it passes it, either."""
    is_seen = front.resource.key.kind == "Gateway"
    waypoint = Client(front.resource, front.resource.key.namespace) if is_seen or not front.doubt else Client()
    return (*senders, waypoint) if front.doubt else (waypoint,)


def leads_nowhere(service: Resource) -> str:
    """Return what is not known of a Service that selects no pods, and of which no addresses are in the tree."""
    return f"what {service.key} leads to, which selects no pods"


def call_of(
    request: Request,
    host: str,
    path: str,
    port: int | None,
    client: Client,
    asked: list[RequestQuestion],
    *,
    stream: bool,
) -> RequestFacts:
    """Return what is known of a request where it is sent on with a host and a path."""
    headers = {name.lower(): value for name, value in request.headers}
    rewritten = [("host", host != request.host), ("path", path != request.path)]
    return RequestFacts(
        text(request.method),
        host,
        path,
        headers,
        port,
        stream,
        client,
        taker(request, asked),
        claims=request.claims,
        blank=request.blank,
        asked=asked,
        rewritten=frozenset(name for name, differs in rewritten if differs),
    )


def taker(
    request: Request, asked: list[RequestQuestion]
) -> Callable[[Sequence[Resource]], tuple[Resource | None, bool]]:
    """Return what says which of some routes takes a request, and whether that is certain; what it asks is added."""

    def taken(routes: Sequence[Resource]) -> tuple[Resource | None, bool]:
        candidates = list(tried(matches_at([(route, ("",)) for route in routes], request.host), request))
        asked.extend(
            RequestQuestion(condition.name, (condition.predicate,))
            for candidate in candidates
            for condition in candidate.match.conditions
        )
        fitting = ordered(candidates)
        if doubt(candidates, fitting):
            return None, False
        return fitting[0].route if fitting else None, True

    return taken


def _noting(admission: PlacedDecision, words: str) -> PlacedDecision:
    """Return a refusal with words about who sends the request: it is not the client whose identity is seen."""
    return admission._replace(note=admission.note + words) if admission.decision.answer == "denied" else admission


def turning_away(admission: PlacedDecision) -> str:
    """Return `AuthorizationPolicy shop/a turns it away at Deployment shop/web: it denies such requests`."""
    decision = admission.decision
    by = "its default" if decision.by is None else str(decision.by.key)
    return f"{by} turns it away at {admission.at.path[0].key}: {decision.why}{admission.note}"


def end_of(admission: PlacedDecision) -> Outcome:
    """Return the end of a request that is turned away."""
    reason = turning_away(admission)
    if admission.decision.resets:
        return Outcome(refused=True, reason=reason)
    return Outcome(status=admission.decision.status, reason=reason)
