"""`json-v1`, for programs (docs/design/interfaces.md): fields are added, never renamed or taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from policylint.model import Finding, Location
from policylint.report.findings.fingerprint import fingerprints
from policylint.report.findings.once import once
from policylint.report.findings.report import Report
from policylint.report.kit.identity import json_text

if TYPE_CHECKING:
    from policylint.triage import Suppressed


def write(report: Report) -> str:
    """Write the document, indented by two, ending in a newline."""
    findings = once(report.listed())
    accepted = {} if report.accepted is None else {"baseline": report.accepted}
    content = {
        "version": "json-v1",
        "environments": list(report.environments),
        "coverage": coverage_entry(report),
        "findings": [
            finding_entry(report, finding, value)
            for finding, value in zip(findings, fingerprints(report, findings), strict=True)
        ],
        "suppressed": suppressed_entries(report, report.silenced),
        "summary": report.counted(report.known) | {"suppressed": report.suppressed} | accepted,
    }
    return json_text(content)


def suppressed_entries(report: Report, silenced: Sequence[Suppressed]) -> list[dict[str, Any]]:
    """Return suppressed findings, each with its suppression."""
    return [
        {
            "rule": finding.rule,
            "name": report.name_of(finding.rule),
            "severity": finding.severity,
            "message": finding.message,
            "location": _location(report, finding.location),
            "resources": [str(key) for key in finding.resources],
            "by": {"form": by.form, "reason": by.reason, "location": _location(report, by.location)},
        }
        for finding, by in silenced
    ]


def coverage_entry(report: Report) -> dict[str, Any]:
    """Return what was looked at, and what was not seen."""
    coverage = report.coverage
    return {
        "documents": coverage.documents,
        "unread": coverage.unread,
        "not_rendered": list(coverage.not_rendered),
        **({"unevaluated": list(coverage.unevaluated)} if coverage.unevaluated else {}),
        "left_out": [{"sort": entry.sort, "number": entry.number, "words": str(entry)} for entry in coverage.left_out],
        **({"releases": list(coverage.releases)} if coverage.releases else {}),
        **({"elsewhere": list(coverage.unseen)} if coverage.unseen else {}),
    }


def finding_entry(report: Report, finding: Finding, fingerprint: str) -> dict[str, Any]:
    """Return one finding as data."""
    return {
        "rule": finding.rule,
        "name": report.name_of(finding.rule),
        "severity": finding.severity,
        "confidence": finding.confidence,
        **({"rests_on": finding.ground} if finding.confidence != "certain" and finding.ground else {}),
        "message": finding.message,
        "location": _location(report, finding.location),
        "related": [{"message": text, "location": _location(report, where)} for text, where in finding.related],
        "resources": [str(key) for key in finding.resources],
        "environments": list(finding.environments),
        "fingerprint": fingerprint,
        "fixes": [
            {"title": fix.title, "safe": fix.safe, "edits": [edit._asdict() for edit in edits]}
            for fix, edits in report.fixes_of(finding)
        ],
    }


def _location(report: Report, location: Location) -> dict[str, Any]:
    return report.region(location)._asdict()
