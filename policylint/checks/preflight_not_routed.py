"""GWP317 preflight-not-routed: cross-origin settings of a rule that takes no OPTIONS requests."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.catalog.content import places
from policylint.checks.kit.locations import path
from policylint.checks.kit.tracing import tracer_of
from policylint.documents import Pointer
from policylint.matches import matches
from policylint.model import Finding, Node, Related, Resource, ResourceKey, is_symbolic, mapping, sequence, text
from policylint.model.spelling import spelled
from policylint.policy.asking import setters
from policylint.policy.results import Group
from policylint.reach.entries import entries
from policylint.simulation import Simulation
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
        for route, rule in _rules(simulation, group):
            request = None if (policy.key, rule.node) in told else _unanswered(tracer, rule, route)
            if request is not None:
                told.add((policy.key, rule.node))
                yield _finding(policy.policy, ("spec", *group.kind.preflight.split(".")), rule, route, request)
    for state in simulation.topology.routes:
        for rule in rules(state.route):
            place = next(_filters(rule), None)
            request = None if place is None else _unanswered(tracer, rule, state.route)
            if place is not None and request is not None:
                yield _finding(state.route, place, rule, state.route, request)


def _filters(rule: Rule) -> Iterator[Pointer]:
    """Yield where the filters of a rule say who may call from elsewhere."""
    for number, each in enumerate(map(mapping, sequence(rule.body.get("filters")))):
        if text(each.get("type")) == "CORS":
            yield "spec", "rules", rule.number, "filters", number, "cors"


def _rules(simulation: Simulation, group: Group) -> Iterator[tuple[Resource, Rule]]:
    """Yield the rules that a group acts on, with their routes."""
    for key in group.routes():
        state = simulation.topology.route(key)
        if state is not None:
            yield from ((state.route, rule) for rule in rules(state.route) if rule.node in group.nodes)


def _owner(group: Group) -> ResourceKey:
    """Return who set the cross-origin settings."""
    return setters(group.effective, group.kind.preflight)[0]


def _unanswered(tracer: Tracer, rule: Rule, route: Resource) -> Request | None:
    """Return a preflight for what a rule takes that meets no rule, None where it takes them, or nobody knows."""
    methods = {
        (condition.predicate.value, match.conditions[0].predicate.value)
        for match in matches(rule.body)
        for condition in match.conditions
        if condition.name == "method"
    }
    if not methods or any(method == _PREFLIGHT or is_symbolic(method) or is_symbolic(at) for method, at in methods):
        return None
    state = tracer.topology.route(route.key)
    parents = () if state is None else state.parents
    for entry in entries(tracer, {each.gateway for each in parents if each.accepted and each.gateway is not None}):
        if entry.scheme not in ("http", "https") or entry.port is None:
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


def _finding(setter: Resource, place: Pointer, rule: Rule, route: Resource, request: Request) -> Finding:
    by = f"the filter of {setter.key}" if setter is route else str(setter.key)
    return Finding(
        RULE,
        "warning",
        f"browsers get 404 for the preflight {request}: no rule matches it, and {by} does not answer it",
        setter.location(*place, key=True),
        resources=tuple(dict.fromkeys((setter.key, route.key))),
        label=f"this applies to {rule.node}, whose matches all name other methods",
        related=(Related("the matches", route.location("spec", "rules", rule.number, "matches", key=True)),),
        help=(f"fix: add a match with `method: {_PREFLIGHT}` to the rule",),
        field=path(place),
    )
