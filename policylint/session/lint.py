"""From the rules' findings to those that are reported: suppressions, configured severities, the baseline."""

# ruff: noqa: PTH113, PTH118 - paths as seen from here

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.model import SEVERITIES, Finding
from policylint.namedtuple import NamedTuple
from policylint.session.open import below_root
from policylint.session.rules import locked, severities
from policylint.session.settings import Setup, below_directory

if TYPE_CHECKING:
    from policylint.model.coverage import Coverage
    from policylint.triage import Suppressed
    from policylint.triage.baseline import BaselineEntry
    from policylint.workspace import Workspace
    from policylint.workspace.scope import WorldScope

UNREAD = "GWP910"
"""file-not-parsed: an error with --strict, and the run was not done whole."""
_GUARDRAIL = "GWP320"
"""guardrail-broken: only a configuration states any."""
_BASELINE = ".policylint-baseline.json"
UNUSED = "GWP901"
"""unused-suppression."""
Amend = Callable[[list[Finding]], list[Finding]]


class LintResult(NamedTuple):
    """The result of linting a tree.

    Args:
        workspace: what was judged.
        findings: sorted by place; suppressed ones and those of the baseline are not among them. Those of confidence
            `unknown` rest on something that was not seen.
        suppressed: what somebody has answered for, each finding with its suppression.
        accepted: how many findings are in the baseline; None without one.
        stale: entries of the baseline that no finding answers to.
    """

    workspace: Workspace
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    accepted: int | None = None
    stale: tuple[BaselineEntry, ...] = ()

    @property
    def coverage(self) -> Coverage:
        """How much was read, and what could not be."""
        return self.workspace.coverage

    @property
    def known(self) -> list[Finding]:
        """The findings that rest on nothing unknown: those that count, and that the command lists."""
        return [finding for finding in self.findings if finding.confidence != "unknown"]


def reaches(findings: Collection[Finding], threshold: str) -> bool:
    """Tell whether one of the findings is at or above a severity; none is at or above `never`."""
    if threshold == "never":
        return False
    failing = SEVERITIES[: SEVERITIES.index(threshold) + 1]
    return any(finding.severity in failing for finding in findings)


def lint(
    setup: Setup,
    workspace: Workspace,
    chosen: set[str] | None,
    *,
    with_ignores: bool = True,
    baseline: bool | None = None,
    spent: dict[str, float] | None = None,
    amend: Amend | None = None,
    last: bool = False,
) -> LintResult:
    """Ask the rules of a workspace, heed suppressions and severities, and take away what the baseline knows.

    Args:
        chosen: the ids of the rules that run (`rules.chosen`), None for all.
        with_ignores: whether suppressions are heeded.
        baseline: whether the baseline is heeded; None: if the configuration names one, or `policylint baseline` has
            written one where nobody names a configuration.
        spent: takes the seconds that each rule took.
        amend: changes the findings before suppressions are heeded.
        last: whether findings are all that is asked (`Workspace.findings`).

    Raises:
        UsageError: the baseline cannot be read.
    """
    with setup.options.progress("asking the rules"):
        result = judge(
            *(setup, workspace, chosen),
            with_ignores=with_ignores,
            whole=setup.is_whole,
            spent=spent,
            amend=amend,
            last=last,
        )
    if baseline is False:
        return result
    file = baseline_file(setup)
    if baseline is None and not setup.settings.baseline and (Setup.is_named(setup.options) or not os.path.isfile(file)):
        return result
    from policylint.triage.baseline import compare, read

    known = read(file, setup.files.get(file))
    compared = compare(result.findings, fingerprints_of(workspace, result.findings), known, chosen)
    stale = tuple(compared.stale) if setup.is_whole else ()  # in a part of the repository most entries find nothing
    return result._replace(findings=tuple(compared.new), accepted=compared.accepted, stale=stale)


def judge(
    setup: Setup,
    workspace: Workspace,
    chosen: set[str] | None,
    *,
    with_ignores: bool = True,
    whole: bool = True,
    spent: dict[str, float] | None = None,
    amend: Amend | None = None,
    scopes: Mapping[str, Sequence[WorldScope]] | None = None,
    last: bool = False,
) -> LintResult:
    """As `lint`, without a baseline.

    Args:
        scopes: what concerns the scope in each environment; None for those of the workspace.
        whole: whether everything is looked at: in a part of a repository a suppression may seem unused that is not.
    """
    settings = setup.settings
    findings = workspace.findings(chosen, spent=spent, last=last)
    if amend is not None:
        findings = amend(findings)
    if settings.assume:  # what is assumed is known in part only: it is not judged itself
        findings = [finding for finding in findings if finding.location.document is not settings.places]
    if settings.require and (chosen is None or _GUARDRAIL in chosen):
        from policylint.guardrails import broken, guardrails
        from policylint.workspace import finding_order

        stated = guardrails(settings.require)
        findings = [*findings, *broken(workspace.simulations, stated, settings.places, whole=setup.is_whole)]
        findings.sort(key=finding_order)
    suppressed: Sequence[Suppressed] = ()
    if with_ignores and (workspace.mentioning or settings.suppressions):
        from policylint.triage import triage

        below = below_directory(settings.directory)
        ran = chosen if whole else _without_unused(chosen)
        findings, suppressed = triage(workspace, findings, settings, ran=ran, locked=locked(settings), below=below)
    if workspace.scope is not None:
        from policylint.workspace.scope import concerning

        scopes = workspace.scopes() if scopes is None else scopes
        findings = concerning(findings, scopes)
        known = {id(finding) for finding in concerning([entry.finding for entry in suppressed], scopes)}
        suppressed = [entry for entry in suppressed if id(entry.finding) in known]
    severity: dict[str, Any] = {UNREAD: "error"} if setup.options.strict else {}
    severity |= {rule: level for rule, level in severities(settings).items() if level != "off"}
    if severity:
        findings = [_with_severity(finding, severity) for finding in findings]
        suppressed = [entry._replace(finding=_with_severity(entry.finding, severity)) for entry in suppressed]
    return LintResult(workspace, tuple(findings), tuple(suppressed))


def baseline_file(setup: Setup) -> str:
    """Return the configured baseline, else the one beside the configuration, else the one at the git root."""
    settings = setup.settings
    if settings.baseline:
        return settings.baseline
    return os.path.normpath(os.path.join(settings.directory if settings.file else setup.top, _BASELINE))


def fingerprints_of(workspace: Workspace, findings: Sequence[Finding]) -> list[str]:
    """Return one fingerprint per finding (report/findings/fingerprint.py)."""
    from functools import partial

    from policylint.report.findings import Report
    from policylint.report.findings.fingerprint import fingerprints

    report = Report(findings, workspace.coverage, relative=partial(below_root, workspace.root))
    return fingerprints(report, findings)


def suppressions_in_words(suppressed: Sequence[Suppressed]) -> Iterator[str]:
    """Say what was suppressed, where and why, a line each."""
    for finding, by in suppressed:
        (line, _), (at, _) = finding.location.at(), by.location.at()
        why = f"{by.form} at {by.location.file}:{at}: {by.reason}"
        yield f"suppressed {finding.rule} at {finding.location.file}:{line} by {why}"


def _without_unused(chosen: set[str] | None) -> set[str]:
    from policylint.checks import RULES

    return (set(RULES) if chosen is None else chosen) - {UNUSED}


def _with_severity(finding: Finding, severity: Mapping[str, Any]) -> Finding:
    return finding._replace(severity=severity[finding.rule]) if finding.rule in severity else finding
