"""GWP317 preflight-not-routed: cross-origin settings of a rule that preflights do not meet, or are turned away at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from policylint.catalog.content import places
from policylint.checks.kit.locations import path
from policylint.checks.kit.tracing import tracer_of
from policylint.documents import Pointer
from policylint.doors import is_door
from policylint.matches import matches
from policylint.model import Finding, Node, Related, Resource, ResourceKey, is_symbolic, mapping, sequence, text
from policylint.model.spelling import spelled
from policylint.policy.asking import setters
from policylint.policy.bindings import ObjectBinding
from policylint.policy.results import Group
from policylint.simulation import Simulation
from policylint.spaces.predicates import Predicate
from policylint.spaces.samples import sample
from policylint.topology import RouteState, whole
from policylint.topology.hostnames import covers
from policylint.topology.routes import Rule, rules
from policylint.trace import Request, Trace, Tracer

RULE = "GWP317"
_PREFLIGHT = "OPTIONS"
_REFUSED = (401, 403)
_ANYBODY = "https://www.example.com"
_SENT = frozenset({"accept", "accept-encoding", "accept-language", "host", "referer", "user-agent", "via", "x-real-ip"})
_SENT_LIKE = ("access-control-request-", "cf-", "sec-", "x-forwarded-")
"""What a preflight may have beside the origin (fetch.spec.whatwg.org, «CORS-preflight fetch»), and what proxies add."""


def check(simulation: Simulation) -> Iterator[Finding]:
    tracer = tracer_of(simulation)
    told: set[tuple[ResourceKey, Node]] = set()
    for group in simulation.groups:
        if not group.kind.preflight or not any(places(group.effective.spec, group.kind.preflight, ())):
            continue
        policy = simulation.policies.get(_owner(group))
        if policy is None:
            continue
        origin = _origin(next((value for _, value in places(group.effective.spec, group.kind.preflight, ())), {}))
        setting = ("spec", *group.kind.preflight.split("."))
        for state, rule in _rules(simulation, group):
            trace = None if (policy.key, rule.node) in told else _unanswered(tracer, rule, state, origin, judged=False)
            if trace is not None:
                told.add((policy.key, rule.node))
                yield _finding(policy.policy, setting, rule, state, trace)
    named: dict[Node, list[ObjectBinding]] = {}
    for binding in tracer.simulation.bindings:
        if answers_preflights(binding):
            named.setdefault(binding.node, []).append(binding)
    for state in tracer.topology.routes:
        for rule in rules(state.route):
            if (state.route.key, rule.node) in told:
                continue
            bindings = [*named.get(rule.node, ()), *named.get(whole(state.route.key), ())]
            place, cors = next(chain(_filters(rule), ((each.pointer, None) for each in bindings)), ((), None))
            trace = _unanswered(tracer, rule, state, _origin(cors), judged=not bindings) if place else None
            if trace is not None:
                told.add((state.route.key, rule.node))
                yield _finding(bindings[0].holder if bindings else state.route, place, rule, state, trace)


def _filters(rule: Rule) -> Iterator[tuple[Pointer, Mapping[str, Any]]]:
    """Yield where the filters of a rule say who may call from elsewhere, and what they say."""
    for number, each in enumerate(map(mapping, sequence(rule.body.get("filters")))):
        if text(each.get("type")) == "CORS":
            yield ("spec", "rules", rule.number, "filters", number, "cors"), mapping(each.get("cors"))


def _origin(cors: Any) -> str:
    """Return an origin that settings allow."""
    first = next(iter(sequence(mapping(cors).get("allowOrigins"))), "*")
    if isinstance(first, dict):
        return sample(text(first.get("regex")))
    return _ANYBODY if first == "*" else text(first, _ANYBODY).replace("*", "www")


def answers_preflights(binding: ObjectBinding) -> bool:
    """Tell whether what a route names answers preflights, as its kind has it."""
    kind, resource = binding.kind, binding.resolution.resource
    if kind is None or resource is None or not kind.preflight or binding.is_off or binding.foreign:
        return False
    return binding.says == kind.preflight if kind.says else any(places(resource.spec, kind.preflight, ()))


def _rules(simulation: Simulation, group: Group) -> Iterator[tuple[RouteState, Rule]]:
    """Yield the rules that a group acts on, with their routes."""
    for key in group.routes():
        state = simulation.topology.route(key)
        if state is not None:
            yield from ((state, rule) for rule in rules(state.route) if rule.node in group.nodes)


def _owner(group: Group) -> ResourceKey:
    """Return who set the cross-origin settings."""
    return setters(group.effective, group.kind.preflight)[0]


def _unanswered(tracer: Tracer, rule: Rule, state: RouteState, origin: str, *, judged: bool = True) -> Trace | None:
    """Return the trace of a preflight that meets no rule though this one takes such requests, or is turned away before
    the settings of the rule answer it; None where it is answered, or nobody knows.

    Args:
        judged: whether it is known what is asked before these settings.
    """
    asked = [each for each in _asked(rule) if (judged or each[0] or each[2]) and not _is_beside(state, rule, each[1])]
    if not asked:
        return None
    from policylint.reach.entries import entries

    gateways = {each.gateway for each in state.parents if each.accepted and each.gateway is not None}
    for entry in entries(tracer, gateways):
        if entry.scheme not in ("http", "https") or entry.port is None:
            continue
        if state.hostnames and not any(covers(name, entry.host) for name in state.hostnames):
            continue
        for stated, at, headers in asked:
            method = stated or "GET"
            request = Request(
                scheme=entry.scheme, method=method, host=entry.host, path=at, port=entry.port, headers=headers,
                gateway=spelled(entry.gateway), sni=entry.host if entry.scheme == "https" else "",
            )  # fmt: skip
            answered = tracer.trace(request)
            if answered.rule != rule.node or answered.outcome.status == 404:  # who serves it may know no such filter
                continue
            by_browsers = (("Origin", origin), ("Access-Control-Request-Method", method), *filter(_is_sent, headers))
            trace = tracer.trace(request._replace(method=_PREFLIGHT, headers=by_browsers))
            if trace.rule is None and trace.outcome.status == 404:
                return trace
            is_refused = judged and trace.rule == rule.node and trace.outcome.status in _REFUSED
            return trace if is_refused and trace.denied is not None and trace.denied[1] is not None else None
    return None


def _is_beside(state: RouteState, rule: Rule, at: str) -> bool:
    """Tell whether another rule of a route takes whatever asks for a path, so preflights as well."""
    conditions = (match.conditions for each in rules(state.route) if each != rule for match in matches(each.body))
    return any(len(each) == 1 and not each[0].fault and each[0].predicate.takes(at) is True for each in conditions)


def _is_sent(header: tuple[str, str]) -> bool:
    """Tell whether browsers, or proxies in front, may send a header with a preflight."""
    name = header[0].lower()
    return name in _SENT or name.startswith(_SENT_LIKE)


def _asked(rule: Rule) -> Iterator[tuple[str, str, tuple[tuple[str, str], ...]]]:
    """Yield method ("" for any), path and headers of a request for each match of a rule; nothing where one of them is
    not known."""
    found = []
    for match in matches(rule.body):
        path, *others = match.conditions
        method, headers = "", []
        for each in others:
            sort, _, name = each.name.partition(" ")
            value = _example(each.predicate)
            if each.negated or each.fault or is_symbolic(value) or sort not in ("method", "header"):
                return
            if sort == "method":
                method = value
            else:
                headers.append((name, value or "1"))
        if match.grpc or path.fault or is_symbolic(path.predicate.value):
            return
        found.append((method, _example(path.predicate), tuple(headers)))
    yield from sorted(found)


def _example(path: Predicate) -> str:
    """Return what a predicate takes."""
    return sample(path.value) if path.is_expression else path.value


def _finding(setter: Resource, place: Pointer, rule: Rule, state: RouteState, trace: Trace) -> Finding:
    route, request = state.route, trace.request._replace(headers=())
    by = f"the filter of {setter.key}" if setter is route else str(setter.key)
    at_door = any(each.gateway is not None and is_door(each.gateway) for each in state.parents)
    location = setter.location(*place, key=not at_door)
    by_whom, denied_at = trace.denied or (None, None)
    if by_whom is None or denied_at is None:
        why = f"no rule matches it, and {by} does not answer it"
        what = f"this applies to {rule.node}, whose matches all ask for what a preflight does not have"
        related = Related("the matches", route.location("spec", "rules", rule.number, "matches", key=True))
        repair = f"fix: add a match with `method: {_PREFLIGHT}`, and without headers of its own, to the rule"
    else:
        why = f"{by_whom} turns it away before {by} is asked"
        what = f"this applies to {rule.node}: browsers send preflights without credentials"
        related = Related("this turns it away", denied_at)
        repair = f"fix: let requests with method {_PREFLIGHT} pass there"
    return Finding(
        RULE,
        "warning",
        f"browsers get {trace.outcome.status} for the preflight {request}: {why}",
        location,
        resources=tuple(dict.fromkeys((setter.key, route.key))),
        label=what,
        related=(related,),
        help=(repair,),
        field=path(location.pointer if at_door else place),
    )
