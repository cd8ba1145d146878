"""The report that every writer gets: the findings, and all that is needed to show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from policylint.model import SEVERITIES, Finding, Location, Severity
from policylint.model.words import count, count_with_unseen, series
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.edit.text import Edit
    from policylint.model.coverage import Coverage
    from policylint.model.fix import Fix
    from policylint.report.rule_page import RulePage
    from policylint.triage import Suppressed


class Options(NamedTuple):
    """The wishes of the person who reads the report.

    Args:
        color: whether colours may be added.
        links: whether a terminal can follow links (OSC 8).
        addresses: whether the addresses of rule pages are written out: for the log of a CI system, which makes links
            of them, and where nobody can run `policylint rule`.
        with_suppressed: whether SARIF holds suppressed findings too, marked as such.
        width: columns that text may take.
        min_severity: the least severe findings to list; None leaves it to the format (text lists warnings and errors).
        show_unknown: whether findings that rest on something unknown are listed.
    """

    color: bool = False
    width: int = 100
    min_severity: Severity | None = None
    show_unknown: bool = False
    links: bool = False
    addresses: bool = False
    with_suppressed: bool = False


class Region(NamedTuple):
    """A token of a file: 1-based, columns in code points; `end_column` is one past its last character."""

    file: str
    line: int
    column: int
    end_column: int


class Report(NamedTuple):
    """One run, ready to be written.

    Args:
        findings: sorted; suppressed ones are not among them.
        coverage: what was looked at, and what was not seen.
        names: the names of rules, by id.
        pages: the pages of all enabled rules, by id; SARIF and Markdown need them.
        seconds: the duration of the run, None to leave it out (reproducible texts).
        version: that of policylint.
        home: the address of the project, below which the rule pages are; "" where none is known.
        source_lines: the lines of a file for snippets, [] when it is not available. A final newline makes a last "".
        relative: a file as shown → its path below the git root; None for what is no file of the tree (stdin).
        suppressed: the number of suppressed findings.
        silenced: the suppressed findings, each with its suppression.
        accepted: the number of findings in the baseline; None without one.
        paths: the paths that were asked for, below the git root; () for everything.
        notices: remarks about the run itself, and not about what it found: file, line, sentence.
        again: arguments that make another command read the same tree, as they were typed; None where none can (stdin).
        is_list: whether the findings of one cause are listed one by one.
    """

    findings: Sequence[Finding]
    coverage: Coverage
    environments: tuple[str, ...] = ("default",)
    names: Mapping[str, str] = {}
    pages: Mapping[str, RulePage] = {}
    seconds: float | None = None
    version: str = ""
    home: str = ""
    source_lines: Callable[[str], list[str]] = lambda _: []
    relative: Callable[[str], str | None] = lambda file: file
    options: Options = Options()
    suppressed: int = 0
    paths: tuple[str, ...] = ()
    accepted: int | None = None
    silenced: Sequence[Suppressed] = ()
    again: Sequence[str] | None = None
    notices: Sequence[tuple[str, int, str]] = ()
    is_list: bool = False

    def name_of(self, rule: str) -> str:
        """Return a rule's name, "" for an unknown rule."""
        return self.names.get(rule, "")

    def title_of(self, rule: str) -> str:
        """Return a rule's id and name."""
        return f"{rule} {self.name_of(rule)}".strip()

    def address_of(self, rule: str) -> str:
        """Return the address of a rule's page as it was in the version that ran, "" where the home is not known."""
        if not self.home:
            return ""
        name = self.pages[rule].name if rule in self.pages else self.name_of(rule)
        return f"{self.home}/blob/v{self.version}/rules/{rule}-{name}.md"

    def path_of(self, file: str) -> str:
        """Return a file's path below the git root, or its name as shown."""
        return self.relative(file) or file

    def region(self, location: Location) -> Region:
        """Return the token at a location; it is one character long where its file is not available."""
        from policylint.report.kit.token import token_end

        line, column = location.at()
        lines = self.source_lines(location.file)
        end = token_end(lines[line - 1], column) if 1 <= line <= len(lines) else column + 1
        return Region(location.file, line, column, end)

    def fixes_of(self, finding: Finding) -> list[tuple[Fix, list[Edit]]]:
        """Return the fixes of a finding with their edits, but for those that cannot be made exactly."""
        from policylint.edit.plan import edits

        def text(file: str) -> str | None:
            return "\n".join(self.source_lines(file)) or None

        return [(fix, made) for fix in finding.fixes if (made := edits(fix, text))]

    def listed(self, default: Severity = "note") -> list[Finding]:
        """Return the findings to list, by a format that lists down to `default` by itself.

        Whoever asks for what is unknown gets it of any severity: hardly any of it is more than a note.
        """
        asked = self.options.min_severity
        least = SEVERITIES.index(asked or default)
        return [
            finding
            for finding in self.known
            if SEVERITIES.index(finding.severity) <= least or (finding.confidence == "unknown" and not asked)
        ]

    def folded(self, default: Severity = "note") -> list[Finding]:
        """Return the findings to list, for people: those that are not certain last, and as one where they are alike."""
        from policylint.report.findings.fold import folded
        from policylint.report.findings.once import once

        listed = self.listed(default)
        doubtful = [finding for finding in listed if finding.confidence != "certain"]
        return folded([*once([finding for finding in listed if finding.confidence == "certain"]), *doubtful])

    @property
    def known(self) -> list[Finding]:
        """The findings, without those that rest on something unknown unless asked for (docs/design/rules.md)."""
        return [finding for finding in self.findings if finding.confidence != "unknown" or self.options.show_unknown]

    def counted(self, findings: Sequence[Finding]) -> dict[Severity, int]:
        """Return how many findings of each severity there are: those of one cause count once, but in a plain list."""
        from policylint.report.findings.once import once

        return counts(findings if self.is_list else once(findings))

    @property
    def verdict(self) -> str:
        """`2 errors, 1 warning`, or `0 findings`; notes are not part of it. No findings in nothing are no good news."""
        number = self.counted(self.known)
        parts = [count(number[severity], severity) for severity in ("error", "warning") if number[severity]]
        if not parts and self.coverage.orphans and not self.coverage.checked:
            return "nothing was checked"
        return ", ".join(parts) or "0 findings"

    @property
    def answered(self) -> list[str]:
        """The numbers of findings that somebody has answered for: `2 suppressed`, `3 in the baseline`."""
        parts = [f"{self.suppressed} suppressed"] if self.suppressed else []
        return parts if self.accepted is None else [*parts, f"{self.accepted} in the baseline"]

    @property
    def looked_at(self) -> str:
        """`14 policies on 23 routes, 2 gateways and 1 elsewhere`."""
        kinds = (
            (self.coverage.policies, "policy", "policies"),
            (self.coverage.network_policies, "network policy", "network policies"),
            (self.coverage.cluster_policies, "policy for clusters", "policies for clusters"),
        )
        policies = series(count(*kind) for kind in kinds if kind[0]) or "0 policies"
        gateways = count_with_unseen(self.coverage.gateways, "gateway", len(self.coverage.unseen))
        return f"{policies} on {count(self.coverage.routes, 'route')}, {gateways}"

    @property
    def effort(self) -> str:
        """`41 files, 0.4 s`; the time only where it is known."""
        files = count(self.coverage.files, "file")
        return files if self.seconds is None else f"{files}, {self.seconds:.1f} s"


def counts(findings: Sequence[Finding]) -> dict[Severity, int]:
    """Return the number of findings of each severity, worst first."""
    return {severity: sum(finding.severity == severity for finding in findings) for severity in SEVERITIES}
