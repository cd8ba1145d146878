"""What happens to a request: the listener, the route, the rule, the policies and the backend that it meets.

Reads one Simulation and computes nothing that is already there: attachment, backends and effective policies are its.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policylint.model import GATEWAY_GROUP, Node, Resource, ResourceKey
from policylint.simulation import Simulation
from policylint.topology import Candidate, GatewayState, ListenerState, RouteState, whole
from policylint.topology.hostnames import specificity
from policylint.trace import layer4, mesh
from policylint.trace.answering import Answering
from policylint.trace.backends import BackendTls
from policylint.trace.hosts import may_be, serves
from policylint.trace.listeners import Selection, assumed, passes_through, select
from policylint.trace.nearby import nearest_hosts, nearest_listeners, nearest_rules
from policylint.trace.policies import Policies
from policylint.trace.precedence import Option, because, can_match, criterion, options, ordered
from policylint.trace.request import Request, RequestError
from policylint.trace.result import Considered, Outcome, Trace

_MOST_CONSIDERED = 8
_REGEX_LAST = frozenset({"istio"})
"""Implementations that put regular expressions behind prefixes; the others put them between exact paths and those."""
_OPEN_VALIDATION = "AllowInsecureFallback"


class Tracer:
    """Traces requests through one environment; what many requests need is indexed once."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.topology = simulation.topology
        self.tls = BackendTls(simulation)
        self.answering = Answering(simulation.topology, self.tls)
        self.policies = Policies(simulation)
        self._attached: dict[Node, list[tuple[RouteState, Candidate]]] = {}
        for state in simulation.topology.routes:
            for parent in state.parents:
                if parent.accepted:
                    for candidate in parent.candidates:
                        if not candidate.failure:
                            self._attached.setdefault(candidate.node, []).append((state, candidate))

    def trace(self, request: Request) -> Trace:
        """What becomes of one request.

        Raises:
            RequestError: it names a Gateway, Service or workload that is not there.
        """
        if request.pod:
            return mesh.to_pod(self, request)
        if request.service:
            return mesh.to_service(self, request)
        gateways = self._gateways(request)
        traces = [self._through(each, request) for each in gateways]
        best = min(traces, key=_preference)
        return best._replace(notes=(*best.notes, *_also(best, traces))) if len(traces) > 1 else best

    def attached(self, listener: ListenerState, *kinds: str) -> list[tuple[RouteState, Candidate]]:
        """The routes of some kinds that a listener serves."""
        return [each for each in self._attached.get(listener.node, []) if each[0].route.key.kind in kinds]

    def path(self, listener: ListenerState) -> tuple[Node, ...]:
        """The nodes above a route: class, Gateway, ListenerSet, listener."""
        nodes: list[Node] = []
        if listener.gateway is not None:
            gateway = self.topology.gateway(listener.gateway)
            if gateway is not None and gateway.class_resolution.resource is not None:
                nodes.append(whole(gateway.class_key))
            nodes.append(whole(listener.gateway))
        if listener.holder.key != listener.gateway:
            nodes.append(whole(listener.holder.key))
        return (*nodes, listener.node)

    def _gateways(self, request: Request) -> list[GatewayState]:
        """The Gateway that the request names, else all of them."""
        if not request.gateway:
            if not self.topology.gateways:
                raise RequestError("there is no Gateway here; --from WORKLOAD asks about mesh traffic")
            return self.topology.gateways
        from policylint.model.spelling import find

        keys = [each.gateway.key for each in self.topology.gateways]
        found = find(request.gateway, keys)
        if len(found) == 1:
            return [each for each in self.topology.gateways if each.gateway.key == found[0]]
        raise RequestError(unclear(request.gateway, "Gateway", found, keys))

    def _listeners(self, gateway: GatewayState) -> list[ListenerState]:
        """The merged list of a Gateway: its own, then those of its ListenerSets."""
        found = list(gateway.listeners)
        for each in self.topology.listener_sets:
            found += [listener for listener in each.listeners if listener.gateway == gateway.gateway.key]
        return found

    def _through(self, gateway: GatewayState, request: Request) -> Trace:
        """The request at one Gateway."""
        start = Trace(request, Outcome(), gateway.gateway.key)
        fault = next((each for each in gateway.conditions if each.type == "Accepted" and each.status != "True"), None)
        listeners = self._listeners(gateway)
        if fault is not None and fault.reason != "ListenersNotValid":
            reason = f"{gateway.gateway.key} is not served: {fault.message or fault.reason}"
            return start._replace(outcome=Outcome(refused=True, reason=reason))
        chosen = select(listeners, request)
        start = start._replace(listener=chosen.listener, others=len(chosen.others))
        if chosen.listener is None or chosen.status is not None:
            return self._unheard(start, chosen, listeners)
        if chosen.listener.protocol == "TLS" or request.scheme in ("tcp", "udp", "tls"):
            return layer4.through(self, start, chosen.listener)
        refusal = self._client_certificate(gateway, chosen.listener, request)
        if refusal:
            return start._replace(outcome=Outcome(refused=True, reason=refusal))
        return self._route(start, chosen.listener, gateway)

    def _unheard(self, start: Trace, chosen: Selection, listeners: Sequence[ListenerState]) -> Trace:
        request = start.request
        refused = chosen.status is None
        grpc = "Unimplemented" if request.grpc and chosen.status == 404 else ""
        outcome = Outcome(status=chosen.status, refused=refused, reason=chosen.reason, grpc_status=grpc)
        near = nearest_listeners(chosen.on_port or listeners, request)
        if not near and chosen.listener is None:
            near = nearest_rules(self._unattached(start), (), request)
        return start._replace(outcome=outcome, nearest=near)

    def _route(self, start: Trace, listener: ListenerState, gateway: GatewayState) -> Trace:
        """The rule of an attached route that takes the request, and what it does with it."""
        request = start.request
        plain = attached = self.attached(listener, "HTTPRoute")
        grpc = False
        if request.grpc:
            calls = self.attached(listener, "GRPCRoute")
            serving = [each for each in calls if any(serves(request.host, name) for name in each[1].hostnames)]
            grpc = bool(serving) or not attached
            attached = calls if grpc else attached
        served = [(state.route, candidate.hostnames) for state, candidate in attached]
        controller = self.simulation.catalog.implementation_of_controller(gateway.controller)
        found = list(options(served, request, grpc=grpc, regex_last=controller in _REGEX_LAST))
        fitting = ordered(found)
        if grpc and plain and not fitting:
            # Where both kinds share a hostname, a call that no GRPCRoute takes is a request like any other.
            others = [(state.route, candidate.hostnames) for state, candidate in plain]
            also = list(options(others, request, grpc=False, regex_last=controller in _REGEX_LAST))
            fitting = ordered(also)
            if fitting:
                attached, served, found = plain, others, also
        doubtful = {state.route.key: candidate.unknown for state, candidate in attached if candidate.unknown}
        if not fitting:
            reason = "no route" if found else f"no route of this listener serves host {request.host or '(none)'}"
            status = Outcome(status=404, reason=reason, grpc_status="Unimplemented" if request.grpc else "")
            near = nearest_rules(self._unattached(start), filter(can_match, found), request)
            if not near and not found:
                near = nearest_hosts(served, request)
            return start._replace(outcome=status, nearest=near)
        option = fitting[0]
        trace = self.finish(start, option, fitting, self.path(listener), request.port or listener.port)
        notes = list(_notes(option, fitting, found))
        if request.client_certificate and self._validation(gateway, listener):
            notes.append(f"whether {request.client_certificate} is signed by the right authority is not looked at")
        notes += [f"{each} is taken to be there: nothing in the tree deploys it" for each in assumed(listener)]
        taken = {name for name in (listener.hostname, option.hostname) if may_be(request.host, name)}
        notes += [
            f"{name} is taken to be {request.host}: nothing in the tree fills in its variable" for name in sorted(taken)
        ]
        if option.route.key in doubtful:
            notes.append(f"{option.route.key} may not be attached: {doubtful[option.route.key]}")
        return trace._replace(notes=(*trace.notes, *notes))

    def finish(
        self, start: Trace, option: Option, fitting: Sequence[Option], above: tuple[Node, ...], port: int | None
    ) -> Trace:
        """The trace of a request whose rule is found: what it does, which policies are met, what came second."""
        answer = self.answering.answer(option, start.request, port)
        nodes = (*above, whole(option.route.key), option.rule.node, *answer.path)
        reached = [each for each in answer.outcome.shares if each.share and not each.problem]
        last = answer.rule_of
        return start._replace(
            outcome=answer.outcome,
            route=last.route,
            rule=last.rule.node,
            rule_pointer=last.pointer,
            match=str(last.match),
            hostname=option.hostname,
            path=nodes,
            steps=answer.steps,
            forwarded=answer.forwarded,
            per_backend=answer.per_backend,
            response=answer.response,
            mirrors=answer.mirrors,
            backend_tls=answer.backend_tls,
            policies=self.policies.met(nodes, reached),
            considered=_considered(option, fitting),
        )

    def _unattached(self, start: Trace) -> list[tuple[Resource, str]]:
        """Routes that name the listener (any of the Gateway, where none was chosen) but are not attached, and why."""
        found = []
        heard = None if start.listener is None else start.listener.node
        for state in self.topology.routes:
            for parent in state.parents:
                refused = [each for each in parent.candidates if each.failure and heard in (None, each.node)]
                if parent.gateway == start.gateway and not parent.accepted and refused:
                    found.append((state.route, refused[0].message))
        return found

    def _client_certificate(self, gateway: GatewayState, listener: ListenerState, request: Request) -> str:
        """Why TLS asks for a client certificate that the request has not, "" where it does not.

        Source: docs/design/request-precedence.md §9.
        """
        if request.client_certificate or not self._validation(gateway, listener):
            return ""
        return f"{listener.node} demands a client certificate, the request has none"

    def _validation(self, gateway: GatewayState, listener: ListenerState) -> bool:
        """Whether a listener takes only clients with a valid certificate."""
        if listener.protocol != "HTTPS" or passes_through(listener):
            return False
        validation = layer4.client_validation(gateway.gateway, listener.port)
        return bool(validation) and validation.get("mode") != _OPEN_VALIDATION


