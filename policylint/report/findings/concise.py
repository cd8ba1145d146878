"""One line per finding, for editors and grep: `shop/cors.yaml:11:13: error[GWP201] HTTPRoute shop/a loses JWT`."""

from __future__ import annotations

from policylint.report.findings.report import Report
from policylint.report.findings.text import summary
from policylint.report.kit.display import Paint, one_line


def write(report: Report) -> str:
    """Write the findings and the line that counts them."""
    paint = Paint(report.options.color)
    lines = []
    for finding in report.listed("warning"):
        line, column = finding.location.at()
        place = f"{one_line(finding.location.file)}:{line}:{column}:"
        code = paint(finding.severity, f"{finding.severity}[{finding.rule}]")
        doubt = "" if finding.confidence == "certain" else f" ({finding.confidence})"
        lines.append(f"{place} {code} {one_line(finding.message)}{doubt}")
    return "\n".join([*lines, *summary(report._replace(is_list=True), paint)]) + "\n"
