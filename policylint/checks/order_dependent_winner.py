"""GWP206: which of two policies on one target prevails hangs on creation order, which the manifests do not state."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import target_of
from policylint.checks.kit.order import BY_ISSUER, decides
from policylint.checks.kit.wording import and_more
from policylint.model import Finding, Related
from policylint.policy.results import OrderDependence
from policylint.simulation import Simulation

RULE = "GWP206"


def check(simulation: Simulation) -> Iterator[Finding]:
    folded: dict[object, list[OrderDependence]] = {}
    for dependence in simulation.order_dependent:
        policies = dependence.policies
        if not decides(dependence):
            continue
        states = [simulation.policies[key] for key in policies if key in simulation.policies]
        refusing = {refusal.by for state in states for refusal in state.refused}
        if refusing.isdisjoint(policies):  # GWP202 carries the order note
            folded.setdefault((policies, dependence.winner, dependence.otherwise), []).append(dependence)
    for dependences in folded.values():
        yield _finding(simulation, dependences)


def _finding(simulation: Simulation, dependences: list[OrderDependence]) -> Finding:
    first = dependences[0]
    winner, otherwise = simulation.policies[first.winner], simulation.policies[first.otherwise]
    node = first.node
    created = winner.policy.created
    same = bool(created) and created == otherwise.policy.created
    why = f"both were created at {created}" if same else "the manifests do not say which of them is older"
    return Finding(
        RULE,
        "warning",
        f"{node}{and_more(dependences)} gets {first.winner} or {first.otherwise.path}, depending on which is older",
        target_of(winner, node),
        resources=(first.winner, node.key, first.otherwise),
        label=_label(first),
        related=(Related("if this one is older, it wins", target_of(otherwise, node)),),
        help=(f"note: {why}", "fix: merge the two policies into one"),
    )


def _label(first: OrderDependence) -> str:
    if first.kind.kind == BY_ISSUER:
        return f"both have rules for the same issuer; if neither is older, those of {first.winner.path} come first"
    return f"if neither is older, {first.winner.path} wins by name"
