"""GWP212: two extensions of one proxy in one phase and of one priority: which runs first hangs on their age."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from policylint.checks.kit.mesh_policies import EXTENSIONS, extension_place
from policylint.checks.kit.wording import and_more
from policylint.model import Finding, Node, Related, Resource, ResourceKey
from policylint.policy.order import order_stated
from policylint.simulation import Simulation

RULE = "GWP212"


def check(simulation: Simulation) -> Iterator[Finding]:
    folded: dict[tuple[ResourceKey, ResourceKey], list[Node]] = {}
    for group in simulation.groups:
        if group.kind.kind not in EXTENSIONS:
            continue
        for first, second in combinations([attachment.policy for attachment in group.effective.stack], 2):
            together = first.key.namespace == second.key.namespace
            if together and extension_place(first) == extension_place(second) and not order_stated(first, second):
                folded.setdefault((first.key, second.key), []).extend(path[-1] for path in group.contexts())
    for (one, other), nodes in folded.items():
        yield _finding(simulation.policies[one].policy, simulation.policies[other].policy, sorted(nodes))


def _finding(first: Resource, second: Resource, nodes: list[Node]) -> Finding:
    phase, _ = extension_place(first)
    return Finding(
        RULE,
        "note",
        f"the order of {first.key} and {second.key.path} on {nodes[0]}{and_more(nodes)} depends on their age",
        second.name_location,
        resources=(second.key, first.key, nodes[0].key),
        label=f"both run in {phase} with the same priority",
        related=(Related("the other extension", first.name_location),),
        help=("fix: give the one that should run first a higher priority",),
    )
