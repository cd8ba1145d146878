"""Triage: findings in, findings out. Suppressions in three forms, severities as configured, a baseline.

Imported only when a file mentions policylint, or the configuration or the command asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from policylint.config.settings import Settings
from policylint.model import Finding, Resource, ResourceKey
from policylint.model.suppression import Suppression
from policylint.triage.apply import Ground, Sorted, Suppressed, sort

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
    """What remains, with what is to be said of the suppressions themselves, and what was suppressed.

    Args:
        ran: the ids of the rules that ran, None for all.
        locked: ids that files cannot suppress.
        below: a file as shown → its path as the configuration's patterns see it.
    """
    from policylint.checks import OF_CHANGES, RULES, name_of

    rules = {name: rule for rule in RULES for name in (rule.lower(), name_of(rule))}
    chosen = set(RULES) if ran is None else set(ran)
    found = suppressions_of(workspace, settings or Settings())
    # One state cannot tell whether a rule of changes is suppressed in vain.
    ran_here = chosen - (OF_CHANGES - {each.rule for each in findings})
    ground = Ground(rules, ran_here, frozenset(locked), _today(found), _resources(workspace), below)
    outcome = sort(findings, found, ground)
    reported = _reports(outcome, ground)
    remaining = [*outcome.findings, *(each for each in reported if each.rule in chosen)]
    return sorted(remaining, key=lambda each: (each.location.sort_key(), each.rule, each.message)), outcome.suppressed


def suppressions_of(workspace: Workspace, settings: Settings) -> list[Suppression]:
    """All suppressions: of the files that mention policylint, and of the configuration."""
    found: list[Suppression] = []
    if workspace.mentioning:
        from policylint.triage import annotation_suppressions, comments

        for file in sorted(workspace.mentioning):
            found += comments.suppressions(file, workspace.source_lines(file))
        objects = (each for simulation in workspace.simulations for each in simulation.world.resources.values())
        found += annotation_suppressions.suppressions(objects, workspace.source_lines)
    if settings.suppressions:
        from policylint.triage import config_entries

        found += config_entries.suppressions(settings)
    return found


def _today(suppressions: Sequence[Suppression]) -> str:
    if not any(each.expires for each in suppressions):
        return ""
    from datetime import date

    return date.today().isoformat()


def _resources(workspace: Workspace) -> Callable[[ResourceKey], list[Resource]]:
    worlds = [each.world for each in workspace.simulations]
    return lambda key: [found for world in worlds if (found := world.get(key)) is not None]


def _reports(outcome: Sorted, ground: Ground) -> list[Finding]:
    """The findings of GWP901–904; two problems of one kind at one place are one."""
    if not outcome.problems:
        return []
    from policylint.triage.reports import report

    return [report(problem, ground) for problem in dict.fromkeys(outcome.problems)]
