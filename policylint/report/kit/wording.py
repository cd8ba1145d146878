"""Small words that several writers share: the summary line, what was not seen."""

from __future__ import annotations

from policylint.model.words import count
from policylint.report.findings.report import Report, counts

HOME = "https://github.com/example/policylint"
"""Where the project lives: rule pages are linked there."""


def address(rule: str, name: str, version: str) -> str:
    """Of a rule's page, as it was in the version that ran."""
    return f"{HOME}/blob/v{version}/rules/{rule}-{name}.md"


def looked_at(report: Report) -> str:
    """`14 policies on 23 routes, 2 gateways`."""
    seen = report.coverage
    policies = count(seen.policies, "policy", "policies")
    return f"{policies} on {count(seen.routes, 'route')}, {count(seen.gateways, 'gateway')}"


def how_much(report: Report) -> str:
    """`41 files, 0.4 s`; the time only where it is known."""
    files = count(report.coverage.files, "file")
    return files if report.seconds is None else f"{files}, {report.seconds:.1f} s"


def verdict(report: Report) -> str:
    """`2 errors, 1 warning`, or `0 findings`; notes are not part of it."""
    number = counts(report.known)
    parts = [count(number[severity], severity) for severity in ("error", "warning") if number[severity]]
    return ", ".join(parts) or "0 findings"
