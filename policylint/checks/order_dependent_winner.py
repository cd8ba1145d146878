"""GWP206: which of two policies on one target prevails hangs on creation order, which the manifests do not state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import target_of
from policylint.model import Finding, Related
from policylint.policy.results import OrderDependence

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP206"
_BY_ISSUER = "RequestAuthentication"
"""All apply, but of two rules for one issuer the first is asked."""


def check(world: Simulation) -> Iterator[Finding]:
    folded: dict[object, list[OrderDependence]] = {}
    for each in world.order_dependent:
        if each.kind.merge.strategy == "union" and each.kind.kind != _BY_ISSUER:
            continue  # all apply, in whichever order
        refused = {
            refusal.by for key in each.policies if key in world.policies for refusal in world.policies[key].refused
        }
        if not refused.intersection(each.policies):  # GWP202 carries the order note
            folded.setdefault((each.policies, each.winner, each.otherwise), []).append(each)
    for several in folded.values():
        yield _finding(world, several)


def _finding(world: Simulation, several: list[OrderDependence]) -> Finding:
    first = several[0]
    winner, otherwise = world.policies[first.winner], world.policies[first.otherwise]
    node = first.node
    more = f" and {len(several) - 1} more" if len(several) > 1 else ""
    created = winner.policy.created
    same = bool(created) and created == otherwise.policy.created
    why = f"both were created at {created}" if same else "the manifests do not state which of them is older"
    return Finding(
        RULE,
        "warning",
        f"{node}{more} gets {first.winner} or {first.otherwise.path}, depending on which is older",
        target_of(winner, node),
        resources=(first.winner, node.key, first.otherwise),
        label=_label(first),
        related=(Related(f"created in the other order, {first.otherwise.path} prevails", target_of(otherwise, node)),),
        help=(f"note: {why}", "fix: merge the two policies into one"),
    )


def _label(first: OrderDependence) -> str:
    if first.kind.kind == _BY_ISSUER:
        return f"both have rules for one issuer; as equals in age, those of {first.winner.path} come first"
    return f"as equals in age, {first.winner.path} prevails by its name"
