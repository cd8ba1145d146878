"""What every writer gets: the findings, and all that is needed to show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from policylint.model import SEVERITIES, Finding, Severity
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.model.coverage import Coverage
    from policylint.model.rule_page import RulePage
    from policylint.triage import Suppressed


class Options(NamedTuple):
    """How a person wants it.

    Args:
        color: whether colours may be added.
        links: whether a terminal can follow links (OSC 8).
        addresses: whether the addresses of rule pages are written out: in the log of a CI system, which makes them
            links, and where nobody can run `policylint rule`.
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


class Report(NamedTuple):
    """One run, ready to be written.

    Args:
        findings: sorted; suppressed ones are not among them.
        coverage: what was looked at, and what was not seen.
        environments: their names.
        names: the names of rules, by id.
        pages: the pages of all enabled rules, by id; what SARIF and Markdown need.
        seconds: how long it took, None to leave it out (reproducible texts).
        version: of policylint.
        source_lines: the lines of a file for snippets, [] when it is not available. A final newline makes a last "".
        relative: a file as shown → its path below the git root; None for what is no file of the tree (stdin).
        options: how it is to look.
        suppressed: how many findings were suppressed.
        silenced: those findings, each with its suppression.
        accepted: how many findings are in the baseline; None without one.
        paths: what was asked for, below the git root; () for everything.
        again: arguments that make another command read the same tree, as they were typed; None where none can (stdin).
    """

    findings: Sequence[Finding]
    coverage: Coverage
    environments: tuple[str, ...] = ("default",)
    names: Mapping[str, str] = {}
    pages: Mapping[str, RulePage] = {}
    seconds: float | None = None
    version: str = ""
    source_lines: Callable[[str], list[str]] = lambda _: []
    relative: Callable[[str], str | None] = lambda file: file
    options: Options = Options()
    suppressed: int = 0
    paths: tuple[str, ...] = ()
    accepted: int | None = None
    silenced: Sequence[Suppressed] = ()
    again: Sequence[str] | None = None

    def name_of(self, rule: str) -> str:
        """A rule's name, "" for a rule that is not known."""
        return self.names.get(rule, "")

    def listed(self, default: Severity = "note") -> list[Finding]:
        """The findings that are to be listed, where a format lists down to `default` by itself."""
        least = SEVERITIES.index(self.options.min_severity or default)
        return [each for each in self.known if SEVERITIES.index(each.severity) <= least]

    @property
    def known(self) -> list[Finding]:
        """All findings but those that rest on something unknown, unless those are asked for (docs/design/rules.md)."""
        return [each for each in self.findings if each.confidence != "unknown" or self.options.show_unknown]


def counts(findings: Sequence[Finding]) -> dict[Severity, int]:
    """How many findings there are of each severity, worst first."""
    return {severity: sum(each.severity == severity for each in findings) for severity in SEVERITIES}
