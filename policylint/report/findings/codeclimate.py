"""Code Climate issues as JSON, which GitLab shows in merge requests (Code Quality reports).

GitLab wants of each: description, check_name, a fingerprint that is unique in the report, severity, location.path
without `./` and location.lines.begin. Findings without a file of the repository (stdin) are left out.
"""

from __future__ import annotations

from typing import Any

from policylint.model import Finding
from policylint.report.findings.fingerprint import fingerprints
from policylint.report.findings.report import Report
from policylint.report.kit.identity import json_text

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def write(report: Report) -> str:
    """Write a list of issues, `[]` without findings, ending in a newline."""
    findings = [finding for finding in report.listed() if report.relative(finding.location.file)]
    return json_text([_issue(report, *pair) for pair in zip(findings, fingerprints(report, findings), strict=True)])


def _issue(report: Report, finding: Finding, fingerprint: str) -> dict[str, Any]:
    line, _ = finding.location.at()
    page = report.pages.get(finding.rule)
    return {
        "type": "issue",
        "check_name": report.title_of(finding.rule),
        "description": ": ".join(part for part in (finding.message, finding.label) if part),
        "content": {"body": "\n".join(finding.notes)},
        "categories": ["Security" if page is not None and "security" in page.tags else "Bug Risk"],
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": fingerprint,
        "location": {"path": report.relative(finding.location.file), "lines": {"begin": line, "end": line}},
    }
