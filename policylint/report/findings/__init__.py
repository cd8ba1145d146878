"""Writers of findings: a `Report` in, one text out, one module per format."""

from __future__ import annotations

from policylint.report.findings.report import Options, Report
from policylint.report.formats import OF_FINDINGS, writer


def write(name: str, report: Report) -> str:
    """Write the report in a format, ending in a newline."""
    return writer(OF_FINDINGS[name])(report)


__all__ = ["Options", "Report", "write"]
