"""`lint --add-ignore REASON`: one comment per finding that is listed."""

# ruff: noqa: PTH123 - paths as seen from here

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from policylint.cli.commands import FOUND, OK, say
from policylint.outside import goes_through_link

if TYPE_CHECKING:
    from policylint.model import Finding
    from policylint.report.findings import Report

NEVER = ("GWP90", "GWP910")
"""Findings about suppressions and files that cannot be read are put right, not suppressed."""


def add_ignores(report: Report, reason: str, locked: Collection[str]) -> int:
    """Write the suppressions and say what was done; 1 if some could not be written.

    Raises:
        click.UsageError: the reason is none, or a file cannot be written.
    """
    from policylint.cli.output import save
    from policylint.model.words import count
    from policylint.triage.insert import add, check_reason

    try:
        reason = check_reason(reason)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--add-ignore") from None
    by_file: dict[str, list[Finding]] = {}
    refused = 0
    for finding in report.listed("warning"):
        why = _refusal(report, finding, locked)
        if why:
            refused += 1
            say(f"not suppressed: {finding.rule} at {finding.location.file}:{finding.location.at()[0]}: {why}")
        else:
            by_file.setdefault(finding.location.file, []).append(finding)
    added = files = 0
    for file, findings in sorted(by_file.items()):
        rules: dict[int, list[str]] = {}
        for finding in findings:
            rules.setdefault(finding.location.at()[0], []).append(finding.rule)
        with open(file, "rb") as stream:
            before = stream.read()
        insertion = add(before, file, rules, reason)
        for line, why in sorted(insertion.refused.items()):
            refused += 1
            say(f"not suppressed: {', '.join(rules[line])} at {file}:{line}: {why}")
        if insertion.data != before:
            save(file, insertion.data)
            files += 1
        added += insertion.number
    click.echo(f"{count(added, 'suppression')} added to {count(files, 'file')}")
    return FOUND if refused else OK


def _refusal(report: Report, finding: Finding, locked: Collection[str]) -> str:
    if finding.rule.startswith(NEVER):
        return "put it right instead"
    if finding.rule in locked:
        return "the configuration locks this rule"
    if not report.relative(finding.location.file):
        return "it is not a file of this tree"
    return "it is a symbolic link" if goes_through_link(finding.location.file) else ""
