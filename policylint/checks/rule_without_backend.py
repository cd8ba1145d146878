"""GWP413: a rule that answers all requests with 500, as it sends them nowhere and does not answer them itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.matches import matches
from policylint.model import Finding, Node, Resource, ResourceKey, mapping, sequence, text
from policylint.simulation import Simulation
from policylint.simulation.ranking import ranked, ranking
from policylint.topology import RouteState
from policylint.topology.routes import rules

RULE = "GWP413"
_KINDS = ("HTTPRoute", "GRPCRoute")
_ANSWERING = frozenset({"RequestRedirect", "ExtensionRef"})
_OF_POLICIES = ("directresponse", "redirect", "response", "fault", "maintenance")
"""Parts of the names of settings by which a policy answers in place of a backend."""


def check(simulation: Simulation) -> Iterator[Finding]:
    answered: set[ResourceKey] | None = None
    for state in simulation.topology.routes:
        if state.route.key.kind not in _KINDS or state.route.provisional:
            continue  # the values of its chart may name a backend
        if not _is_served_by_gateways(state):
            continue
        for index, rule in ((each.number, each.body) for each in rules(state.route)):
            kinds = {text(mapping(each).get("type")) for each in sequence(rule.get("filters"))}
            backends = [mapping(each) for each in sequence(rule.get("backendRefs"))]
            if _ANSWERING & kinds or any(each.get("weight", 1) != 0 for each in backends):
                continue
            if _is_balanced(simulation, state, rule) or not _is_read(simulation, state, rule):
                continue
            answered = set(_answered(simulation)) if answered is None else answered
            if answered.isdisjoint({state.route.key, *(parent.gateway for parent in state.parents)}):
                yield _finding(state.route, index, backends, is_meant=_is_kept_from(state.route, index))


def _is_served_by_gateways(state: RouteState) -> bool:
    """Return whether listeners serve a route, and nothing else does: a mesh sends what names no backend to its parent,
    and a route of a mesh may be there for policies alone."""
    return bool(state.attached) and not any(parent.mesh or parent.wanted.kind != "Gateway" for parent in state.parents)


def _is_read(simulation: Simulation, state: RouteState, rule: Mapping[str, Any]) -> bool:
    """Return whether some Gateway of a route makes something of a rule: where none does, others answer."""
    orders = (ranking(simulation, simulation.topology.gateway(gateway)) for gateway in _places(state))
    return any(any(ranked(rule, order, grpc=state.route.key.kind == "GRPCRoute")) for order in orders)


def _is_balanced(simulation: Simulation, state: RouteState, rule: Mapping[str, Any]) -> bool:
    """Return whether every Gateway of a route sends these requests to the backends of another rule with one match."""
    grpc = state.route.key.kind == "GRPCRoute"
    own = matches(rule, grpc=grpc)
    for gateway, listeners in _places(state).items():
        holder = simulation.topology.gateway(gateway)
        if holder is None or not ranking(simulation, holder).by.balances_equals:
            return False
        others = [
            match
            for other in simulation.topology.routes
            if other.route.key.kind == state.route.key.kind and listeners & _places(other).get(gateway, set())
            if sequence(other.route.spec.get("hostnames")) == sequence(state.route.spec.get("hostnames"))
            for listed in (each.body for each in rules(other.route))
            if any(mapping(each).get("weight", 1) != 0 for each in sequence(listed.get("backendRefs")))
            for match in matches(listed, grpc=grpc)
        ]
        if not all(any(match.within(other) and other.within(match) for other in others) for match in own):
            return False
    return True


def _places(state: RouteState) -> dict[ResourceKey, set[Node]]:
    """Return the listeners that a route is attached to, by Gateway."""
    found: dict[ResourceKey, set[Node]] = {}
    for parent in state.parents:
        if parent.gateway is not None:
            found.setdefault(parent.gateway, set()).update(parent.attached)
    return found


def _answered(simulation: Simulation) -> Iterator[ResourceKey]:
    """Yield the routes and Gateways at which a policy may answer in place of backends."""
    for policy in simulation.policies.values():
        if _answers(policy.policy.spec):
            yield from (target.key for target in policy.targets)


def _answers(value: Any) -> bool:
    if isinstance(value, dict):
        return any(
            any(part in str(key).lower() for part in _OF_POLICIES) or _answers(inner) for key, inner in value.items()
        )
    return isinstance(value, list) and any(map(_answers, value))


def _is_kept_from(route: Resource, index: int) -> bool:
    """Return whether another rule, which says what it matches, would take all requests of this one and has backends:
    then it is there to keep them from those (`/metrics`)."""
    bodies = {rule.number: rule.body for rule in rules(route)}
    grpc = route.key.kind == "GRPCRoute"
    others = [
        match
        for other, rule in bodies.items()
        if other != index and rule.get("backendRefs") and rule.get("matches")
        for match in matches(rule, grpc=grpc)
    ]
    own = matches(bodies[index], grpc=grpc) if bodies[index].get("matches") else []
    return bool(own) and all(any(match.within(other) for other in others) for match in own)


def _finding(route: Resource, index: int, backends: list[Any], *, is_meant: bool) -> Finding:
    place = ("spec", "rules", index, *(("backendRefs",) if backends else ()))
    why = "all its backends have weight 0" if backends else "it has no backends"
    return Finding(
        RULE,
        "note" if is_meant else "warning",
        f"{route.key} answers with 500 by rule {index + 1}: {why}",
        route.location(*place),
        resources=(route.key,),
        label="nothing takes these requests",
        help=("fix: name a backend, or answer with a RequestRedirect",),
        field=f"spec.rules[{index}]",
    )
