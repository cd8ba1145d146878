"""`json-v1`, for programs (docs/design/interfaces.md): fields are added, never renamed or taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from policylint.model import Finding, Location
from policylint.report.findings.fingerprint import fingerprints
from policylint.report.findings.fixes import fixes_of
from policylint.report.findings.report import Report, counts
from policylint.report.kit.position import place_of

if TYPE_CHECKING:
    from policylint.triage import Suppressed


def write(report: Report) -> str:
    """The document, indented by two, ending in a newline."""
    import json

    findings = report.listed()
    content = {
        "version": "json-v1",
        "environments": list(report.environments),
        "coverage": {
            "documents": report.coverage.documents,
            "unread": report.coverage.unread,
            "not_rendered": list(report.coverage.not_rendered),
        },
        "findings": [
            _finding(report, finding, value)
            for finding, value in zip(findings, fingerprints(report, findings), strict=True)
        ],
        "suppressed": [_suppressed(report, each) for each in report.silenced],
        "summary": {**_counts(report), "suppressed": report.suppressed, **_accepted(report)},
    }
    return json.dumps(content, indent=2, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"


def _counts(report: Report) -> dict[str, int]:
    return {str(severity): number for severity, number in counts(report.known).items()}


def _accepted(report: Report) -> dict[str, int]:
    return {} if report.accepted is None else {"baseline": report.accepted}


def _suppressed(report: Report, suppressed: Suppressed) -> dict[str, Any]:
    """What was not reported, and where somebody said why."""
    finding, by = suppressed
    return {
        "rule": finding.rule,
        "name": report.name_of(finding.rule),
        "message": finding.message,
        "location": _location(report, finding.location),
        "resources": [str(key) for key in finding.resources],
        "by": {"form": by.form, "reason": by.reason, "location": _location(report, by.location)},
    }


def _finding(report: Report, finding: Finding, fingerprint: str) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "name": report.name_of(finding.rule),
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        "location": _location(report, finding.location),
        "related": [
            {"message": each.message, "location": _location(report, each.location)} for each in finding.related
        ],
        "resources": [str(key) for key in finding.resources],
        "environments": list(finding.environments),
        "fingerprint": fingerprint,
        "fixes": [
            {"title": fix.title, "safe": fix.safe, "edits": [dict(each._asdict()) for each in made]}
            for fix, made in (fixes_of(report, finding) if finding.fixes else ())
        ],
    }


def _location(report: Report, location: Location) -> dict[str, Any]:
    return dict(place_of(report, location)._asdict())
