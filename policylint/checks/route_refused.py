"""GWP416: a route, or a rule of it, that its controller takes for invalid, though the API server stores it."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.present import routes_served
from policylint.checks.kit.routing import unusable_filters
from policylint.documents import Pointer
from policylint.implementations import implementation
from policylint.model import Finding
from policylint.model.words import listing
from policylint.simulation import Simulation
from policylint.topology import Condition, RouteState
from policylint.topology.ancestry import implementation_of
from policylint.topology.routes import rules

RULE = "GWP416"
_SAID = frozenset({"InvalidRule", "UnsupportedConfiguration", "UnsupportedValue"})
_OF_FILTERS = frozenset({"InvalidBackendFilters", "InvalidFilter"})
"""Reasons of conditions about what a route says; ResolvedRefs speaks of what it names as well: GWP401 to GWP406."""
_REASONS = {
    ("Accepted", "False"): _SAID | _OF_FILTERS,
    ("PartiallyInvalid", "True"): _SAID | _OF_FILTERS,
    ("ResolvedRefs", "False"): _OF_FILTERS | {"BackendError", "IncompatibleFilters"},
}


def check(simulation: Simulation) -> Iterator[Finding]:
    """Yield what controllers say of routes that do as their schemas want: the others are GWP501's."""
    yield from _unsupported(simulation)
    broken = {each.resource.key for each in simulation.broken}
    for route in (each for each in simulation.topology.routes if each.route.key not in broken):
        told: set[str] = set()
        refusals = [
            (parent, condition)
            for parent in route.parents
            for condition in parent.conditions
            if _is_refusal(condition) or _is_of_shape(condition, route)
        ]
        if not refusals:
            continue
        known = _told_of_filters(simulation, route)
        for parent, condition in refusals:
            gateway = None if parent.gateway is None else simulation.topology.gateway(parent.gateway)
            if gateway is not None and implementation_of(gateway, simulation.catalog) in known:
                continue
            if condition.message not in told:
                told.add(condition.message)
                said = f"its status will say {condition.type} {condition.status}, {condition.reason}"
                yield Finding(
                    RULE,
                    "error",
                    f"{route.route.key} is invalid for {parent.text}: {condition.message}",
                    route.route.location("spec", "parentRefs" if parent.silent else "rules", key=True),
                    resources=(route.route.key, parent.wanted),
                    label="no status says so" if parent.silent else said,
                    help=("fix: leave out what the controller does not support",),
                )


def _unsupported(simulation: Simulation) -> Iterator[Finding]:
    """Yield the filters that none of the controllers of a route's Gateways supports, as their catalog files say."""
    for route, gateways, names in routes_served(simulation):
        from policylint.implementations.generic.supported import unsupported_filters

        for rule in rules(route.route):
            asked = (route.route.key.kind, rule.body)
            found = [dict(unsupported_filters(*asked, name, simulation.catalog)) for name in names]
            number = next((number for number in found[0] if all(number in each for each in found)), None)
            if number is None:
                continue
            place: Pointer = ("spec", "rules", rule.number, "filters", number)
            status = simulation.catalog.limits(names[0]).unsupported
            yield Finding(
                RULE,
                "error",
                f"{route.route.key} has filter {found[0][number]}, which {listing(names)} does not support",
                route.route.location(*place),
                resources=(route.route.key, gateways[0]),
                label=f"requests for the rule are answered with {status}",
                help=("fix: leave out what the controller does not support",),
                field=path(place),
            )


def _is_refusal(condition: Condition) -> bool:
    reasons = _REASONS.get((condition.type, condition.status), frozenset())
    return condition.reason in reasons and bool(condition.message)


def _is_of_shape(condition: Condition, route: RouteState) -> bool:
    """Tell whether a controller takes a route for invalid by how many rules and backends it has."""
    by_backends = any(backend.reason == condition.reason for backend in route.backends)
    return (*condition[1:3], by_backends) == ("False", "UnsupportedValue", False) and condition.type == "ResolvedRefs"


def _told_of_filters(simulation: Simulation, route: RouteState) -> set[str]:
    """Return the implementations whose filters at the route fail, which GWP406 says."""
    unusable = {binding.wanted for binding, _ in unusable_filters(simulation)}
    named = [each for each in simulation.bindings if each.form == "filter" and each.holder.key == route.route.key]
    failing = [each for each in named if not each.resolution.found or each.wanted in unusable]
    told = {each.kind.implementation for each in failing if each.kind is not None}
    if failing:
        return told
    gateways = (simulation.topology.gateway(parent.gateway) for parent in route.parents if parent.gateway is not None)
    names = {implementation_of(gateway, simulation.catalog) for gateway in gateways if gateway is not None}
    for name in sorted(name for name in names if name is not None):
        fault_of = implementation(name).rule_fault
        asked = (each for each in rules(route.route) if "sessionPersistence" in each.body or each.body.get("filters"))
        if any(fault_of(route.route, rule, simulation.topology) for rule in asked):
            told.add(name)
    return told
