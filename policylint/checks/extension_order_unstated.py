"""GWP212: two extensions of one proxy in one phase and of one priority: which runs first hangs on their age."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from policylint.checks.kit.mesh_policies import EXTENSIONS, extension_place
from policylint.model import Finding, Node, Related, ResourceKey
from policylint.policy.order import order_stated

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP212"


def check(world: Simulation) -> Iterator[Finding]:
    folded: dict[tuple[ResourceKey, ResourceKey], list[Node]] = {}
    for group in world.groups:
        if group.kind.kind not in EXTENSIONS:
            continue
        for one, other in combinations(group.effective.stack, 2):
            together = one.key.namespace == other.key.namespace and extension_place(one.policy) == extension_place(
                other.policy
            )
            if together and not order_stated(one.policy, other.policy):
                folded.setdefault((one.key, other.key), []).extend(path[-1] for path in group.contexts())
    for (first, second), nodes in folded.items():
        yield _finding(world, first, second, sorted(nodes))


def _finding(world: Simulation, first: ResourceKey, second: ResourceKey, nodes: list[Node]) -> Finding:
    one, other = world.policies[first], world.policies[second]
    phase, _ = extension_place(one.policy)
    more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    return Finding(
        RULE,
        "note",
        f"{nodes[0]}{more} runs {first} and {second.path} in an order that hangs on their age",
        other.policy.name_location,
        resources=(second, first, nodes[0].key),
        label=f"both run in {phase} with the same priority",
        related=(Related("the other extension", one.policy.name_location),),
        help=("fix: give the one that is to run first a higher priority",),
    )
