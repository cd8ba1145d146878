"""The part of a run that lint and diff share: rules, formats, the report, and the exit code."""

from __future__ import annotations

import os

import click

from policylint.cli.commands import FOUND, OK
from policylint.cli.run import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from policylint.model import Finding
    from policylint.report.findings import Report
    from policylint.report.rule_page import RulePage
    from policylint.session.settings import RunOptions, Setup
    from policylint.workspace import Workspace


class ReportingRun(Run):
    """A run that reports findings, and fails where there are any that count."""

    says_releases = False
    strict: bool
    hook: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    min_severity: str | None
    show_unknown: bool
    fail_on: str | None
    form: str
    outputs: tuple[str, ...]

    def options(self, **more: Any) -> RunOptions:
        """Return the options of the run, those about rules among them."""
        return super().options(strict=self.strict, select=_split(self.select), ignore=_split(self.ignore), **more)

    def formats(self, known: Sequence[str]) -> tuple[str, list[tuple[str, str]]]:
        """Return the format on stdout, and format and file of each --output.

        Args:
            known: the formats that files can have.
        """
        form = self.form
        if form == "auto":
            form = "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
        return form, output_files(self.outputs, known)

    def report(
        self,
        setup: Setup,
        workspace: Workspace,
        findings: Sequence[Finding],
        chosen: set[str] | None,
        formats: set[str],
        paths: Sequence[str],
        **looks: Any,
    ) -> Report:
        """Return the report of findings in a workspace, with what the formats need of rules.

        Args:
            chosen: the ids of the rules that ran, None for all.
            paths: what was asked for, as given.
            looks: `Options` of the report that only some commands have.
        """
        from functools import lru_cache

        from policylint import __version__
        from policylint.checks import RULES, name_of
        from policylint.model.home import home
        from policylint.report.findings import Options, Report
        from policylint.session.open import below_root, paths_below

        rules = {finding.rule for finding in findings}
        looks |= {"min_severity": self.min_severity or setup.settings.min_severity, "show_unknown": self.show_unknown}
        return Report(
            findings,
            workspace.coverage,
            environments=tuple(simulation.world.name for simulation in workspace.simulations),
            names={rule: name_of(rule) for rule in sorted(rules) if rule in RULES},
            pages=_pages(formats, chosen, rules),
            seconds=self.seconds,
            version=__version__,
            home=home(),
            source_lines=lru_cache(maxsize=64)(workspace.source_lines),
            relative=lru_cache(maxsize=None)(paths_below(workspace.root)),
            options=Options(**looks),
            paths=tuple(path for given in paths if (path := below_root(workspace.root, given))),
        )

    def styled(self, report: Report, **more: Any) -> Report:
        """Return a report that looks as suits stdout."""
        from policylint.cli.output import page_width, wants_color

        looks = report.options._replace(color=wants_color(self.color), width=page_width(), **more)
        return report._replace(options=looks)

    def incomplete(self, empty: bool, findings: Sequence[Finding], workspace: Workspace) -> bool:
        """Tell whether a run was not done whole: a limit cut something off.

        With --strict also where nothing, or not everything, could be read.
        """
        from policylint.session.lint import UNREAD

        if workspace.coverage.cut_off:
            return True
        return self.strict and (empty or any(finding.rule == UNREAD for finding in findings))

    def verdict(self, setup: Setup, findings: Sequence[Finding], changes: bool = False) -> int:
        """Return the exit code: 1 for findings at or above the threshold or for changes, where those count."""
        from policylint.session.lint import reaches

        return FOUND if changes or reaches(findings, self.fail_on or setup.settings.fail_on) else OK


def _split(values: Sequence[str]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def output_files(written: Sequence[str], known: Sequence[str]) -> list[tuple[str, str]]:
    """Split `sarif=out.sarif` in its two parts, for each --output.

    Raises:
        click.BadParameter: it has no such parts, or the format is none of those known.
    """
    files = []
    for text in written:
        form, equals, file = text.partition("=")
        if not equals or not file or form not in known:
            raise click.BadParameter(
                f"{text!r} is not FORMAT=FILE with one of {', '.join(known)}", param_hint="--output"
            )
        files.append((form, file))
    return files


def _pages(formats: set[str], chosen: set[str] | None, rules: set[str]) -> dict[str, RulePage]:
    """Return the pages that writers need: of all enabled rules for SARIF, of those with findings for the others."""
    if not formats & {"sarif", "markdown", "summary", "codeclimate"}:
        return {}
    from policylint.report.rule_page import all_pages

    enabled = {page.id: page for page in all_pages() if chosen is None or page.id in chosen or page.id in rules}
    return enabled if "sarif" in formats else {rule: page for rule, page in enabled.items() if rule in rules}
