"""GWP110: a policy targets `rule-N` of a route whose rules have no names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import at, path
from policylint.model import Finding

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP110"


def check(world: Simulation) -> Iterator[Finding]:
    for state in world.policies.values():
        for target in state.targets:
            named_by_filter = target.filter is not None  # which stands in the rule itself, so it moves along
            if named_by_filter or not any(world.topology.is_synthetic(node) for node in target.nodes):
                continue
            number = target.section.removeprefix("rule-")
            yield Finding(
                RULE,
                "warning",
                f"{state.key} counts on rule {number} of {target.key} staying rule {number}",
                at(state.policy, target.pointer, "sectionName"),
                resources=(state.key, target.key),
                label="a rule inserted above moves this policy to another one",
                help=(f"fix: give rule {number} of {target.key} a `name`, and target that",),
                field=path(target.pointer),
            )
