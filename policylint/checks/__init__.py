"""The rules: one module each, with `RULE` and `check`, a generator of findings.

To add a rule: copy the nearest module, give it a line in registry.py, write rules/GWPnnn-name.md. tests/rules/ holds
the three together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING

from policylint.checks.registry import OF_CHANGES, ON_REQUEST, RULES, expand, name_of
from policylint.model import faults

if TYPE_CHECKING:
    from policylint.model import Finding, ResourceKey
    from policylint.simulation import Simulation

__all__ = ["OF_CHANGES", "ON_REQUEST", "RULES", "expand", "guarded", "hedge", "name_of", "run"]

_DEPLOYED = ("GWP1", "GWP2", "GWP4")
"""Families of rules on objects that are deployed together."""
_ON_BEHAVIOUR = frozenset({"GWP102", "GWP103", "GWP104", "GWP201", "GWP202", "GWP203", "GWP204", "GWP205", "GWP206"})
"""Rules that rest on what a policy's kind may target, and on how two policies of it combine."""


def run(
    simulation: Simulation, *, select: Collection[str] | None = None, spent: dict[str, float] | None = None
) -> Iterator[Finding]:
    """Return the findings of the selected rules (default: all) on one environment, sorted by place.

    `spent` collects the seconds that each rule took, by rule; those that had nothing to look at are left out.
    """
    findings: list[Finding] = []
    provisional = {key for key, resource in simulation.world.resources.items() if resource.provisional}
    for rule in sorted(RULES.keys() - ON_REQUEST if select is None else RULES.keys() & set(select)):
        begin = 0.0 if spent is None else perf_counter()
        entry = RULES[rule]
        with guarded(rule, simulation):
            if entry.runs in ("always", "on request") and entry.needs(simulation):
                of_rule = import_module(entry.module).check(simulation)
                if rule in _ON_BEHAVIOUR:
                    of_rule = (hedge(finding, simulation) for finding in of_rule)
                if provisional:
                    of_rule = (_open(finding, provisional) for finding in of_rule)
                if simulation.world.movable and rule[:4] in _DEPLOYED:
                    of_rule = map(_assume, of_rule)
                findings.extend(of_rule)
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


def hedge(finding: Finding, simulation: Simulation) -> Finding:
    """Return a finding with confidence "assumed" if its rule rests on a kind whose behaviour could not be verified.

    The catalog says how far each of its kinds is verified; of a kind that only a CRD of the input declares, nothing is
    known but the pattern. What a configuration says of a kind is the user's word.
    """
    if finding.confidence != "certain" or finding.rule not in _ON_BEHAVIOUR or not finding.resources:
        return finding
    state = simulation.policies.get(finding.resources[0])
    if state is None or state.kind.verified != "no" or state.kind.origin == "configuration":
        return finding
    note = f"note: how {state.kind.kind} behaves could not be verified in its implementation's code"
    return finding._replace(confidence="assumed", help=(*finding.help, note))


def _open(finding: Finding, provisional: Collection[ResourceKey]) -> Finding:
    """Return a finding as unknown if it rests on an object that may be deployed with other values."""
    key = next((key for key in finding.resources if key in provisional), None)
    if key is None or finding.confidence == "unknown":
        return finding
    note = f"note: {key} may be deployed with other values: something that changes it could not be rendered"
    return finding._replace(confidence="unknown", help=(*finding.help, note))


def _assume(finding: Finding) -> Finding:
    """Return a finding that kustomizations which were not rendered may still refute."""
    return finding._replace(confidence="assumed") if finding.confidence == "certain" else finding
