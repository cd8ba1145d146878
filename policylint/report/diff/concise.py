"""One line per change and per new finding, for grep: `~ HTTPRoute shop/a: jwt removed (infra/edge-jwt)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policylint.report.diff.report import DiffReport
from policylint.report.diff.wording import MARKS, finding_parts, nothing_changes, reach_in_words, verdict_parts
from policylint.report.kit.display import one_line

if TYPE_CHECKING:
    from policylint.compare.change import SubjectChange


def write(report: DiffReport) -> str:
    """Routes, then new findings, then the line that counts them."""
    *routes, verdict = changes(report)
    lines = []
    for finding in report.listed("new", "note"):
        line, column = finding.location.at()
        place = f"{finding.location.file}:{line}:{column}"
        lines.append(f"{place}: new {finding.severity}[{finding.rule}] {finding.message}")
    return "\n".join([*routes, *map(one_line, lines), verdict]) + "\n"


def changes(report: DiffReport) -> list[str]:
    """One line per route that changes, then the verdict."""
    lines = []
    parts: list[str] = []
    for environment in report.comparison.environments:
        name = report.shown_name(environment.name)
        prefix = f"{name}: " if name else ""
        lines += [prefix + _subject(each) for each in environment.subjects]
        parts += [prefix + part for part in verdict_parts(environment)]
    lines.append(" · ".join([*(parts or [nothing_changes(report)]), *finding_parts(report)]))
    return list(map(one_line, lines))


def _subject(subject: SubjectChange) -> str:
    said = [reach_in_words(each) for each in subject.reach]
    for part in subject.parts:
        for each in part.settings:
            if each.change != "unchanged":
                who = each.sources_after or each.sources_before
                said.append(f"{each.name} {each.change} ({', '.join(source.policy.path for source in who)})")
        said += [f"{each.name} does not apply" for each in part.lost]
    if subject.reason:
        said.append(subject.reason)
    return f"{MARKS[subject.change]} {subject.key} {subject.change}" + (f": {', '.join(said)}" if said else "")
