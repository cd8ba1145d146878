"""GWP411: a rule redirects requests to where it takes them again, so that clients go round in circles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.checks.kit.tracing import tracer_of
from policylint.doors import is_door
from policylint.matches import matches
from policylint.model import Finding, Related, Resource, ResourceKey, mapping, sequence
from policylint.model.spelling import spelled
from policylint.namedtuple import NamedTuple
from policylint.reach import EntryPoint, entries
from policylint.simulation import Simulation
from policylint.spaces.samples import sample
from policylint.topology import RouteState
from policylint.topology.routes import Rule, rules
from policylint.trace import Request, Tracer
from policylint.trace.redirects import MOST, followed

RULE = "GWP411"
_REDIRECT = "RequestRedirect"


class _Redirecting(NamedTuple):
    """A rule of a route, by its place, and the place of its redirect in it."""

    route: ResourceKey
    number: int
    filter: int


def check(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each rule of which a request is redirected until it asks for the same again."""
    tracer = tracer_of(simulation)
    redirecting = {each: (state, rule) for state, rule, each in _redirecting(tracer.simulation)}
    gateways = {key for state, _ in redirecting.values() for key in _gateways(state)}
    if not gateways:
        return
    reported: set[_Redirecting] = set()
    for entry in entries(tracer, gateways):
        if entry.port is None or entry.scheme not in ("http", "https"):
            continue
        for each, (state, rule) in redirecting.items():
            if each in reported or entry.gateway not in _gateways(state):
                continue
            finding = next(_loops(tracer, entry, each, state.route, rule), None)
            if finding is not None:
                reported.add(each)
                yield finding


def _redirecting(simulation: Simulation) -> Iterator[tuple[RouteState, Rule, _Redirecting]]:
    for state in simulation.topology.routes:
        for rule in rules(state.route):
            for number, http_filter in enumerate(map(mapping, sequence(rule.body.get("filters")))):
                if http_filter.get("type") == _REDIRECT:
                    yield state, rule, _Redirecting(state.route.key, rule.number, number)


def _gateways(state: RouteState) -> Iterable[ResourceKey]:
    return {parent.gateway for parent in state.parents if parent.accepted and parent.gateway is not None}


def _loops(tracer: Tracer, entry: EntryPoint, each: _Redirecting, route: Resource, rule: Rule) -> Iterator[Finding]:
    for path in _paths(rule):
        request = Request(
            scheme=entry.scheme,
            host=entry.host,
            path=path,
            port=entry.port,
            gateway=spelled(entry.gateway),
            sni=entry.host if entry.scheme == "https" else "",
        )
        if not tracer.topology.delegations and all(
            candidate.rule.node != rule.node for candidate in tracer.contenders(request)
        ):
            continue
        trace = tracer.trace(request)
        if trace.rule != rule.node or trace.outcome.redirect is None or trace.listener is None:
            continue
        outcome = followed(tracer, trace)
        if len(outcome.traces) == MOST and all(after.rule == trace.rule for after in outcome.traces):
            yield _endless(each, route, entry, request, outcome.traces[0].request)
            continue
        circle = [trace, *outcome.traces][outcome.again or 0 :] if outcome.loops else []
        again = next((after.request for after in circle if after.rule == trace.rule), None)
        if again is not None:  # the rule is in it: one that leads into a circle of others has not made it
            others = [after.rule for after in circle if after.rule not in (None, trace.rule)]
            back = f" by way of {others[0]}" if others else ""
            where = f"listener {trace.listener.name} of {entry.gateway}"
            at_https = entry.scheme == "https" and not others
            at_door = is_door(entry.gateway)
            yield Finding(
                RULE,
                "error",
                f"{route.key} redirects {again} to itself{back}: a loop",
                route.location("spec", "rules", each.number, "filters", each.filter, key=not at_door),
                (route.key, entry.gateway),
                label="" if others else f"this acts on {where}",
                related=tuple(_ending(tracer)) if at_door and at_https else (),
                help=("fix: attach it to the HTTP listener alone (`sectionName` of its parentRef)",)
                if at_https and not at_door
                else (),
                field=f"rules[{each.number}]",
            )


def _endless(each: _Redirecting, route: Resource, entry: EntryPoint, request: Request, further: Request) -> Finding:
    """Return the finding on a redirect to a longer path each time: a prefix that what replaces it begins with."""
    return Finding(
        RULE,
        "error",
        f"{route.key} redirects {request} to {further.path}, which it redirects again, and so on without an end",
        route.location("spec", "rules", each.number, "filters", each.filter, key=not is_door(entry.gateway)),
        (route.key, entry.gateway),
        label="it matches where it redirects to, and makes the path longer each time",
        help=("fix: match less (an exact path), or redirect to what the rule does not match",),
        field=f"rules[{each.number}]",
    )


def _ending(tracer: Tracer) -> Iterator[Related]:
    """Yield which load balancers end TLS, so that proxies take requests for such without it."""
    from policylint.doors.ended_before import plain_entry_points

    for service in dict.fromkeys(tracer.simulation.world.once(plain_entry_points).values()):
        yield Related("its load balancer ends TLS", service.location("metadata", "annotations", key=True))


def _paths(rule: Rule) -> Iterator[str]:
    """Yield a path of each match that demands nothing else."""
    for match in matches(rule.body):
        path, *others = match.conditions
        if not (others or path.fault):
            yield sample(path.predicate.value) if path.predicate.is_expression else path.predicate.value
