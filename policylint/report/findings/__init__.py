"""Writers of findings: a `Report` in, one text out, one module per format."""

from __future__ import annotations

from importlib import import_module

from policylint.report.findings.report import Options, Report

FORMATS = {
    "text": ("text", "write"),
    "concise": ("concise", "write"),
    "json-v1": ("json_v1", "write"),
    "json": ("json_v1", "write"),
    "sarif": ("sarif", "write"),
    "markdown": ("markdown", "write"),
    "summary": ("markdown", "write_summary"),
    "github": ("github", "write"),
    "junit": ("junit", "write"),
    "codeclimate": ("codeclimate", "write"),
}
"""Format → the module here and its function, imported when used; `json` is the newest json-vN."""


def write(name: str, report: Report) -> str:
    """Write the report in one of FORMATS, ending in a newline."""
    module, function = FORMATS[name]
    written: str = getattr(import_module(f"policylint.report.findings.{module}"), function)(report)
    return written


__all__ = ["FORMATS", "Options", "Report", "write"]
