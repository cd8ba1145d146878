"""`policylint diff`: open two workspaces, compare, report."""

from __future__ import annotations

import os

import click

from policylint.cli import options
from policylint.cli.commands import FOUND, INCOMPLETE, OK, say
from policylint.cli.options import INPUT, OUTPUT, RULES, Command, Reporting, gathered, option, reporting
from policylint.cli.run import Run, is_empty, reading, showing
from policylint.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.report.diff.report import DiffReport
    from policylint.session.diff import DiffResult
    from policylint.session.revisions import DiffRequest

FORMATS = (
    "auto", "text", "concise", "json-v1", "json", "markdown", "summary", "github", "sarif", "junit", "codeclimate",
)  # fmt: skip


class DiffCommand(NamedTuple):
    """The options that only diff has."""

    staged: bool
    rendered_before: str | None
    rendered_after: str | None
    exit_code: bool
    show: str | None
    links: str
    comment_key: str


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  policylint diff main..HEAD                what two tips differ in
  policylint diff main...HEAD clusters/prod what HEAD adds to its merge base with main
  policylint diff HEAD~3                    three commits and what is not committed
  policylint diff --staged                  what is about to be committed
  policylint diff --rendered-before a --rendered-after b

\b
Exit codes: 0 no new finding at or above --fail-on, 1 new findings (with --exit-code also any
change in effect), 2 wrong usage or unknown revision, 3 not done whole.
""",
)
@reading
@option(INPUT, "--staged", is_flag=True, help="Compare with the index instead of the work tree.")
@option(INPUT, "--rendered-before", metavar="DIR", help="Rendered manifests of before, instead of a revision.")
@option(INPUT, "--rendered-after", metavar="DIR", help="Rendered manifests of after.")
@option(INPUT, "--hook", is_flag=True, help="For pre-push: compare PRE_COMMIT_FROM_REF with PRE_COMMIT_TO_REF.")
@options.strict
@options.select
@options.ignore
@options.min_severity()
@options.show_unknown
@options.fail_on(" of a new finding")
@option(RULES, "--exit-code", "exit_code", is_flag=True, help="Exit 1 also when only effective policy changes.")
@options.exit_zero("new ")
@option(OUTPUT, "--show", type=click.Choice(("unchanged",)), help="Also list findings that were there before.")
@option(OUTPUT, "--links", metavar="URL", default="", help="Where files of after can be read; markdown links to it.")
@option(OUTPUT, "--comment-key", metavar="KEY", default="default", help="Tells several markdown comments apart.")
@options.form_option(FORMATS, default="auto")
@options.outputs
@showing
@reporting
@gathered(DiffCommand, DiffCommand._fields)
def diff(run: Run, asked: Reporting, own: DiffCommand) -> int:
    """Show what a change does to effective policy: per route, with verdicts and findings that are new or fixed.

    The first argument is a revision: A..B, A...B (from the merge base), or A alone, compared with the work tree.
    Without one: HEAD and the work tree. PATHs narrow down what is read. The configuration of the later side,
    as it stands there, judges both.
    """
    if asked.hook:
        from policylint.session.staged import pushed_range

        if not pushed_range(os.environ):
            say("nothing to compare with: pre-commit names no revisions for a first push and for --all-files")
            return OK
    from policylint.cli.output import automatic, page_width, put, save, wants_color
    from policylint.report.diff.report import write
    from policylint.session.diff import run_diff
    from policylint.session.revisions import DiffOptions, resolve
    from policylint.session.rules import chosen

    form = automatic(asked.form)
    files = options.output_files(asked.outputs, FORMATS[1:])
    compared = DiffOptions(own.staged, own.rendered_before, own.rendered_after, asked.hook)
    request = resolve(run.options(strict=asked.strict, **asked.rules), compared)
    rules = chosen(request.setup)
    sides = run.open_sides(request)
    run.lap("read and simulate")
    result = run_diff(sides, rules, run.lap)
    report = _report(run, asked, own, request, result, rules, {form, *(name for name, _ in files)})
    looks = report.report.options._replace(color=wants_color(run.asked.color), width=page_width())
    put(write(form, report._replace(report=report.report._replace(options=looks))), commands=form == "github")
    for name, file in files:
        save(file, write(name, report))
    run.lap("report")
    run.end(result.after.coverage)
    return _verdict(asked, own, request, result, report)


def _report(
    run: Run,
    asked: Reporting,
    own: DiffCommand,
    request: DiffRequest,
    result: DiffResult,
    rules: set[str] | None,
    formats: set[str],
) -> DiffReport:
    """Everything that writers need."""
    from functools import lru_cache, partial

    from policylint.cli.output import report_of
    from policylint.report.diff.report import DiffReport
    from policylint.report.findings import Options
    from policylint.session.open import below_root

    comparison, before = result.comparison, result.before
    least = asked.min_severity or request.setup.settings.min_severity
    plain = Options(min_severity=least, show_unknown=asked.show_unknown)  # type: ignore[arg-type]
    findings = [change.finding for change in comparison.findings]
    report = report_of(result.after, findings, request.paths, rules, formats, plain, run.seconds)
    environments = tuple(environment.name for environment in comparison.environments)
    return DiffReport(
        comparison,
        report._replace(findings=result.new, environments=environments, suppressed=result.suppressed),
        before_lines=lru_cache(maxsize=64)(before.source_lines),
        before_relative=lru_cache(maxsize=None)(partial(below_root, before.root)),
        again=request.again,
        span=request.span,
        files_differ=result.files_differ,
        show_unchanged=own.show == "unchanged",
        links=own.links,
        key=own.comment_key,
    )


def _verdict(asked: Reporting, own: DiffCommand, request: DiffRequest, result: DiffResult, report: DiffReport) -> int:
    """3 for what was not done whole, 1 for new findings and, where that is asked for, for any change in effect."""
    from policylint.session.lint import UNREAD, reaches

    new = report.known("new")
    if asked.strict and (is_empty(result.after.coverage) or any(finding.rule == UNREAD for finding in new)):
        return INCOMPLETE
    if asked.exit_zero:
        return OK
    failing = reaches(new, asked.fail_on or request.setup.settings.fail_on)
    return FOUND if failing or (own.exit_code and result.changes_policy) else OK


for _parameter in diff.params:  # the arguments of `reading`, of which the first may be a revision
    if _parameter.name == "paths":
        _parameter.metavar = "[A..B] [PATH]..."
__all__ = ["FORMATS", "diff"]
