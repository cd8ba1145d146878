"""Triage: suppressions in three forms, severities as configured, and a baseline decide which findings are reported.

Imported only when a file mentions policylint, or the configuration or the command asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from policylint.config.settings import Settings
from policylint.model import Finding, Resource, ResourceKey
from policylint.model.suppression import Suppression
from policylint.triage.apply import Suppressed, TriageContext, TriageResult, apply_suppressions

if TYPE_CHECKING:
    from policylint.workspace import Workspace

__all__ = ["Suppressed", "suppressions_of", "triage"]


def triage(
    workspace: Workspace,
    findings: Sequence[Finding],
    settings: Settings | None = None,
    *,
    ran: Collection[str] | None = None,
    locked: Collection[str] = (),
    below: Callable[[str], str] = str,
) -> tuple[list[Finding], list[Suppressed]]:
    """Apply the suppressions of the files and the configuration.

    Args:
        ran: the ids of the rules that ran, None for all.
        locked: ids that files cannot suppress.
        below: returns the path of a file, given as shown, as the configuration's patterns see it.

    Returns:
        The findings that remain, with those about the suppressions themselves (GWP901–904), sorted; and those that are
        suppressed.
    """
    from policylint.checks import OF_CHANGES, RULES, name_of

    rules = {name: rule for rule in RULES for name in (rule.lower(), name_of(rule))}
    chosen = set(RULES) if ran is None else set(ran)
    suppressions = suppressions_of(workspace, settings or Settings())
    # One state cannot tell whether a rule of changes is suppressed in vain.
    checked_rules = chosen - (OF_CHANGES - {finding.rule for finding in findings})
    context = TriageContext(rules, checked_rules, frozenset(locked), _today(suppressions), _resources(workspace), below)
    result = apply_suppressions(findings, suppressions, context)
    reported = _reports(result, context)
    remaining = [*result.findings, *(finding for finding in reported if finding.rule in chosen)]
    return sorted(remaining, key=Finding.sort_key), result.suppressed


def suppressions_of(workspace: Workspace, settings: Settings) -> list[Suppression]:
    """Return all suppressions: of the files that mention policylint, and of the configuration."""
    suppressions: list[Suppression] = []
    if workspace.mentioning:
        from policylint.triage import annotation_suppressions, comments

        for file in sorted(workspace.mentioning):
            suppressions += comments.suppressions(file, workspace.source_lines(file))
        objects = (resource for simulation in workspace.simulations for resource in simulation.world.resources.values())
        suppressions += annotation_suppressions.suppressions(objects, workspace.source_lines)
    if settings.suppressions:
        from policylint.triage import config_entries

        suppressions += config_entries.suppressions(settings)
    return suppressions


def _today(suppressions: Sequence[Suppression]) -> str:
    """Return the date as `2026-11-20`, "" where no suppression expires."""
    if not any(suppression.expires for suppression in suppressions):
        return ""
    from datetime import date

    return date.today().isoformat()


def _resources(workspace: Workspace) -> Callable[[ResourceKey], list[Resource]]:
    """Return a function from an identity to the objects that have it, in all environments."""
    worlds = [simulation.world for simulation in workspace.simulations]
    return lambda key: [resource for world in worlds if (resource := world.get(key)) is not None]


def _reports(result: TriageResult, context: TriageContext) -> list[Finding]:
    """Return the findings of GWP901–904; two problems of one kind at one place are one finding."""
    if not result.problems:
        return []
    from policylint.triage.reports import report

    return [report(problem, context) for problem in dict.fromkeys(result.problems)]
