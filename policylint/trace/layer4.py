"""Trace TLS, TCP and UDP: the route of a listener by server name and age, shares by weight.

Source: docs/design/request-precedence.md §1, §3, §6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from policylint.model import Node, is_symbolic
from policylint.policy.authorizing import RequestQuestion
from policylint.simulation.ranking import unread_route
from policylint.topology import ListenerState, RouteState, whole
from policylint.topology.routes import Rule, rules
from policylint.topology.status import is_passthrough
from policylint.trace.answering import hidden_end, outcome_of
from policylint.trace.backends import shares, taken_for_granted
from policylint.trace.hosts import serves, taken_to_be
from policylint.trace.nearby import nearest_listeners
from policylint.trace.policies import facts
from policylint.trace.result import Considered, Forwarded, Outcome, Trace

if TYPE_CHECKING:
    from policylint.trace.tracing import Tracer

_KINDS = {"TLS": ("TLSRoute", "TCPRoute"), "TCP": ("TCPRoute",), "UDP": ("UDPRoute",)}


def at_listener(tracer: Tracer, start: Trace, listener: ListenerState) -> Trace:
    """Return the trace of a stream at a listener: the TLSRoute with the most specific server name, else the oldest."""
    request = start.request
    if listener.protocol == "HTTPS":
        return start._replace(
            outcome=Outcome(status=404, reason=f"{listener.node} speaks HTTPS: ask with https:// and a path"),
            path=tracer.path(listener),
        )
    sni = request.sni or request.host
    fitting: list[tuple[tuple[Any, ...], str, RouteState]] = []
    gateway = None if start.gateway is None else tracer.topology.gateway(start.gateway)
    kinds = _KINDS.get(listener.protocol, ())
    for state, _, names in tracer.serving(listener, sni, *kinds):
        if unread_route(tracer.simulation, state.route, gateway):
            continue
        kind = _kind(state, listener)
        serving = [name for name in names if kind != "TLSRoute" or serves(sni, name)]
        if serving and rules(state.route):
            hostname = max(serving, key=lambda name: (not name.startswith("*") and len(name), len(name)))
            exact = 0 if hostname.startswith("*") else len(hostname)
            left_out = tracer.responder.left_out(state.route, rules(state.route)[0], listener.gateway)
            kind_rank = _KINDS[listener.protocol].index(kind)
            order = (left_out, kind_rank, -exact, -len(hostname), *state.route.age)
            fitting.append((order, hostname, state))
    fitting.sort(key=lambda ranked: ranked[0])
    if not fitting:
        may = () if gateway is None else tracer.may_be_at(gateway)
        may_take = (state.route for state in may if state.route.key.kind in kinds and _may_take(state, sni))
        if (taker := next(may_take, None)) is not None:
            outcome = Outcome(unknown=True, reason=tracer.where_it_is(taker))
            return start._replace(outcome=outcome, path=tracer.path(listener))
        attached = reversed(tracer.attached(listener, *kinds))
        reasons = (unread_route(tracer.simulation, each.route, gateway) for each, _ in attached)
        unread = next((f": {why}" for why in reasons if why), "")
        subject = f"server name {sni or '(none)'}" if listener.protocol == "TLS" else f"port {listener.port}"
        outcome = Outcome(refused=True, reason=f"no route of {listener.node} is for {subject}{unread}")
        return start._replace(
            outcome=outcome, nearest=nearest_listeners([listener], request), path=tracer.path(listener)
        )
    _, hostname, state = fitting[0]
    takers = (rules(each.route)[0] for _, _, each in fitting)
    open_ = next((rule.node for rule in takers if is_symbolic(rule.body.get("matches"))), None)
    if open_ is not None:
        reason = f"whether {open_} takes the connection is not known: what it matches stands in a variable"
        return start._replace(outcome=Outcome(unknown=True, reason=reason), path=tracer.path(listener))
    trace = along_route(tracer, start, state, tracer.path(listener), passed_on=is_passthrough(listener))
    beaten = tuple(_beaten(loser, fitting[0][1], state) for loser in fitting[1:])
    notes = (*trace.notes, *(taken_to_be(sni, (listener.hostname, hostname)) if kinds[0] == "TLSRoute" else ()))
    match = f"server name {hostname}" if hostname else ""
    return trace._replace(hostname=hostname, match=match, considered=beaten, notes=notes)


def _may_take(state: RouteState, sni: str) -> bool:
    """Tell whether a route is for a server name, if it is attached."""
    is_named = state.route.key.kind == "TLSRoute" and bool(state.hostnames)
    return not is_named or any(serves(sni, name) for name in state.hostnames)


def along_route(
    tracer: Tracer,
    start: Trace,
    state: RouteState,
    above: tuple[Node, ...],
    *,
    passed_on: bool = False,
    rule: Rule | None = None,
) -> Trace:
    """Return the trace of a stream that a route takes, by its first rule where none is named."""
    rule = rule or rules(state.route)[0]
    if why := hidden_end(rule):
        nodes = (*above, whole(state.route.key), rule.node)
        outcome = Outcome(unknown=True, reason=why)
        return start._replace(outcome=outcome, route=state.route, rule=rule.node, path=nodes)
    gateway = None if start.listener is None else start.listener.gateway
    named = ((state.route, each) for each in tracer.responder.used(state, rule, gateway))
    backend_shares = shares(tracer.simulation.world, named, state.route, None if passed_on else tracer.tls)
    outcome = outcome_of(backend_shares, stream=True)
    nodes = (*above, *tracer.pods_of(start), whole(state.route.key), rule.node)
    working = [share for share in backend_shares if share.share and not share.problem]
    session = next((tls for tls in map(tracer.tls.of, working) if tls is not None), None)
    request = start.request
    sni = (request.sni or request.host) if passed_on else (session.sni if session is not None else "")
    beyond = tracer.beyond(start)
    questions: list[RequestQuestion] = []
    message = facts(request, questions)._replace(stream=True)
    policies = tracer.met(start, nodes, working, message)
    http = request.scheme == "http" or (request.scheme == "https" and start.listener is not None)
    method, host, path = (request.method, request.host, request.path) if http else ("", "", "")
    forwarded = Forwarded(method, host, path, dict(request.headers), sni)
    trace = start._replace(
        outcome=outcome,
        route=state.route,
        rule=rule.node,
        rule_pointer=("spec", "rules", rule.number),
        path=nodes,
        forwarded=forwarded if working else None,
        response=dict(request.backend_headers),
        policies=policies,
        beyond=tuple(dict.fromkeys(node for share in working for node in beyond(share))),
        notes=(*start.notes, *tracer.refusals(nodes), *taken_for_granted(state, working)),
    )
    trace = tracer.judged(trace, policies, message)._replace(questions=(*trace.questions, *questions))
    cut_off = next(filter(None, map(tracer.policies.cut_off_by, policies)), None)
    if cut_off is not None:
        refusal = tracer.simulation.policies[cut_off].invalid
        outcome = Outcome(refused=True, reason=f"{cut_off} is refused ({refusal})")
        return trace._replace(outcome=outcome, forwarded=None, per_backend={}, failed_by=cut_off)
    if trace.denied is not None:
        return trace
    return tracer.admissions.applied(trace, tracer.client(start), stream=True, asked_for=tracer.asked_for(start))


def _kind(state: RouteState, listener: ListenerState) -> str:
    """Return as which kind of route an object counts: one of a door as the first that its listener takes."""
    kinds = _KINDS[listener.protocol]
    return state.route.key.kind if state.route.key.kind in kinds else kinds[0]


def _beaten(loser: tuple[tuple[Any, ...], str, RouteState], hostname: str, winner: RouteState) -> Considered:
    order, loser_hostname, state = loser
    if order[0]:
        reason = order[0]
    elif loser_hostname != hostname:
        reason = f"server name {loser_hostname or '(every one)'} is less specific"
    elif order[4] != winner.route.age[0]:
        reason = "the other route is older"
    else:
        reason = f"{winner.route.key.path} comes first by name"
    return Considered(rules(state.route)[0].node, reason, state.route, ("spec", "rules", 0))
