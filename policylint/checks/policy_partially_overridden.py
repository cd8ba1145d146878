"""GWP204: some of what a policy sets is overridden somewhere."""

from __future__ import annotations

from collections.abc import Container, Iterator

from policylint.checks.kit.losses import lost_fields, names, overridden, superseders
from policylint.model import Finding, Node, ResourceKey
from policylint.model.words import listing
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation

RULE = "GWP204"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        if state.verdict != "PartiallyEnforced":
            continue
        by = superseders(simulation, state)
        fields = lost_fields(state, by)
        if by and fields:
            losing, all_routes = _count_routes(state, by)
            where = f" on {losing} of {all_routes} routes" if all_routes > 1 else ""
            who = f"{names(state, by)} {'sets' if len(by) == 1 else 'set'}"
            message = f"{state.key} is partly overridden{where}: {who} {listing(fields)}"
            label = f"{listing(fields)} of this policy {'does' if len(fields) == 1 else 'do'} not apply there"
            yield overridden(RULE, "note", message, label, simulation, state, by)


def _count_routes(state: PolicyState, by: Container[ResourceKey]) -> tuple[int, int]:
    """Count the routes on which a policy loses something to others, and those on which it acts at all."""
    acting: set[Node] = set()
    losing: set[Node] = set()
    for group in state.groups:
        routes = {node for node in group.nodes if node.key.kind.endswith("Route") and node.role == node.key.kind}
        acting |= routes
        if any(key in by for lost in group.effective.lost_by(state.key) for key in lost.by):
            losing |= routes
    return len(losing), len(acting)
