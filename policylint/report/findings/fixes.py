"""The fixes of findings as edits of lines and columns, for the formats that carry them."""

from __future__ import annotations

from policylint.edit.plan import edits
from policylint.edit.text import Edit
from policylint.model import Finding
from policylint.model.fix import Fix
from policylint.report.findings.report import Report


def fixes_of(report: Report, finding: Finding) -> list[tuple[Fix, list[Edit]]]:
    """The fixes of a finding with what they replace; those that cannot be made exactly are left out."""

    def text(file: str) -> str | None:
        lines = report.source_lines(file)
        return "\n".join(lines) if lines else None

    found = [(fix, edits(fix, text)) for fix in finding.fixes]
    return [(fix, made) for fix, made in found if made]
