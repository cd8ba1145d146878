"""Annotations of GitHub Actions: `::error file=…,line=…,title=…::message`, then the summary as plain log lines.

A step shows 10 annotations per level (actions/toolkit#734): the worst ones come first, the others are counted. Only the
first line of a place is given: regions that end at the end of a file do not render (zizmor, `github.rs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.model import SEVERITIES, Finding
from policylint.model.words import count
from policylint.report.findings.report import Report
from policylint.report.findings.text import summary
from policylint.report.kit.display import UNSEEN, Paint, inert, one_line, place

MOST = 10
"""Annotations of one level that a step shows."""
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def write(report: Report) -> str:
    """Write the workflow commands and the summary, ending in a newline."""
    lines = commands(report, report.folded("warning"), "policylint lint -o text")
    return "\n".join([*lines, *map(inert, summary(report, Paint(False)))]) + "\n"


def commands(report: Report, listed: Sequence[Finding], again: str) -> Iterator[str]:
    """Yield the workflow commands, worst first, and the number that has no room; `again` is a command to list all."""
    hidden = 0
    for severity in SEVERITIES:
        findings = [finding for finding in listed if finding.severity == severity]
        yield from (_command(report, finding) for finding in findings[:MOST])
        hidden += max(0, len(findings) - MOST)
    if hidden:
        more = f"{count(hidden, 'more finding')}: GitHub shows {MOST} per level, `{again}` all"
        yield f"::notice::{_text(more)}"


def notices(report: Report) -> Iterator[str]:
    """Yield a workflow command for each remark about the run itself."""
    for name, line, sentence in report.notices[:MOST]:
        file = report.relative(name)
        where = f" file={_property(file)},line={line}" if file else ""
        yield f"::notice{where}::{_text(one_line(sentence))}"


def _command(report: Report, finding: Finding) -> str:
    file = report.relative(finding.location.file)
    if file and UNSEEN.search(file):  # no annotation can name it and be read
        file = None
    where = [f"file={_property(file)}", f"line={finding.location.at()[0]}"] if file else []
    parts = [*where, f"title={_property(report.title_of(finding.rule))}"]
    lines = [finding.message, *([finding.label] if finding.label else []), *finding.notes]
    if not file:
        lines.insert(0, place(finding.location))
    message = "%0A".join(_text(one_line(line)) for line in lines)
    return f"::{_COMMANDS[finding.severity]} {','.join(parts)}::{message}"


def _text(text: str) -> str:
    """Escape a message so that nothing in it ends the command or begins another."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