def unclear(asked: str, kind: str, found: Sequence[ResourceKey], known: Iterable[ResourceKey]) -> str:
    """Why a name is not one object: several fit, or none and what may have been meant."""
    if found:
        return f"{len(found)} objects fit {asked!r}: {', '.join(map(str, found[:5]))}"
    from policylint.model.spelling import alike

    close = alike(asked, known, 1)
    return f"there is no {kind} {asked!r}" + (f" (did you mean {close[0]}?)" if close else "")


def _preference(trace: Trace) -> tuple[int, tuple[int, ...], ResourceKey]:
    """Of several Gateways the one that gets furthest counts; then the one with the most specific listener."""
    outcome = trace.outcome
    if outcome.answered:
        rank = 0
    elif trace.rule is not None:
        rank = 1
    elif outcome.refused:
        rank = 4
    else:
        rank = 2 if trace.listener is not None else 3
    narrow = specificity(trace.listener.hostname) if trace.listener is not None else (-1, 0)
    key = trace.gateway or ResourceKey(GATEWAY_GROUP, "Gateway", "", "")
    return rank, tuple(-each for each in narrow), key


def _also(best: Trace, traces: Sequence[Trace]) -> list[str]:
    """Which other Gateways would answer the request, had it been sent to them."""
    found = [each for each in traces if each is not best and each.rule is not None]
    names = ", ".join(str(each.gateway) for each in found[:3])
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return [f"{names}{more} would answer it too; --gateway chooses"] if found else []


