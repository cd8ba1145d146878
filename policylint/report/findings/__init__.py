"""Writers of findings: a `Report` in, one text out, one module per format."""

from __future__ import annotations

from importlib import import_module

from policylint.report.findings.report import Options, Report

FORMATS = {
    "text": "text",
    "concise": "concise",
    "json-v1": "json_v1",
    "json": "json_v1",
    "sarif": "sarif",
    "markdown": "markdown",
    "github": "github",
    "junit": "junit",
    "codeclimate": "codeclimate",
    "statistics": "statistics",
}
"""Format → the module here that writes it, imported when used; `json` is the newest json-vN."""


def write(name: str, report: Report) -> str:
    """Write the report in one of FORMATS, ending in a newline."""
    written: str = import_module(f"policylint.report.findings.{FORMATS[name]}").write(report)
    return written


__all__ = ["FORMATS", "Options", "Report", "write"]
