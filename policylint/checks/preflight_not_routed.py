"""GWP317 preflight-not-routed: cross-origin settings of a rule that takes no OPTIONS requests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

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
from policylint.reach.entries import entries
from policylint.simulation import Simulation
from policylint.spaces.predicates import Predicate
from policylint.spaces.samples import sample
from policylint.topology import RouteState, whole
from policylint.topology.hostnames import covers
from policylint.topology.routes import Rule, rules
from policylint.trace import Request, Tracer

RULE = "GWP317"
_PREFLIGHT = "OPTIONS"


def check(simulation: Simulation) -> Iterator[Finding]:
    tracer = tracer_of(simulation)
    told: set[tuple[ResourceKey, Node]] = set()
    for group in simulation.groups:
        if not group.kind.preflight or not any(places(group.effective.spec, group.kind.preflight, ())):
            continue
        policy = simulation.policies.get(_owner(group))
        if policy is None:
            continue
        for state, rule in _rules(simulation, group):
            request = None if (policy.key, rule.node) in told else _unanswered(tracer, rule, state)
            if request is not None:
                told.add((policy.key, rule.node))
                setting = ("spec", *group.kind.preflight.split("."))
                yield _finding(policy.policy, setting, rule, state, request)
    named: dict[Node, list[ObjectBinding]] = {}
    for binding in tracer.simulation.bindings:
        if answers_preflights(binding):
            named.setdefault(binding.node, []).append(binding)
    for state in tracer.topology.routes:
        for rule in rules(state.route):
            if (state.route.key, rule.node) in told:
                continue
            bindings = [*named.get(rule.node, ()), *named.get(whole(state.route.key), ())]
            place = next(chain(_filters(rule), (each.pointer for each in bindings)), None)
            request = None if place is None else _unanswered(tracer, rule, state)
            if place is not None and request is not None:
                told.add((state.route.key, rule.node))
                yield _finding(bindings[0].holder if bindings else state.route, place, rule, state, request)


def _filters(rule: Rule) -> Iterator[Pointer]:
    """Yield where the filters of a rule say who may call from elsewhere."""
    for number, each in enumerate(map(mapping, sequence(rule.body.get("filters")))):
        if text(each.get("type")) == "CORS":
            yield "spec", "rules", rule.number, "filters", number, "cors"


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


def _unanswered(tracer: Tracer, rule: Rule, state: RouteState) -> Request | None:
    """Return a preflight for what a rule takes that meets no rule, None where it takes them, or nobody knows."""
    demanded = [(each, match.conditions[0].predicate) for match in matches(rule.body) for each in match.conditions]
    named = [(each.predicate.value, at) for each, at in demanded if each.name == "method" and not each.negated]
    if any(_PREFLIGHT in method or is_symbolic(method) or is_symbolic(at.value) for method, at in named):
        return None
    methods = {(method, _example(at)) for method, at in named}
    gateways = {each.gateway for each in state.parents if each.accepted and each.gateway is not None}
    for entry in entries(tracer, gateways):
        if entry.scheme not in ("http", "https") or entry.port is None:
            continue
        if state.hostnames and not any(covers(name, entry.host) for name in state.hostnames):
            continue
        for method, at in sorted(methods):
            request = Request(
                scheme=entry.scheme, method=method, host=entry.host, path=at, port=entry.port,
                gateway=spelled(entry.gateway), sni=entry.host if entry.scheme == "https" else "",
            )  # fmt: skip
            answered = tracer.trace(request)
            if answered.rule != rule.node or answered.outcome.status == 404:  # who serves it may know no such filter
                continue
            preflight = request._replace(method=_PREFLIGHT)
            trace = tracer.trace(preflight)
            return preflight if trace.rule is None and trace.outcome.status == 404 else None
    return None


def _example(path: Predicate) -> str:
    """Return a path that a match takes."""
    return sample(path.value) if path.is_expression else path.value


def _finding(setter: Resource, place: Pointer, rule: Rule, state: RouteState, request: Request) -> Finding:
    route = state.route
    by = f"the filter of {setter.key}" if setter is route else str(setter.key)
    at_door = any(each.gateway is not None and is_door(each.gateway) for each in state.parents)
    location = setter.location(*place, key=not at_door)
    return Finding(
        RULE,
        "warning",
        f"browsers get 404 for the preflight {request}: no rule matches it, and {by} does not answer it",
        location,
        resources=tuple(dict.fromkeys((setter.key, route.key))),
        label=f"this applies to {rule.node}, whose matches all name other methods",
        related=(Related("the matches", route.location("spec", "rules", rule.number, "matches", key=True)),),
        help=(f"fix: add a match with `method: {_PREFLIGHT}` to the rule",),
        field=path(location.pointer if at_door else place),
    )
