"""One line per change and per new finding, for grep and CI logs: `~ HTTPRoute shop/a: jwt removed (infra/edge-jwt)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policylint.compare.requests import difference_in_words, sets_in_words
from policylint.model.words import count
from policylint.report.diff import requests
from policylint.report.diff.report import DiffReport
from policylint.report.diff.wording import MARKS, finding_parts, nothing_changes, reach_in_words, verdict_parts
from policylint.report.findings.github import commands, notices
from policylint.report.kit.display import inert, one_line

if TYPE_CHECKING:
    from policylint.compare.change import SubjectChange


def write(report: DiffReport) -> str:
    """Write routes, then new findings, then the line that counts them."""
    *routes, verdict = changes(report)
    lines = []
    for finding in requests.beside(report.listed("new"), ()):
        line, column = finding.location.at()
        place = f"{finding.location.file}:{line}:{column}"
        doubt = "" if finding.confidence == "certain" else f" ({finding.confidence})"
        lines.append(one_line(f"{place}: new {finding.severity}[{finding.rule}] {finding.message}{doubt}"))
    lines += [one_line(f"{file}:{line}:1: {sentence}") for file, line, sentence in report.report.notices]
    return "\n".join([*routes, *lines, verdict]) + "\n"


def github(report: DiffReport) -> str:
    """Write the workflow commands for how it was judged and for new findings, then the changes as plain lines, ending
    in a newline."""
    annotations = [*notices(report.report), *commands(report.report, report.folded("new"), f"{report.again} -o text")]
    return "\n".join([*annotations, *map(inert, changes(report))]) + "\n"


def changes(report: DiffReport) -> list[str]:
    """Return one line per route that changes, then the verdict."""
    lines = []
    parts: list[str] = []
    for environment in report.comparison.environments:
        name = report.shown_name(environment.name)
        prefix = f"{name}: " if name else ""
        lines += [prefix + _subject(subject) for subject in environment.subjects]
        for change in () if environment.requests is None else environment.requests.changes:
            told = f"{sets_in_words(change)}: {difference_in_words(change)}"
            lines.append(f"{prefix}{requests.MARKS[change.change]} {requests.WORDS[change.change]} {told}")
        for why, hosts in () if environment.requests is None else environment.requests.unknown:
            lines.append(f"{prefix}! not known for {count(hosts, 'host')}: {why}")
        parts += [prefix + part for part in verdict_parts(environment)]
    parts = [*(parts or [nothing_changes(report)]), *requests.parts(report)]
    lines.append(" · ".join([*parts, *finding_parts(report)]))
    return list(map(one_line, lines))


def _subject(subject: SubjectChange) -> str:
    changes = [reach_in_words(reach) for reach in subject.reach]
    for part in subject.parts:
        for setting in part.settings:
            if setting.change != "unchanged":
                policies = [origin.policy.path for origin in setting.sources_after or setting.sources_before]
                changes.append(f"{setting.name} {setting.change} ({', '.join(policies)})")
        changes += [f"{setting.name} does not apply" for setting in part.lost]
    if subject.reason:
        changes.append(subject.reason)
    return f"{MARKS[subject.change]} {subject.key} {subject.change}" + (f": {', '.join(changes)}" if changes else "")
