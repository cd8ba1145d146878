"""GWP318 hosts-drift: hosts and paths that a Gateway's policy repeats, and that its routes no longer have.

A policy at a Gateway that tells requests apart by their hosts repeats what stands in the routes. Which of its words are
hosts and paths say the questions that it asks of a request which brings nothing; what becomes of the requests, a trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.checks.kit.askers import Askers
from policylint.checks.kit.locations import path
from policylint.checks.kit.tracing import tracer_of
from policylint.checks.kit.wording import misspelt_hosts
from policylint.documents import Pointer
from policylint.matches import matches
from policylint.model import Finding, ResourceKey, is_symbolic
from policylint.model.spelling import spelled
from policylint.model.words import listing
from policylint.patterns import Pattern
from policylint.policy.results import PolicyState
from policylint.reach.entries import EntryPoint, entries
from policylint.simulation import Simulation
from policylint.spaces.predicates import Predicate
from policylint.topology import RouteState
from policylint.topology.hostnames import EVERY, without_port
from policylint.topology.routes import rules
from policylint.trace import Request, Trace, Tracer
from policylint.trace.hosts import serves

RULE = "GWP318"
_HOSTS = frozenset({"host", "header host", "header :authority"})
_QUOTED = Pattern(r"""["']([^"'\s]+)["']""")
"""A text in an expression."""
_FEWEST = 2
"""Hosts that a policy names, for each that it leaves out."""


def check(simulation: Simulation) -> Iterator[Finding]:
    named: dict[ResourceKey, list[PolicyState]] = {}
    for state in simulation.policies.values():
        if state.kind.settings.authorization and state.groups and not state.invalid_code:
            for key in {node.key for target in state.targets for node in target.nodes if node.key.kind == "Gateway"}:
                named.setdefault(key, []).append(state)
    askers = Askers(tracer_of(simulation)) if named else None
    for gateway, states in sorted(named.items()):
        if askers is not None:
            yield from _at(askers, gateway, states)


def _at(askers: Askers, gateway: ResourceKey, states: list[PolicyState]) -> Iterator[Finding]:
    words = {state.key: dict(_words(state.policy.spec, ("spec",))) for state in states}
    tracer = askers.tracer
    known = [each for each in entries(tracer, [gateway]) if each.port is not None and each.scheme in ("http", "https")]
    served = {pattern for route in _routes(tracer, gateway) for pattern in route.hostnames or (EVERY,)}
    hosts = {each.host for each in known} & served
    repeating = {each.key for each in states if len(hosts & words[each.key].keys()) >= _FEWEST}
    misspelt = misspelt_hosts({word for each in states for word in words[each.key]}, hosts)
    states = [each for each in states if each.key in repeating or not misspelt.isdisjoint(words[each.key])]
    if not states:
        return
    questions = [question for each in known for question in _asked(tracer, each, blank=True).questions]
    about = {each for question in questions if question.name in _HOSTS for each in question.predicates}
    paths = {each for question in questions if question.name == "path" for each in question.predicates}
    for state in states:
        mine = words[state.key]
        stated = {without_port(each.value) for each in about if each.type == "Exact"} & mine.keys()
        for host in sorted(stated if state.key in repeating else stated & misspelt):
            if not any(serves(host, pattern) for pattern in served):
                yield _stale(state, mine[host], f"host {host}", gateway)
        if state.key not in repeating:
            continue
        for word, place in mine.items():
            meant = [each for each in paths if each.takes(word.replace("*", "x"))] if word.startswith("/") else []
            if meant and not any(_may_ask(tracer, gateway, each) for each in meant):
                yield _stale(state, place, f"path {word}", gateway)
        yield from _left_out(askers, state, stated, [each for each in known if each.host in hosts], about)


def _words(value: Any, pointer: Pointer) -> Iterator[tuple[str, Pointer]]:
    """Yield the texts of a policy with their places, hosts without their ports."""
    entries_of = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in entries_of:
        yield from _words(inner, (*pointer, name))
    if isinstance(value, str) and not is_symbolic(value):
        yield from ((text, pointer) for text in (value, without_port(value), *_QUOTED.findall(value)))


def _asked(tracer: Tracer, entry: EntryPoint, *, blank: bool = False) -> Trace:
    """Trace a request for a host that a rule takes."""
    routes = (route for route in _routes(tracer, entry.gateway) if entry.host in route.hostnames)
    taken = (
        match.conditions[0].predicate for route in routes for rule in rules(route.route) for match in matches(rule.body)
    )
    at = next((each.value for each in taken if each.value.startswith("/") and not each.is_expression), "/")
    sni = entry.host if entry.scheme == "https" else ""
    return tracer.trace(
        Request(
            scheme=entry.scheme,
            host=entry.host,
            path=at,
            port=entry.port,
            gateway=spelled(entry.gateway),
            sni=sni,
            blank=blank,
        )
    )


def _may_ask(tracer: Tracer, gateway: ResourceKey, predicate: Predicate) -> bool:
    """Return whether a rule of a route at a Gateway may take a path that a policy asks for."""
    return any(
        condition.name != "path" or condition.predicate.overlaps(predicate) is not False
        for route in _routes(tracer, gateway)
        for rule in rules(route.route)
        for match in matches(rule.body)
        for condition in match.conditions[:1]  # the path
    )


def _routes(tracer: Tracer, gateway: ResourceKey) -> Iterator[RouteState]:
    """Yield the routes that name a Gateway, and those that are delegated to."""
    for route in tracer.topology.routes:
        if not route.parents or any(parent.gateway == gateway for parent in route.parents):
            yield route


def _stale(state: PolicyState, place: Pointer, what: str, gateway: ResourceKey) -> Finding:
    return Finding(
        RULE,
        "note",
        f"{state.key} names {what}, which no route of {gateway} has",
        state.policy.location(*place),
        resources=(state.key, gateway),
        label="no route takes such requests",
        field=path(place),
    )


def _left_out(
    askers: Askers, state: PolicyState, stated: set[str], known: list[EntryPoint], about: set[Predicate]
) -> Iterator[Finding]:
    """Yield a finding on the hosts beside those that a policy names which it treats otherwise."""
    beside = {each.host: each for each in known if each.host not in stated}
    inside = {each.host: each for each in known if each.host in stated}
    turning = {host: askers.of(_asked(askers.tracer, each)) for host, each in inside.items()}
    asking = {host for host, by in turning.items() if by is not None and by.by.key == state.key}
    domains = {host.partition(".")[2] for host in inside}
    siblings = {host: each for host, each in beside.items() if domains == {host.partition(".")[2]}}
    covered = {host for host in siblings if any(predicate.takes(host) for predicate in about)}
    others = sorted(siblings.keys() - covered)
    if not others or len(inside) < _FEWEST * len(others) or asking != set(inside):
        return
    if all(askers.is_open(_asked(askers.tracer, siblings[host])) for host in others):
        place = next(at for word, at in _words(state.policy.spec, ("spec",)) if word in inside)
        yield Finding(
            RULE,
            "note",
            f"{state.key} guards {listing(sorted(inside), most=3)}, but not {listing(others, most=3)}",
            state.policy.location(*place),
            resources=(state.key, siblings[others[0]].gateway),
            label=f"nothing asks for a login at {listing(others, most=3)}",
            help=("fix: name the host here, or say on its route that it is open on purpose",),
            field=path(place),
        )
