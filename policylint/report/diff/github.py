"""A diff in the log of GitHub Actions: annotations of what is new, notes too, and the changes as plain lines."""

from __future__ import annotations

from policylint.report.diff import concise
from policylint.report.diff.report import DiffReport
from policylint.report.findings.github import commands
from policylint.report.kit.display import inert


def write(report: DiffReport) -> str:
    """The workflow commands, then one line per changed route and the verdict, ending in a newline."""
    listed = report.listed("new")
    again = f"{report.again} -o text"
    lines = [*commands(report.report, listed, again), *map(inert, concise.changes(report))]
    return "\n".join(lines) + "\n"
