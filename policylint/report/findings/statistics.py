"""`--statistics`: how many findings each rule has, the most frequent first."""

from __future__ import annotations

from collections import Counter

from policylint.model import SEVERITIES
from policylint.report.findings.report import Report
from policylint.report.findings.text import summary
from policylint.report.kit.display import Paint


def write(report: Report) -> str:
    """A table in place of the findings, then the summary."""
    return "\n".join([*table(report), *summary(report, Paint(report.options.color))]) + "\n"


def table(report: Report) -> list[str]:
    """Count, rule, severity and name; a rule of several severities has several lines."""
    paint = Paint(report.options.color)
    counted = Counter((each.rule, each.severity) for each in report.listed())
    rows = sorted(counted.items(), key=lambda each: (-each[1], each[0][0], SEVERITIES.index(each[0][1])))
    width = max((len(str(number)) for number in counted.values()), default=0)
    return [
        f"{number:>{width}}  {rule}  {paint(severity, f'{severity:7}')}  {report.name_of(rule)}".rstrip()
        for (rule, severity), number in rows
    ]
