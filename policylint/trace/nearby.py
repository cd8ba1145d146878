"""Find near misses: for 404 and refusals, the rule or listener that a small change of the request would reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policylint.matches import matches
from policylint.model import Node, Resource
from policylint.topology import ListenerState
from policylint.topology.routes import hostnames, rules
from policylint.trace.hosts import serves
from policylint.trace.precedence import RuleCandidate
from policylint.trace.request import Request
from policylint.trace.result import Nearest

_MOST = 3
_WEIGHT = {"path": 4.0, "method": 1.0, "header": 1.0, "query": 1.0}


def nearest_rules(
    unattached: Sequence[tuple[Resource, str]], candidates: Iterable[RuleCandidate], request: Request
) -> tuple[Nearest, ...]:
    """Return the rules that lack the least: first those of routes that would match but are not attached."""
    near: list[tuple[float, Nearest]] = []
    for route, need in unattached:
        for rule in rules(route):
            serves = any(_host_fits(hostname, request) for hostname in hostnames(route))
            if serves and any(not list(match.misses(request)) for match in matches(rule.body, grpc=request.grpc)):
                place = ("spec", "rules", rule.number)
                near.append((0.5, Nearest(rule.node, (need,), route, place)))
    for candidate in (each for each in candidates if each.match.fault is None):
        needs = tuple(miss.needs for miss in candidate.misses)
        distance = sum(_WEIGHT[miss.what] - miss.near * 3 for miss in candidate.misses)
        near.append((distance, Nearest(candidate.rule.node, needs, candidate.route, candidate.pointer)))
    near.sort(key=lambda scored: (scored[0], scored[1].node))
    best: dict[Node, Nearest] = {}
    for distance, nearest in near:
        if distance < 3.9:
            best.setdefault(nearest.node, nearest)
    return tuple(list(best.values())[:_MOST])


def nearest_hosts(routes: Iterable[tuple[Resource, Sequence[str]]], request: Request) -> tuple[Nearest, ...]:
    """Return the routes of a listener that serve other hosts, those with the most similar ones first."""
    from difflib import SequenceMatcher

    scored_routes = []
    for route, names in routes:
        listed = rules(route)
        hosts = [name for name in names if name and not _host_fits(name, request)]
        if listed and hosts:
            close = max(hosts, key=lambda name: SequenceMatcher(None, name, request.host).ratio())
            likeness = SequenceMatcher(None, close, request.host).ratio()
            place = ("spec", "hostnames")
            scored_routes.append((-likeness, Nearest(listed[0].node, (f"host {close}",), route, place)))
    scored_routes.sort(key=lambda scored: (scored[0], scored[1].node))
    return tuple(nearest for _, nearest in scored_routes[:_MOST])


def nearest_listeners(listeners: Iterable[ListenerState], request: Request) -> tuple[Nearest, ...]:
    """Return the listeners of a Gateway, with what a request needs to reach them."""
    found = []
    for listener in listeners:
        needs = []
        if listener.port is not None and listener.port != request.port:
            needs.append(f"port {listener.port}")
        if listener.hostname and not _host_fits(listener.hostname, request):
            needs.append(f"host {listener.hostname}")
        if listener.protocol.lower() != request.scheme:
            needs.append(f"protocol {listener.protocol}")
        if needs:
            found.append(Nearest(listener.node, tuple(needs), listener.holder, listener.pointer))
    return tuple(sorted(found, key=lambda nearest: (len(nearest.needs), nearest.node))[:_MOST])


def _host_fits(pattern: str, request: Request) -> bool:
    return serves(request.sni or request.host, pattern)
