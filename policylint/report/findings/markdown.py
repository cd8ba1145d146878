"""Markdown for a job summary or a comment: the verdict, a table of findings, the details folded.

Source: docs/design/conventions.md §3.

Every section has a budget: it is there whole or not at all, and what is left out is counted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from policylint.model import SEVERITIES, Finding, Location
from policylint.model.words import count, listing
from policylint.report.findings.report import Report
from policylint.report.kit.escape import code, escape, html, spoken
from policylint.report.kit.tables import table_head, table_row

BUDGET = 60_000
"""Characters; a comment may have 65,536."""
SUMMARY_BUDGET = 900 * 1024 * 3 // 4
"""Characters of a job summary, which may have 1 MiB; not all of them are one byte."""
MOST_DETAILS = 25
MOST_RELATED = 10
_HEADS = table_head("", "Rule", "Where", "")


class MarkdownPage:
    """Markdown that grows section by section until it is full."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._sections: list[str] = []

    def add(self, section: str) -> None:
        """Add a section if there is room for it."""
        if len(section) + 2 <= self._room:
            self._room -= len(section) + 2
            self._sections.append(section)

    def add_list(self, head: str, rows: Sequence[str], tail: str, more: str, share: float = 1.0) -> None:
        """Add as many rows as fit a share of the room that is left, between a head and a tail.

        `more` is the line that counts the other rows, with `{}` for their number.
        """
        room = int(self._room * share) - len(head) - len(tail) - len(more) - 20
        fitting = 0
        while fitting < len(rows) and room >= len(rows[fitting]) + 1:
            room -= len(rows[fitting]) + 1
            fitting += 1
        if not fitting:
            return
        rest = len(rows) - fitting
        last = f"\n\n{more.format(rest)}" if rest else ""
        self.add("\n".join([head, *rows[:fitting]]) + last + tail)

    def text(self) -> str:
        return "\n\n".join(self._sections)


def summary(write: Callable[[int | None], str]) -> str:
    """Return a page with the room of a job summary: whole where that fits, else with the limits of a comment's parts.

    Args:
        write: writes the page within so many characters, or whole for None.
    """
    whole = write(None)
    return whole if len(whole) <= SUMMARY_BUDGET else write(SUMMARY_BUDGET)


def write_summary(report: Report) -> str:
    """Write the page of a job summary, ending in a newline."""
    return summary(lambda budget: write(report, budget))


def write(report: Report, budget: int | None = BUDGET) -> str:
    """Write the page, ending in a newline.

    Args:
        budget: the most characters it may have, None for the whole.
    """
    findings = sorted(report.folded(), key=lambda finding: SEVERITIES.index(finding.severity))
    main = [finding for finding in findings if finding.severity != "note"]
    notes = findings[len(main) :]
    footer = _footer(report)
    page = MarkdownPage((budget or sys.maxsize) - len(footer) - 3)
    page.add(f"### policylint: {report.verdict}")
    page.add(_opening(report))
    more = "{} more: `policylint lint` lists them."
    page.add_list(_HEADS, [_row(report, finding) for finding in main], "", more, 0.6)
    for finding in main[: budget and MOST_DETAILS]:
        if details := _details(report, finding):
            page.add(details)
    summary = f"<details><summary>{count(len(notes), 'note')}</summary>\n\n{_HEADS}"
    page.add_list(summary, [_row(report, note) for note in notes], "\n\n</details>", more)
    return f"{page.text()}\n\n{footer}\n"


def _opening(report: Report) -> str:
    notes = report.counted(report.known)["note"]
    parts = [count(notes, "note")] if notes else []
    parts += [*report.answered, report.looked_at, *(code(path, table=False) for path in report.paths)]
    return " · ".join(parts)


def _place(report: Report, location: Location, *, table: bool = True) -> str:
    """Return `shop/cors.yaml:11` below the git root: readers of a comment do not stand where the command ran."""
    return code(f"{report.path_of(location.file)}:{location.at()[0]}", table=table)


def _row(report: Report, finding: Finding) -> str:
    return finding_row(report, finding, _place(report, finding.location))


def finding_row(report: Report, finding: Finding, place: str, notes: str = "") -> str:
    """Return a row: severity, rule with a link to its page, place, message with its first fix and the notes."""
    rule = finding.rule
    address = report.address_of(rule) if rule in report.pages else ""
    link = f"[{rule}]({address})" if address else escape(rule)
    fix = next((note for note in finding.notes if note.startswith("fix: ")), "")
    fix = f". Fix: {spoken(fix.removeprefix('fix: '))}" if fix else ""
    return table_row(finding.severity, link, place, f"{spoken(finding.message)}{fix}{notes}")


def _details(report: Report, finding: Finding) -> str:
    """Return what the table has no room for, "" where nothing is left."""
    places = [(finding.location, finding.label)] if finding.label else []
    places += [(related.location, related.message) for related in finding.related[:MOST_RELATED]]
    lines = [f"- {_place(report, where, table=False)}: {spoken(words, table=False)}" for where, words in places]
    if len(finding.related) > MOST_RELATED:
        lines.append(f"- and {len(finding.related) - MOST_RELATED} more places")
    lines += [f"- {spoken(note, table=False)}" for note in finding.notes if not note.startswith("fix: ")]
    if not lines:
        return ""
    summary = f"{finding.rule}: {html(finding.message)}"
    return "\n".join([f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"])


def _footer(report: Report) -> str:
    parts = [f"Judged by: {spoken(release, table=False)}" for release in report.coverage.releases]
    parts += [f"Not seen: {spoken(sentence, table=False)}" for sentence in report.coverage.not_rendered[:5]]
    if report.coverage.unevaluated:
        parts.append(f"Not evaluated: {spoken(listing(report.coverage.unevaluated), table=False)}")
    parts += [f"Not checked: {spoken(str(entry), table=False)}" for entry in report.coverage.left_out[:5]]
    again = code(" ".join(["policylint lint", *report.paths]), table=False)
    parts += [f"policylint {report.version}".strip(), report.effort, f"reproduce: {again}"]
    return f"<sub>{' · '.join(parts)}</sub>"
