"""JUnit XML, for CI systems that show test results (GitLab, Jenkins, Azure DevOps): one test case per finding.

Errors and warnings are failures, notes are passed cases with output. Without findings there is one passed case: some
systems take an empty report for a broken one.
"""

from __future__ import annotations

from policylint.model import Finding
from policylint.report.findings.report import Report, counts
from policylint.report.kit.display import UNSEEN
from policylint.report.kit.secrets import masked

_NOTHING = '    <testcase classname="policylint" name="no findings"/>'


def write(report: Report) -> str:
    """Write the document, ending in a newline."""
    findings = report.listed()
    number = counts(findings)
    failures = number["error"] + number["warning"]
    cases = [_case(report, finding) for finding in findings] or [_NOTHING]
    seconds = f' time="{report.seconds:.3f}"' if report.seconds is not None else ""
    sums = f'tests="{len(cases)}" failures="{failures}" errors="0"{seconds}'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="policylint" {sums}>',
        f'  <testsuite name="policylint" skipped="0" {sums}>',
        *cases,
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(report: Report, finding: Finding) -> str:
    line, column = finding.location.at()
    file = report.path_of(finding.location.file)
    name = f"{report.title_of(finding.rule)}: {file}:{line}:{column}"
    head = f'    <testcase classname="{_escape(file)}" name="{_escape(name)}" file="{_escape(file)}" line="{line}">'
    related = [
        f"{report.path_of(related.location.file)}:{related.location.at()[0]}: {related.message}"
        for related in finding.related
    ]
    body = "\n".join([f"{file}:{line}:{column}: {finding.message}", finding.label, *finding.notes, *related])
    text = _escape("\n".join(line for line in body.split("\n") if line))
    if finding.severity == "note":
        return f"{head}\n      <system-out>{text}</system-out>\n    </testcase>"
    attributes = f'type="{finding.severity}" message="{_escape(finding.message)}"'
    return f"{head}\n      <failure {attributes}>{text}</failure>\n    </testcase>"


def _escape(text: str) -> str:
    """Escape element text or an attribute; what XML 1.0 does not know, and what cannot be seen, becomes U+FFFD."""
    from html import escape

    return escape(UNSEEN.sub("\ufffd", masked(text)), quote=False).replace('"', "&quot;")
