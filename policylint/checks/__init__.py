"""The rules: one module each, with `RULE` and `check`, a generator of findings; rules that are one table share one.

To add a rule: copy the nearest module, give it a line in registry.py, write rules/GWPnnn-name.md. tests/rules/ holds
the three together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from policylint.checks.confidence import settled
from policylint.checks.registry import OF_CHANGES, ON_REQUEST, RULES, expand, name_of
from policylint.model import faults

if TYPE_CHECKING:
    from policylint.model import Finding
    from policylint.simulation import Simulation

__all__ = ["OF_CHANGES", "ON_REQUEST", "RULES", "expand", "guarded", "name_of", "run"]


def run(
    simulation: Simulation, *, select: Collection[str] | None = None, spent: dict[str, float] | None = None
) -> Iterator[Finding]:
    """Return the findings of the selected rules (default: all) on one environment, sorted by place.

    `spent` collects the seconds that each rule took, by rule; those that had nothing to look at are left out.
    """
    findings: list[Finding] = []
    resources = simulation.world.resources
    provisional = {key: resource.provisional for key, resource in resources.items() if resource.provisional}
    for rule in sorted(RULES.keys() - ON_REQUEST if select is None else RULES.keys() & set(select)):
        begin = 0.0 if spent is None else perf_counter()
        entry = RULES[rule]
        with guarded(rule, simulation):
            if entry.runs in ("always", "on request") and entry.needs(simulation):
                findings.extend(settled(entry.check(simulation), simulation, provisional))
                if spent is not None:
                    spent[rule] = spent.get(rule, 0.0) + perf_counter() - begin
    if simulation.world.faults and (select is None or "GWP910" in select):
        from policylint.checks.file_not_parsed import of_faults

        findings.extend(of_faults(simulation))
    findings.sort(key=lambda finding: (*finding.location.sort_key(), finding.rule, finding.message))
    return iter(findings)


@contextmanager
def guarded(rule: str, simulation: Simulation) -> Iterator[None]:
    """Note an error of our own in a rule, so that the other rules go on; what it found until then counts."""
    try:
        yield
    except faults.NOT_OURS:
        raise
    except Exception as error:
        simulation.world.note(faults.fault_of(error, f"rule {rule}", simulation.world.resources))
