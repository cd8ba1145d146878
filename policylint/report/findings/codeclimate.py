"""Code Climate issues as JSON, which GitLab shows in merge requests (Code Quality reports).

GitLab wants of each: description, check_name, a fingerprint that is unique in the report, severity, location.path
without `./` and location.lines.begin. Findings without a file of the repository (stdin) are left out.
"""

from __future__ import annotations

from typing import Any

from policylint.model import Finding
from policylint.report.findings.fingerprint import fingerprints
from policylint.report.findings.report import Report

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def write(report: Report) -> str:
    """A list of issues, `[]` when there is nothing, ending in a newline."""
    import json

    findings = [each for each in report.listed() if report.relative(each.location.file)]
    values = fingerprints(report, findings)
    issues = [_issue(report, each, value) for each, value in zip(findings, values, strict=True)]
    return json.dumps(issues, indent=2, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"


def _issue(report: Report, finding: Finding, fingerprint: str) -> dict[str, Any]:
    line, _ = finding.location.at()
    name = report.name_of(finding.rule)
    return {
        "type": "issue",
        "check_name": f"{finding.rule} {name}".strip(),
        "description": ": ".join(each for each in (finding.message, finding.label) if each),
        "content": {"body": "\n".join(finding.help)},
        "categories": ["Security" if _is_security(report, finding) else "Bug Risk"],
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": fingerprint,
        "location": {"path": report.relative(finding.location.file), "lines": {"begin": line, "end": line}},
    }


def _is_security(report: Report, finding: Finding) -> bool:
    page = report.pages.get(finding.rule)
    return page is not None and "security" in page.tags
