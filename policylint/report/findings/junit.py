"""JUnit XML, for CI systems that show test results (GitLab, Jenkins, Azure DevOps): one test case per finding.

Errors and warnings are failures, notes are passed cases with output. Without findings there is one passed case: some
systems take an empty report for a broken one.
"""

from __future__ import annotations

from policylint.model import Finding
from policylint.report.findings.report import Report, counts


def write(report: Report) -> str:
    """The document, ending in a newline."""
    findings = report.listed()
    number = counts(findings)
    failures = number["error"] + number["warning"]
    cases = [_case(report, each) for each in findings] or ['    <testcase classname="policylint" name="no findings"/>']
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
    file = report.relative(finding.location.file) or finding.location.file
    title = " ".join(part for part in (finding.rule, report.name_of(finding.rule)) if part)
    name = f"{title}: {file}:{line}:{column}"
    head = f'    <testcase classname="{_escape(file)}" name="{_escape(name)}" file="{_escape(file)}" line="{line}">'
    related = [
        f"{report.relative(each.location.file) or each.location.file}:{each.location.at()[0]}: {each.message}"
        for each in finding.related
    ]
    body = "\n".join([f"{file}:{line}:{column}: {finding.message}", finding.label, *finding.help, *related])
    text = _escape("\n".join(each for each in body.split("\n") if each))
    if finding.severity == "note":
        return f"{head}\n      <system-out>{text}</system-out>\n    </testcase>"
    said = f'type="{finding.severity}" message="{_escape(finding.message)}"'
    return f"{head}\n      <failure {said}>{text}</failure>\n    </testcase>"


def _escape(text: str) -> str:
    """For element text and attributes alike; characters that XML 1.0 does not know become U+FFFD."""
    safe = "".join(char if _allowed(char) else "\ufffd" for char in text)
    return safe.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _allowed(char: str) -> bool:
    return char in "\t\n\r" or " " <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd" or char >= "\U00010000"
