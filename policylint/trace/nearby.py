"""What a request nearly met: for 404 and refusals, the rule or listener that a small change would reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policylint.model import Node, Resource, mapping, sequence
from policylint.topology import ListenerState
from policylint.topology.routes import hostnames, rules
from policylint.trace.hosts import serves
from policylint.trace.matching import Miss, matches
from policylint.trace.precedence import Option
from policylint.trace.request import Request
from policylint.trace.result import Nearest

_MOST = 3
_WEIGHT = {"path": 4.0, "method": 1.0, "header": 1.0, "query": 1.0}


def nearest_rules(
    unattached: Sequence[tuple[Resource, str]], found: Iterable[Option], request: Request
) -> tuple[Nearest, ...]:
    """The rules that lack the least: first those of routes that would match but are not attached."""
    near: list[tuple[float, Nearest]] = []
    for route, reason in unattached:
        for rule in rules(route):
            value = mapping(sequence(route.spec.get("rules"))[rule.number])
            serves = any(_host_fits(each, request) for each in hostnames(route))
            if serves and any(not list(each.misses(request)) for each in matches(value, grpc=request.grpc)):
                place = ("spec", "rules", rule.number)
                near.append((0.5, Nearest(rule.node, (f"its route attached: {reason}",), route, place)))
    for option in found:
        needs = tuple(each.needs for each in option.misses)
        near.append((_distance(option.misses), Nearest(option.rule.node, needs, option.route, option.pointer)))
    near.sort(key=lambda each: (each[0], each[1].node))
    best: dict[Node, Nearest] = {}
    for distance, each in near:
        if distance < 3.9:
            best.setdefault(each.node, each)
    return tuple(list(best.values())[:_MOST])


def nearest_hosts(routes: Iterable[tuple[Resource, Sequence[str]]], request: Request) -> tuple[Nearest, ...]:
    """The routes of a listener that serve other hosts, those with the most similar ones first."""
    from difflib import SequenceMatcher

    found = []
    for route, names in routes:
        listed = rules(route)
        hosts = [each for each in names if each and not _host_fits(each, request)]
        if listed and hosts:
            close = max(hosts, key=lambda each: SequenceMatcher(None, each, request.host).ratio())
            likeness = SequenceMatcher(None, close, request.host).ratio()
            place = ("spec", "hostnames")
            found.append((-likeness, Nearest(listed[0].node, (f"host {close}",), route, place)))
    found.sort(key=lambda each: (each[0], each[1].node))
    return tuple(each for _, each in found[:_MOST])


def nearest_listeners(listeners: Iterable[ListenerState], request: Request) -> tuple[Nearest, ...]:
    """The listeners that there are, with what a request has to say to reach them."""
    found = []
    for each in listeners:
        needs = []
        if each.port is not None and each.port != request.port:
            needs.append(f"port {each.port}")
        if each.hostname and not _host_fits(each.hostname, request):
            needs.append(f"host {each.hostname}")
        if each.protocol.lower() != request.scheme:
            needs.append(f"protocol {each.protocol}")
        if needs:
            found.append((len(needs), Nearest(each.node, tuple(needs), each.holder, each.pointer)))
    found.sort(key=lambda each: (each[0], each[1].node))
    return tuple(each for _, each in found[:_MOST])


def _host_fits(pattern: str, request: Request) -> bool:
    return serves(request.sni or request.host, pattern)


def _distance(misses: Iterable[Miss]) -> float:
    return sum(_WEIGHT[each.what] - each.near * 3 for each in misses)
