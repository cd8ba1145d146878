"""Ask the proxies that a request passes whether they let it in: its Gateway, a waypoint, and those beside the pods.

What each makes of the request is its implementation's (`Implementation.admit`); here its way is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from policylint.implementations import Implementation, implementation
from policylint.model import Node, Resource, ResourceKey, World, mapping, sequence, text
from policylint.model.ternary import some
from policylint.policy.authorizing import Checkpoint, Client, PlacedDecision, RequestFacts, RequestQuestion
from policylint.policy.results import Group
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.ancestry import implementation_of
from policylint.topology.workloads import (
    WORKLOADS,
    container_port,
    is_workload,
    pod_template,
    server_routes,
    servers_selecting,
    workloads_selected,
)
from policylint.trace.matching import demands
from policylint.trace.precedence import doubt, ordered, rule_candidates
from policylint.trace.request import Request
from policylint.trace.result import Outcome, Share, Trace

_STREAMS = ("tcp", "tls", "udp")


class Admissions:
    """The proxies of an environment that may turn requests away."""

    __slots__ = ("_asked", "_behind_services", "_simulation")

    def __init__(self, simulation: Simulation) -> None:
        catalog, world = simulation.catalog, simulation.world
        kinds = (catalog.get(group, name) for group, name in world.kinds())
        names = {kind.implementation for kind in kinds if kind is not None}
        names.update(filter(None, map(catalog.implementation_of_controller, _enrolments(world))))
        self._simulation = simulation
        self._behind_services: dict[ResourceKey, list[Resource]] = {}
        self._asked: list[tuple[Implementation, list[Group]]] = []
        for name in sorted(names):
            behaviour = implementation(name, catalog.settings(name))
            if type(behaviour).admit is not Implementation.admit:
                groups = [group for group in simulation.groups if group.kind.implementation == name]
                self._asked.append((behaviour, groups))

    def hears(self, implementation_name: str) -> bool:
        """Return whether proxies ask the policies of an implementation."""
        return any(behaviour.name == implementation_name for behaviour, _ in self._asked)

    @property
    def any(self) -> bool:
        """Whether any proxy of a mesh is asked at all."""
        return bool(self._asked)

    def beyond(self, key: ResourceKey, caller: Resource | None) -> tuple[Node, ...]:
        """Return the nodes that a request to a Service passes beside it: a waypoint, workloads, what selects them.

        Args:
            caller: the Gateway or the workload that sends it on; None where that is not known.
        """
        if not self._asked:
            return ()
        nodes = [front.path[0] for front in self._fronts(key, caller)]
        for workload in self.workloads(key):
            nodes.append(whole(workload.key))
            for server in servers_selecting(self._simulation.world, workload):
                nodes.append(whole(server.key))
                nodes += [whole(route.key) for route in server_routes(self._simulation.world, server)]
        return tuple(dict.fromkeys(nodes))

    def applied(self, trace: Trace, client: Client, *, stream: bool = False) -> Trace:
        """Return a trace with what the proxies on its way answer, and with the end that this means.

        Args:
            stream: whether the proxies see no HTTP request in it.
        """
        if not self._asked:
            return trace
        request = trace.request
        port = request.port or (trace.listener.port if trace.listener is not None else None)
        stream = stream or request.scheme in _STREAMS
        asked = list(trace.questions)
        call = _call(request, request.host, request.path, port, client, asked, stream=stream)
        call = call._replace(address=request.address if trace.gateway is not None else "")
        found: list[PlacedDecision] = []
        caller = client.workload
        gateway = None if trace.gateway is None else self._simulation.topology.gateway(trace.gateway)
        if gateway is not None:
            found += self._ask(call, Checkpoint((whole(gateway.gateway.key),), gateway.gateway))
            denied = next((admission for admission in found if admission.decision.answer == "denied"), None)
            if denied is not None:
                trace = trace._replace(admissions=tuple(found), questions=tuple(asked), forwarded=None, per_backend={})
                return trace._replace(outcome=_end(denied))
            served_by = implementation_of(gateway, self._simulation.catalog)
            meshed = any(behaviour.name == served_by for behaviour, _ in self._asked)
            client = Client(gateway.gateway, gateway.gateway.key.namespace) if meshed else Client()
            caller = gateway.gateway
        shares = list(trace.outcome.shares)
        ends: list[PlacedDecision] = []
        for number, share in enumerate(shares):
            if share.problem or not share.share:
                continue
            answers, denied = self._behind(trace, share, caller, client, asked, stream=stream)
            found += answers
            if denied is not None:
                shares[number] = share._replace(problem=_words(denied))
                ends.append(denied)
        trace = trace._replace(admissions=tuple(found), questions=tuple(asked))
        if not ends:
            return trace
        if any(share.share and not share.problem for share in shares):
            return trace._replace(outcome=trace.outcome._replace(shares=tuple(shares)))
        end = _end(ends[0])
        return trace._replace(outcome=end._replace(shares=tuple(shares)), forwarded=None, per_backend={})

    def _behind(
        self,
        trace: Trace,
        share: Share,
        caller: Resource | None,
        client: Client,
        asked: list[RequestQuestion],
        *,
        stream: bool,
    ) -> tuple[list[PlacedDecision], PlacedDecision | None]:
        """Return what is answered before a backend and at its pods, and the answer that turns the request away.

        Args:
            caller: who sends the request on; `client` and `namespace` are what is known of its identity.
        """
        request = trace.request
        message = trace.per_backend.get(share.key) or trace.forwarded
        host, path = (request.host, request.path) if message is None else (message.host, message.path)
        found: list[PlacedDecision] = []
        through = ""
        for front in self._fronts(share.key, caller) if client.account != "" else ():  # strangers go past waypoints
            found += self._ask(_call(request, host, path, share.port, client, asked, stream=stream), front)
            client = Client() if front.doubt else Client(front.resource, front.resource.key.namespace)
            through = "" if front.doubt else f" (this one comes from waypoint {front.resource.key.path})"
        denied = next((admission for admission in found if admission.decision.answer == "denied"), None)
        if denied is not None:
            return found, denied
        workloads = self.workloads(share.key)
        service = self._simulation.world.get(share.key) if share.key[:2] == ("", "Service") else None
        turned_away = []
        for workload in workloads:
            port = self._container_port(share, workload)
            call = _call(request, host, path, port, client, asked, stream=stream)
            call = call._replace(dialled=share.port, service=service)
            answers = list(self._ask(call, Checkpoint((whole(workload.key),), workload)))
            if through:
                answers = [_noting(answer, through) for answer in answers]
            found += answers
            turned_away += [answer for answer in answers if answer.decision.answer == "denied"][:1]
        if turned_away and len(turned_away) < len(workloads):
            decision = turned_away[0].decision
            decision = decision._replace(answer="depends", why="which of the pods behind the Service gets it")
            return [*found, turned_away[0]._replace(decision=decision)], None
        return found, turned_away[0] if turned_away else None

    def _ask(self, call: RequestFacts, hop: Checkpoint) -> Iterator[PlacedDecision]:
        for behaviour, groups in self._asked:
            decision = behaviour.admit(call, hop, groups, self._simulation.world)
            if decision is not None and decision.answer == "denied" and hop.doubt:
                decision = decision._replace(answer="depends", why=hop.doubt)
            if decision is not None:
                yield PlacedDecision(hop, decision)

    def _fronts(self, key: ResourceKey, caller: Resource | None) -> list[Checkpoint]:
        """Return the waypoints that requests of a caller to a Service or a workload pass."""
        backend = self._simulation.world.get(key)
        if backend is None:
            return []
        fronts = (behaviour.fronts(backend, caller, self._simulation.world) for behaviour, _ in self._asked)
        return [front for front in fronts if front is not None]

    def workloads(self, key: ResourceKey) -> list[Resource]:
        """Return the workloads behind a Service; a workload itself."""
        if key not in self._behind_services:
            resource = self._simulation.world.get(key)
            found = [] if resource is None or not is_workload(key.group, key.kind) else [resource]
            if resource is not None and (key.group, key.kind) == ("", "Service"):
                found = workloads_selected(self._simulation.world, resource)
            self._behind_services[key] = found
        return self._behind_services[key]

    def proxied(self, workload: Resource) -> bool | None:
        """Return whether the pods of a workload are in a mesh; None where it is not known."""
        world = self._simulation.world
        return some(behaviour.proxied(workload, world) for behaviour, _ in self._asked) if self._asked else None

    def _container_port(self, share: Share, workload: Resource) -> int | None:
        """Return the port of the pods that a request to a port of a Service comes to, None where it is not known."""
        service = self._simulation.world.get(share.key)
        if service is None or service is workload:
            return share.port
        ports = [mapping(port) for port in sequence(service.spec.get("ports"))]
        named = [port for port in ports if share.port is None or port.get("port") == share.port]
        if len(named) != 1:
            return None
        target = named[0].get("targetPort", named[0].get("port"))
        return container_port(workload, target)


def _enrolments(world: World) -> set[str]:
    """Return the names of annotations that enrol Namespaces and pods in a mesh, which stand under its domain."""
    annotated = [namespace.annotations for namespace in world.of_kind("", "Namespace")]
    for kind in WORKLOADS:
        templates = map(pod_template, world.of_kind(*kind))
        annotated += [mapping(mapping(template.get("metadata")).get("annotations")) for template in templates]
    return {name for annotations in annotated for name in map(str, annotations) if name.endswith("/inject")}


def _call(
    request: Request,
    host: str,
    path: str,
    port: int | None,
    client: Client,
    asked: list[RequestQuestion],
    *,
    stream: bool,
) -> RequestFacts:
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
        candidates = list(rule_candidates([(route, ("",)) for route in routes], request, grpc=False))
        asked.extend(
            RequestQuestion(name, (predicate,))
            for candidate in candidates
            for name, predicate in demands(candidate.match)
        )
        fitting = ordered(candidates)
        if doubt(candidates, fitting):
            return None, False
        return fitting[0].route if fitting else None, True

    return taken


def _noting(admission: PlacedDecision, words: str) -> PlacedDecision:
    """Return a refusal with words about who sends the request: it is not the client whose identity is seen."""
    decision = admission.decision
    if decision.answer != "denied":
        return admission
    return admission._replace(decision=decision._replace(why=f"{decision.why}{words}"))


def _words(admission: PlacedDecision) -> str:
    """Return `AuthorizationPolicy shop/a turns it away at Deployment shop/web: it denies such requests`."""
    decision = admission.decision
    by = "its default" if decision.by is None else str(decision.by.key)
    return f"{by} turns it away at {admission.at.path[0].key}: {decision.why}"


def _end(admission: PlacedDecision) -> Outcome:
    reason = _words(admission)
    if admission.decision.resets:
        return Outcome(refused=True, reason=reason)
    return Outcome(status=admission.decision.status, reason=reason)
