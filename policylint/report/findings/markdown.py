"""Markdown for a job summary or a comment: the verdict, a table of findings, the details folded.

Source: docs/design/conventions.md §3.

Every section has a budget: it is there whole or not at all, and what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from policylint.model import SEVERITIES, Finding, Location
from policylint.model.words import count
from policylint.report.findings.report import Report, counts
from policylint.report.findings.sarif_rules import page_uri
from policylint.report.kit.escape import code, escape, html, spoken
from policylint.report.kit.wording import how_much, looked_at, verdict

BUDGET = 60_000
"""Characters; a comment may have 65,536."""
MOST_DETAILS = 25
MOST_RELATED = 10
_HEADS = "| | Rule | Where | |\n|---|---|---|---|"


class Page:
    """Markdown that grows section by section until it is full."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._sections: list[str] = []

    def add(self, section: str) -> bool:
        """Whether there was room for the section."""
        if len(section) + 2 > self._room:
            return False
        self._room -= len(section) + 2
        self._sections.append(section)
        return True

    def add_list(self, head: str, items: Sequence[str], tail: str, more: str, share: float = 1.0) -> None:
        """As many items as fit a share of the room that is left, between a head and a tail, and the number of the rest.

        `more` is the line that says so, with `{}` for the number.
        """
        room = int(self._room * share) - len(head) - len(tail) - len(more) - 20
        fitting = 0
        while fitting < len(items) and room >= len(items[fitting]) + 1:
            room -= len(items[fitting]) + 1
            fitting += 1
        if not fitting:
            return
        rest = len(items) - fitting
        last = f"\n\n{more.format(rest)}" if rest else ""
        self.add("\n".join([head, *items[:fitting]]) + last + tail)

    def text(self) -> str:
        return "\n\n".join(self._sections)


def write(report: Report) -> str:
    """The page, ending in a newline."""
    findings = sorted(report.listed(), key=lambda each: SEVERITIES.index(each.severity))
    main = [each for each in findings if each.severity != "note"]
    notes = [each for each in findings if each.severity == "note"]
    footer = _footer(report)
    page = Page(BUDGET - len(footer) - 3)
    page.add(f"### policylint: {verdict(report)}")
    page.add(_opening(report))
    more = "{} more: `policylint lint` lists them."
    if main:
        page.add_list(_HEADS, [_row(report, each) for each in main], "", more, 0.6)
    for finding in main[:MOST_DETAILS]:
        details = _details(report, finding)
        if details:
            page.add(details)
    if notes:
        summary = f"<details><summary>{count(len(notes), 'note')}</summary>\n\n{_HEADS}"
        page.add_list(summary, [_row(report, each) for each in notes], "\n\n</details>", more)
    return f"{page.text()}\n\n{footer}\n"


def _opening(report: Report) -> str:
    number = counts(report.known)
    parts = []
    if number["note"]:
        parts.append(count(number["note"], "note"))
    if report.suppressed:
        parts.append(f"{report.suppressed} suppressed")
    if report.accepted is not None:
        parts.append(f"{report.accepted} in the baseline")
    parts.append(looked_at(report))
    parts += [code(path, table=False) for path in report.paths]
    return " · ".join(parts)


def _place(report: Report, location: Location, *, table: bool = True) -> str:
    """`shop/cors.yaml:11` below the git root: readers of a comment do not stand where the command ran."""
    return code(f"{report.relative(location.file) or location.file}:{location.at()[0]}", table=table)


def _row(report: Report, finding: Finding) -> str:
    page = report.pages.get(finding.rule)
    rule = f"[{finding.rule}]({page_uri(page, report.version)})" if page else escape(finding.rule)
    said = spoken(finding.message)
    fix = next((each for each in finding.help if each.startswith("fix: ")), "")
    if fix:
        said += f". Fix: {spoken(fix.removeprefix('fix: '))}"
    return f"| {finding.severity} | {rule} | {_place(report, finding.location)} | {said} |"


def _details(report: Report, finding: Finding) -> str:
    """What the table has no room for, "" when there is nothing."""
    lines = []
    if finding.label:
        lines.append(f"- {_place(report, finding.location, table=False)}: {spoken(finding.label, table=False)}")
    for each in finding.related[:MOST_RELATED]:
        lines.append(f"- {_place(report, each.location, table=False)}: {spoken(each.message, table=False)}")
    if len(finding.related) > MOST_RELATED:
        lines.append(f"- and {len(finding.related) - MOST_RELATED} more places")
    lines += [f"- {spoken(each, table=False)}" for each in finding.help if not each.startswith("fix: ")]
    if not lines:
        return ""
    summary = f"{finding.rule}: {html(finding.message)}"
    return "\n".join([f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"])


def _footer(report: Report) -> str:
    parts = [f"Not seen: {spoken(each, table=False)}" for each in report.coverage.not_rendered[:5]]
    again = code(" ".join(["policylint lint", *report.paths]), table=False)
    parts += [f"policylint {report.version}".strip(), how_much(report), f"reproduce: {again}"]
    return f"<sub>{' · '.join(parts)}</sub>"
