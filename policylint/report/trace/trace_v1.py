"""`trace-v1`: traced requests as plain data (docs/design/interfaces.md §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from policylint.model.resource import dotted
from policylint.policy.authorizing import PlacedDecision
from policylint.report.kit import extensions
from policylint.report.kit.identity import Names, json_losses, json_place
from policylint.trace import Asked, Forwarded, Met, Outcome, Trace
from policylint.trace.result import Judged

if TYPE_CHECKING:
    from policylint.implementations.generic.sessions import BackendSession
    from policylint.model import ResourceKey
    from policylint.network.endpoints import Endpoint
    from policylint.network.hops import Hop, Way
    from policylint.network.walk import TierStep
    from policylint.trace.redirects import Followed

VERSION = "trace-v1"
Entry = dict[str, Any]


def entry(trace: Trace, names: Names, environment: str = "", login: Asked | None = None) -> Entry:
    """Return one request and its course; fields without an answer are null.

    Args:
        login: what it is asked for, None where it gets to no backend.
    """
    content: Entry = {"environment": environment} if environment else {}
    content.update(
        request=dict(trace.request.given),
        gateway=None if trace.gateway is None else names.key(trace.gateway),
        listener=None if trace.listener is None else names.node(trace.listener.node),
        route=None if trace.route is None else names.key(trace.route.key),
        rule=None if trace.rule is None else names.node(trace.rule),
        outcome=outcome(trace.outcome, names),
        forwarded=None if trace.forwarded is None else forwarded(trace.forwarded),
        response={"headers": dict(trace.response)},
        mirrors=[names.key(key) for key in trace.mirrors],
        backend_tls=trace.backend_tls,
        policies=[_met(met, names) for met in trace.policies],
        considered=[{"rule": names.node(each.rule), "because": each.because} for each in trace.considered],
    )
    if login is not None:
        content["authentication"] = authentication(login)
    if trace.may_ask:
        content["mayAsk"] = trace.may_ask
    if trace.admissions:
        content["proxies"] = [_admission(admission, names) for admission in trace.admissions]
    if trace.extensions:
        content["extensions"] = [extensions.entry(binding, names) for binding in trace.extensions]
    if trace.judged:
        content["authorization"] = [_judged(judged, names) for judged in trace.judged]
    if trace.match:
        content["match"] = trace.match
    if trace.per_backend:
        content["perBackend"] = {
            names.key(key): {"request": forwarded(request)} for key, request in trace.per_backend.items()
        }
    if known := [(backend, session) for backend, session in trace.sessions.items() if session is not None]:
        content["connections"] = [_connection(backend, session, names) for backend, session in known]
    if trace.nearest:
        content["nearest"] = [{"node": names.node(near.node), "needs": list(near.needs)} for near in trace.nearest]
    if trace.rule is not None and trace.route is not None:
        content["location"] = json_place(trace.route.location(*trace.rule_pointer))
    if trace.near_miss is not None:
        policy, near = trace.near_miss
        content["nearestRule"] = {"rule": dotted(near.pointer), "asksFor": near.unmet}
        content["nearestRule"] |= {} if policy is None else {"policy": names.key(policy)}
    if trace.outcome.reason:
        content["reason"] = trace.outcome.reason
    if trace.network is not None:
        content["network"] = network(trace.network, names)
    if trace.notes:
        content["notes"] = list(trace.notes)
    return content


def _connection(backend: tuple[ResourceKey, int | None], session: BackendSession, names: Names) -> Entry:
    """Return how a backend is connected to, and where that is written."""
    content: Entry = {"backend": names.key(backend[0]), "port": backend[1], "tls": session.state}
    content |= {"against": session.against} if session.against else {}
    if session.by is not None:
        content |= {"by": names.key(session.by.key), "location": json_place(session.by.location(*session.pointer))}
    return content


def authentication(login: Asked) -> Entry:
    """Return what a request is asked for: `state` is that of `reach-v1`, with its reason or what it rests on."""
    settings = {demand.setting for demand in login.demands}
    required = {demand.setting for demand in login.demands if demand.must} if login.state == "asked" else set()
    content: Entry = {"required": sorted(required), "optional": sorted(settings - required), "state": login.state}
    content |= {"because": login.why} if login.why else {}
    return content | ({"ground": login.ground} if login.ground else {})


def redirects(met: Followed, names: Names) -> Entry:
    """Return the requests that follow redirects, and whether they go round in circles."""
    requests = [{"request": str(trace.request), "outcome": outcome(trace.outcome, names)} for trace in met.traces]
    return {"requests": requests, "loop": met.loops}


def network(way: Way, names: Names) -> Entry:
    """Return the hops through the network, each with the walk of either end."""
    return {"verdict": way.verdict, "hops": [_hop(hop, names) for hop in way.hops]}


def _hop(hop: Hop, names: Names) -> Entry:
    content: Entry = {
        "from": "clients" if hop.source is None else end_name(hop.source, names),
        "to": end_name(hop.target, names),
        "port": hop.port,
        "verdict": hop.verdict,
        "egress": [_step(step, names) for step in hop.egress],
        "ingress": [_step(step, names) for step in hop.ingress],
    }
    return {**content, "because": hop.because} if hop.because else content


def end_name(end: Endpoint, names: Names) -> str:
    """Name an end of a connection: `Deployment shop/web`, `Gateway infra/edge (proxies)`."""
    return names.key(end.key) + end.suffix


def _step(step: TierStep, names: Names) -> Entry:
    content: Entry = {"tier": step.tier, "action": step.action}
    if step.policy is not None:
        pointer = step.policy.pointer if step.rule is None else step.rule.pointer
        content["policy"] = names.key(step.policy.key)
        if step.rule is not None:
            content["rule"] = f"{step.rule.direction}[{step.rule.position}]"
            content["name"] = step.rule.name
        content["location"] = json_place(step.policy.resource.location(*(pointer or ("metadata", "name"))))
    if not step.certain:
        content["certain"] = False
    if step.rule is not None and step.rule.calls is not None:
        content["l7"] = True
    return content


def _judged(judged: Judged, names: Names) -> Entry:
    """Return what a policy answers, and where that is written."""
    decision = judged.decision
    content: Entry = {"answer": decision.answer, "policy": names.key(judged.policy)}
    content |= {"on": decision.why} if decision.answer == "depends" else {}
    return content | ({} if judged.location is None else {"location": json_place(judged.location)})


def outcome(value: Outcome, names: Names) -> Entry:
    """Return `{"backends": …}`, `{"redirect": …}`, `{"status": …}`, `{"refused": true}` or `{"unknown": true}`.

    Where some backends cannot be used, `failing` is the share of requests that gets an error instead. What the network
    cuts off is refused, with the backends that it was sent to.
    """
    if value.redirect is not None:
        redirect = value.redirect._asdict()
        return {"redirect": {name: given for name, given in redirect.items() if given is not None}}
    backends = {names.key(key): round(share, 6) for key, share in value.backends.items()}
    if backends:
        failing = round(value.failing, 6)
        return {"backends": backends, "failing": failing} if failing else {"backends": backends}
    if value.refused:
        meant = {names.key(share.key): round(share.share, 6) for share in value.shares if share.share}
        return {"refused": True, **({"backends": dict(sorted(meant.items()))} if meant else {})}
    if value.unknown:
        return {"unknown": True}
    content: Entry = {"status": value.status}
    return {**content, "grpcStatus": value.grpc_status} if value.grpc_status else content


def forwarded(value: Forwarded) -> Entry:
    """Return the request that a backend gets, without empty fields."""
    content = {"method": value.method, "host": value.host, "path": value.path}
    filled: Entry = {name: text for name, text in content.items() if text} | {"headers": dict(value.headers)}
    return {**filled, "sni": value.sni} if value.sni else filled


def _admission(admission: PlacedDecision, names: Names) -> Entry:
    """Return what one proxy answers, and by which policy."""
    decision = admission.decision
    content: Entry = {"at": names.path(list(admission.at.path)), "answer": decision.answer}
    if decision.by is not None:
        content["by"] = names.key(decision.by.key)
        content["location"] = json_place(decision.by.location(*decision.pointer))
    return content | ({"why": f"{decision.why}{admission.note}"} if decision.why else {})


def _met(met: Met, names: Names) -> Entry:
    effective = met.group.effective
    content: Entry = {
        "kind": names.kind(met.group.kind.group, met.group.kind.kind),
        "spec": dict(effective.spec),
        "from": names.keys(effective.sources),
        "lost": json_losses(effective, names),
    }
    if met.skipped:
        content["skipped"] = True
    if met.doubt:
        content["doubt"] = met.doubt
    if met.places:
        content["order"] = dict(sorted(met.places.items(), key=lambda entry: entry[1]))
    if met.backend is None:
        return content
    return {"backend": names.key(met.backend), **({"port": met.port} if met.port else {}), **content}