def _considered(winner: Option, fitting: Sequence[Option]) -> tuple[Considered, ...]:
    """The other rules that match, each once, by precedence."""
    found: dict[Node, Considered] = {}
    for each in fitting:
        if each.rule.node != winner.rule.node and each.rule.node not in found:
            found[each.rule.node] = Considered(each.rule.node, because(winner, each), each.route, each.pointer)
    return tuple(list(found.values())[:_MOST_CONSIDERED])


def _notes(winner: Option, fitting: Sequence[Option], found: Sequence[Option]) -> Iterable[str]:
    """What the answer hangs on: an order that no manifest states, a narrower host without a rule for the path."""
    second = next((each for each in fitting if each.route.key != winner.route.key), None)
    if second is not None and criterion(winner, second) == "name" and not winner.route.created:
        yield f"{second.route.key} matches as well; of equals the older route wins, and no manifest says which is"
    width = specificity(winner.hostname)
    narrower = next((each for each in found if specificity(each.hostname) > width), None)
    if narrower is not None:
        yield (
            f"{narrower.route.key} serves {narrower.hostname} but no rule of it matches; gateways that choose the host "
            "first (Envoy's virtual hosts) answer 404 here"
        )
    if "RegularExpression" in winner.match.path:
        yield "where regular expressions rank is up to the implementation (HTTPPathMatch)"


__all__ = ["Tracer", "unclear"]
