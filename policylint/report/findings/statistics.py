"""`--statistics`: how many findings each rule has, the most frequent first."""

from __future__ import annotations

from collections import Counter

from policylint.model import SEVERITIES
from policylint.report.findings.report import Report
from policylint.report.findings.text import summary
from policylint.report.kit.display import Paint


def counted(report: Report) -> str:
    """Write a table in place of the findings, then the summary."""
    return "\n".join([*_table(report), *summary(report, Paint(report.options.color))]) + "\n"


def _table(report: Report) -> list[str]:
    """Return lines of count, rule, severity and name; a rule of several severities has several lines."""
    paint = Paint(report.options.color)
    counted = Counter((finding.rule, finding.severity) for finding in report.listed())
    rows = [(-number, rule, SEVERITIES.index(severity), severity) for (rule, severity), number in counted.items()]
    width = max((len(str(number)) for number in counted.values()), default=0)
    return [
        f"{-number:>{width}}  {rule}  {paint(severity, f'{severity:7}')}  {report.name_of(rule)}".rstrip()
        for number, rule, _, severity in sorted(rows)
    ]
