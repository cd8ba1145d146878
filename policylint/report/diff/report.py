"""The report that writers of a diff get: the comparison, and a report of its new findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.model import SEVERITIES, Finding, Location, Severity
from policylint.namedtuple import NamedTuple
from policylint.report.diff.dialect import DIALECTS, Dialect
from policylint.report.findings import Report
from policylint.report.findings import write as write_findings
from policylint.report.formats import OF_CHANGES, writer

if TYPE_CHECKING:
    from policylint.compare import Comparison
    from policylint.session.judge import ConfigurationChange
    from policylint.triage import Suppressed

STATE = frozenset({"sarif"})
"""Formats whose readers keep the last report as the state: what is not in it is mended. They get all."""


def write(name: str, report: DiffReport) -> str:
    """Write the diff in a format, ending in a newline."""
    if name in STATE:
        return write_findings(name, report.report._replace(findings=report.of_after()))
    if name not in OF_CHANGES:
        return write_findings(name, report.report)
    return writer(OF_CHANGES[name])(report)


class DiffReport(NamedTuple):
    """One diff, ready to be written.

    Args:
        report: the findings of the side after; its findings are the new ones.
        before_lines, before_relative: as in the report, for files of the side before.
        again: the command that makes this report.
        span: the revisions, for machines and footers, e.g. `1a2b3c4..5d6e7f8`.
        readers: the same revisions as the clones of readers have them, e.g. `origin/main...5d6e7f8`, for commands that
            they run; "" where `span` is known to them.
        files_differ: the number of files that differ.
        show_unchanged: list unchanged findings too.
        links: the address below which files of the side after can be read, "" for none.
        graph: the address of the page of `policylint graph`, to whose views markdown links; "" for none.
        key: distinguishes comments.
        dialect: the Markdown of the forge.
        diagrams: environment → its diagram, where a document holds them; None where they can be drawn.
        silenced: findings after that files suppress since the change.
        configuration: what the change does to the configuration, by which it is not judged; None where nothing.
    """

    comparison: Comparison
    report: Report
    before_lines: Callable[[str], list[str]] = lambda _: []
    before_relative: Callable[[str], str | None] = lambda file: file
    again: str = "policylint diff"
    span: str = ""
    readers: str = ""
    files_differ: int = 0
    show_unchanged: bool = False
    links: str = ""
    graph: str = ""
    key: str = "default"
    dialect: Dialect = DIALECTS["github"]
    diagrams: Mapping[str, str] | None = None
    silenced: Sequence[Suppressed] = ()
    configuration: ConfigurationChange | None = None

    def known(self, state: str) -> list[Finding]:
        """Return the findings of a state, worst first; those that rest on something unknown only if asked for."""
        return self._of(state).known

    def listed(self, state: str, default: Severity = "note") -> list[Finding]:
        """Return the findings of a state to list, by a format that lists down to `default` by itself."""
        return self._of(state).listed(default)

    def folded(self, state: str, default: Severity = "note") -> list[Finding]:
        """Return the findings of a state to list, for people: worst first, of one severity those that are certain, and
        those that are alike and are not certain as one."""
        return sorted(self._of(state).folded(default), key=lambda finding: SEVERITIES.index(finding.severity))

    @property
    def has_content(self) -> bool:
        """Whether the change does anything that is worth a comment."""
        if self.configuration is not None or self.silenced:
            return True
        if any(compared.state != "unchanged" for compared in self.comparison.findings):
            return True
        return any(
            environment.subjects or environment.policies or environment.connections or environment.placements
            or any(touched.change != "changed" for touched in environment.objects)
            or (environment.requests is not None and (environment.requests.changes or environment.requests.unknown))
            for environment in self.comparison.environments
        )  # fmt: skip

    def of_after(self) -> list[Finding]:
        """Return the findings of the side after: the new ones, and those that were there before."""
        return [*self.comparison.of("new"), *self.comparison.of("unchanged")]

    def _of(self, state: str) -> Report:
        findings = [compared.finding for compared in self.comparison.findings if compared.state == state]
        findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
        return self.report._replace(findings=findings)

    def shown_name(self, environment: str) -> str:
        """Return the environment as a heading; "" where there is only the nameless one."""
        return "" if environment == "default" and len(self.comparison.environments) == 1 else environment

    def place(self, location: Location | None) -> dict[str, Any] | None:
        """Return file below the git root and line."""
        return None if location is None else {"file": self.report.path_of(location.file), "line": location.at()[0]}
