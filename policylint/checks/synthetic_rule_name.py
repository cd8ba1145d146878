"""GWP110: a policy targets `rule-N` of a route whose rules have no names."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import at, path, targets
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP110"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state, target in targets(simulation):
        if target.filter is not None:
            continue  # the filter is in the rule itself, so the target moves along
        if not any(map(simulation.topology.is_synthetic, target.nodes)):
            continue
        number = target.section.removeprefix("rule-")
        yield Finding(
            RULE,
            "warning",
            f"{state.key} depends on rule {number} of {target.key} keeping its position",
            at(state.policy, target.pointer, "sectionName"),
            resources=(state.key, target.key),
            label="a rule inserted above it moves this policy to a different rule",
            help=(f"fix: give rule {number} of {target.key} a `name`, and target that",),
            field=path(target.pointer),
        )
