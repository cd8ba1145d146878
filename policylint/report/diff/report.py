"""What the writers of a diff get: the comparison, and what a report of findings needs beside it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from policylint.model import SEVERITIES, Finding, Location, Severity
from policylint.namedtuple import NamedTuple
from policylint.report.findings import Report
from policylint.report.findings import write as write_findings

if TYPE_CHECKING:
    from policylint.compare import Comparison

WRITERS = {
    "text": ("text", "write"),
    "concise": ("concise", "write"),
    "json-v1": ("json_v1", "write"),
    "json": ("json_v1", "write"),
    "markdown": ("markdown", "write"),
    "summary": ("markdown", "summary"),
    "github": ("github", "write"),
}
"""Name of a format that shows changes → the module here and its function that write it; the others of report.FORMATS
show new findings, as lint does."""


def write(name: str, report: DiffReport) -> str:
    """The diff in one of WRITERS or of report.FORMATS, ending in a newline."""
    if name not in WRITERS:
        return write_findings(name, report.report)
    module, function = WRITERS[name]
    written: str = getattr(import_module(f"policylint.report.diff.{module}"), function)(report)
    return written


class DiffReport(NamedTuple):
    """One diff, ready to be written.

    Args:
        comparison: what changes.
        report: how findings of the side after are shown; its findings are the new ones.
        before_lines, before_relative: the same as in the report, for files of the side before.
        again: the command that makes this report.
        span: what was compared in words for machines and footers, e.g. `1a2b3c4..5d6e7f8`.
        files_differ: how many files differ.
        show_unchanged: list unchanged findings too.
        links: the address below which files of the side after can be read, "" for none.
        key: distinguishes comments.
    """

    comparison: Comparison
    report: Report
    before_lines: Callable[[str], list[str]] = lambda _: []
    before_relative: Callable[[str], str | None] = lambda file: file
    again: str = "policylint diff"
    span: str = ""
    files_differ: int = 0
    show_unchanged: bool = False
    links: str = ""
    key: str = "default"

    def known(self, state: str) -> list[Finding]:
        """The findings of a state, but for those that rest on something unknown, unless those are asked for; worst
        first."""
        shown = self.report.options.show_unknown
        found = [each.finding for each in self.comparison.findings if each.state == state]
        found = [each for each in found if shown or each.confidence != "unknown"]
        return sorted(found, key=lambda each: SEVERITIES.index(each.severity))

    def listed(self, state: str, default: Severity = "note") -> list[Finding]:
        least = SEVERITIES.index(self.report.options.min_severity or default)
        return [each for each in self.known(state) if SEVERITIES.index(each.severity) <= least]

    def shown_name(self, environment: str) -> str:
        """The environment as a heading; "" where there is only the nameless one."""
        return "" if environment == "default" and len(self.comparison.environments) == 1 else environment

    def place(self, location: Location | None) -> tuple[str, int] | None:
        """File below the git root and line."""
        if location is None:
            return None
        return self.report.relative(location.file) or location.file, location.at()[0]
