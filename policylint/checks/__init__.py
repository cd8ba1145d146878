"""The rules: one module each, with `RULE`, and `check`, a generator of findings.

To add a rule: copy the nearest module, give it a line in registry.py, write rules/GWPnnn-name.md. tests/rules/ holds
the three together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING

from policylint.checks.registry import OF_CHANGES, ON_REQUEST, RULES, expand, name_of

if TYPE_CHECKING:
    from policylint.model import Finding
    from policylint.simulation import Simulation

__all__ = ["OF_CHANGES", "ON_REQUEST", "RULES", "expand", "name_of", "run"]

_DEPLOYED = ("GWP1", "GWP2", "GWP4")
"""Families that speak of objects that are deployed together."""
_HANGING_ON_KINDS = ("GWP1", "GWP2")
"""Families with rules that rest on how a kind of policy behaves."""


def run(
    simulation: Simulation, *, select: Collection[str] | None = None, spent: dict[str, float] | None = None
) -> Iterator[Finding]:
    """What the selected rules (default: all) have to say about one environment, sorted by place.

    `spent` takes, by rule, the seconds that each one that had something to look at took; they are added up.
    """
    found: list[Finding] = []
    for rule in sorted(RULES.keys() - ON_REQUEST if select is None else RULES.keys() & set(select)):
        begin = 0.0 if spent is None else perf_counter()
        entry = RULES[rule]
        if entry.runs in ("always", "on request") and entry.needs(simulation):
            findings = import_module(entry.module).check(simulation)
            if rule[:4] in _HANGING_ON_KINDS:
                from policylint.checks.kit.confidence import hedged

                findings = (hedged(each, simulation) for each in findings)
            found.extend(map(_assumed, findings) if simulation.world.movable and rule[:4] in _DEPLOYED else findings)
            if spent is not None:
                spent[rule] = spent.get(rule, 0.0) + perf_counter() - begin
    found.sort(key=lambda each: (*each.location.sort_key(), each.rule, each.message))
    return iter(found)


def _assumed(finding: Finding) -> Finding:
    """Nothing is certain about what meets what while kustomizations that were not rendered may still move it."""
    return finding._replace(confidence="assumed") if finding.confidence == "certain" else finding
