"""From the workspace's findings to those that are reported: suppressions, configured severities."""

# ruff: noqa: PTH118 - paths as seen from here

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.cli import configured
from policylint.model import Finding
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.config import Settings
    from policylint.model.rule_page import RulePage
    from policylint.triage import Suppressed
    from policylint.triage.baseline import Compared
    from policylint.workspace import Workspace

UNREAD = "GWP910"
"""file-not-parsed: an error with --strict, and the job was not done whole."""
UNUSED = "GWP901"
"""unused-suppression."""


class Judged(NamedTuple):
    """The findings that stay, and those that somebody has answered for."""

    findings: list[Finding]
    suppressed: Sequence[Suppressed] = ()

    def lines(self) -> Iterator[str]:
        """For --verbose: what was suppressed, where and why."""
        for finding, by in self.suppressed:
            (line, _), (at, _) = finding.location.at(), by.location.at()
            why = f"{by.form} at {by.location.file}:{at}: {by.reason}"
            yield f"suppressed {finding.rule} at {finding.location.file}:{line} by {why}"


def judge(
    workspace: Workspace,
    settings: Settings,
    chosen: set[str] | None,
    *,
    strict: bool = False,
    with_ignores: bool = True,
    whole: bool = True,
    spent: dict[str, float] | None = None,
    amend: Callable[[list[Finding]], list[Finding]] | None = None,
) -> Judged:
    """Ask the rules and sort what they say.

    Args:
        chosen: the ids of the rules that run, None for all.
        with_ignores: heed suppressions.
        whole: whether everything is looked at: in a part of a repository a suppression may seem unused that is not.
        spent: takes the seconds that each rule took.
        amend: what else is known of the findings before suppressions are heeded.
    """
    findings = workspace.findings(chosen, spent=spent)
    if amend is not None:
        findings = amend(findings)
    if settings.assume:  # what is assumed is known in part only: it is not judged itself
        findings = [each for each in findings if each.location.document is not settings.places]
    suppressed: Sequence[Suppressed] = ()
    if with_ignores and (workspace.mentioning or settings.suppressions):
        from policylint.triage import triage

        locked = configured.locked(settings)
        below = configured.below_directory(settings.directory)
        ran = chosen if whole else _without_unused(chosen)
        findings, suppressed = triage(workspace, findings, settings, ran=ran, locked=locked, below=below)
    severity: dict[str, Any] = {UNREAD: "error"} if strict else {}
    severity |= {rule: each for rule, each in configured.severities(settings).items() if each != "off"}
    if severity:
        findings = [_with_severity(each, severity) for each in findings]
        suppressed = [each._replace(finding=_with_severity(each.finding, severity)) for each in suppressed]
    return Judged(findings, suppressed)


def is_whole(paths: Sequence[str]) -> bool:
    """Whether a run looks at everything there is: no single environments, no paths below the git root."""
    import click

    from policylint.cli.opening import top
    from policylint.sources.listing import git_root

    if click.get_current_context().meta.get(configured.ENVIRONMENTS):
        return False
    if not paths or git_root(".") is None:
        return True
    root = os.path.realpath(top())
    return any(os.path.realpath(path) == root for path in paths)


def _without_unused(chosen: set[str] | None) -> set[str]:
    from policylint.checks import RULES

    return (set(RULES) if chosen is None else chosen) - {UNUSED}


def _with_severity(finding: Finding, severity: Mapping[str, Any]) -> Finding:
    return finding._replace(severity=severity[finding.rule]) if finding.rule in severity else finding


def with_baseline(workspace: Workspace, judged: Judged, file: str, ran: set[str] | None) -> Compared:
    """The findings that are not in the baseline.

    Raises:
        click.UsageError: the baseline cannot be read.
    """
    from policylint.triage.baseline import BaselineError, compare, read

    try:
        known = read(file)
    except BaselineError as error:
        raise configured.ConfigurationError(str(error)) from None
    return compare(judged.findings, fingerprints_of(workspace, judged.findings), known, ran)


def baseline_file(settings: Settings) -> str:
    """The configured baseline, else the one beside the configuration, else the one at the git root."""
    if settings.baseline:
        return settings.baseline
    from policylint.cli.opening import top
    from policylint.triage.baseline import FILE

    directory = settings.directory if settings.file else top()
    return os.path.normpath(os.path.join(directory, FILE))


def fingerprints_of(workspace: Workspace, findings: Sequence[Finding]) -> list[str]:
    """One per finding (report.fingerprint)."""
    from functools import partial

    from policylint.cli.opening import below_root
    from policylint.report.findings import Report
    from policylint.report.findings.fingerprint import fingerprints

    report = Report(findings, workspace.coverage, relative=partial(below_root, workspace.root))
    return fingerprints(report, findings)


def names_of(rules: set[str]) -> dict[str, str]:
    """Rule → its name, for those that there are."""
    from policylint.checks import RULES, name_of

    return {rule: name_of(rule) for rule in sorted(rules) if rule in RULES}


def pages_for(formats: set[str], chosen: set[str] | None, found: set[str]) -> dict[str, RulePage]:
    """The pages that writers need: of all enabled rules for SARIF, of those that found something for the others."""
    if not formats & {"sarif", "markdown", "summary", "codeclimate"}:
        return {}
    from policylint.model.rule_page import all_pages

    enabled = {page.id: page for page in all_pages() if chosen is None or page.id in chosen or page.id in found}
    return enabled if "sarif" in formats else {rule: page for rule, page in enabled.items() if rule in found}


def stale_lines(compared: Compared, file: str) -> Iterator[str]:
    """What to say of entries that no finding answers to."""
    if compared.stale:
        entries = "1 stale entry" if len(compared.stale) == 1 else f"{len(compared.stale)} stale entries"
        yield f"{entries} in {file}; `policylint baseline` drops {'it' if len(compared.stale) == 1 else 'them'}"
    for each in sorted(compared.stale, key=lambda entry: (entry.rule, entry.message)):
        yield f"stale: {each.rule} {each.message}"
