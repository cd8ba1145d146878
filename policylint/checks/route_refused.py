"""GWP416: a route, or a rule of it, that its controller takes for invalid, though the API server stores it."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Finding
from policylint.simulation import Simulation
from policylint.topology import Condition

RULE = "GWP416"
_SAID = frozenset({"InvalidRule", "UnsupportedConfiguration", "UnsupportedValue"})
_OF_FILTERS = frozenset({"InvalidBackendFilters", "InvalidFilter"})
"""Reasons of conditions about what a route says; ResolvedRefs speaks of what it names as well: GWP401 to GWP406."""
_REASONS = {
    ("Accepted", "False"): _SAID | _OF_FILTERS,
    ("PartiallyInvalid", "True"): _SAID | _OF_FILTERS,
    ("ResolvedRefs", "False"): _OF_FILTERS,
}


def check(simulation: Simulation) -> Iterator[Finding]:
    for route in simulation.topology.routes:
        told: set[str] = set()
        for parent in route.parents:
            for condition in parent.conditions:
                if _is_refusal(condition) and condition.message not in told:
                    told.add(condition.message)
                    yield Finding(
                        RULE,
                        "error",
                        f"{route.route.key} is invalid for {parent.text}: {condition.message}",
                        route.route.location("spec", "rules", key=True),
                        resources=(route.route.key, parent.wanted),
                        label=f"its status will say {condition.type} {condition.status}, {condition.reason}",
                        help=("fix: leave out what the controller does not support",),
                    )


def _is_refusal(condition: Condition) -> bool:
    reasons = _REASONS.get((condition.type, condition.status), frozenset())
    return condition.reason in reasons and bool(condition.message)
