"""`policylint lint`: open the workspace, ask the rules, report."""

from __future__ import annotations

import click

from policylint.cli import options
from policylint.cli.commands import FOUND, INCOMPLETE, OK, say
from policylint.cli.fix import fixing
from policylint.cli.options import INPUT, OUTPUT, RULES, Command, Reporting, gathered, option, reporting
from policylint.cli.run import Run, is_empty, reading, showing
from policylint.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from policylint.model import Finding
    from policylint.report.findings import Report
    from policylint.session.lint import LintResult
    from policylint.session.settings import Setup
    from policylint.workspace import Workspace

FORMATS = ("auto", "text", "concise", "json-v1", "json", "sarif", "markdown", "github", "junit", "codeclimate")
PROSE = ("text", "concise", "github")
"""Formats in whose place --statistics can stand."""


class LintOptions(NamedTuple):
    """The options that only lint has."""

    no_ignores: bool
    add_ignore: str | None
    baseline: bool | None
    show_orphans: bool
    fix: bool
    preview: bool
    unsafe_fixes: bool
    sarif_include_suppressed: bool
    statistics: bool


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  policylint lint                                      everything below the git root
  policylint lint clusters/prod --fail-on warning
  policylint lint -o concise --select GWP1,unused-suppression
  policylint lint --output sarif=out.sarif --output markdown=comment.md
  helm template shop charts/shop | policylint lint -

\b
Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage, 3 not done whole.
""",
)
@reading
@options.strict
@option(INPUT, "--hook", is_flag=True, help="For pre-commit: read the index; leave at once if nothing staged matters.")
@options.select
@options.ignore
@option(RULES, "--no-ignores", is_flag=True, help="Report findings that comments, annotations, configuration suppress.")
@option(RULES, "--add-ignore", metavar="REASON", help="Suppress what would be listed, by comments in the files.")
@option(
    RULES,
    "--baseline/--no-baseline",
    default=None,
    help="Leave out what is in the baseline (policylint baseline). Default: on if the configuration names one.",
)
@options.min_severity(" Default: warning for text, concise, github; note for the others.")
@options.show_unknown
@option(RULES, "--show-orphans", is_flag=True, help="Also list routes and policies in files that nothing deploys.")
@options.fail_on()
@fixing
@options.exit_zero()
@options.form_option(FORMATS, "Format on stdout. auto: github inside GitHub Actions, else text.", "auto")
@options.outputs
@option(
    OUTPUT,
    "--sarif-include-suppressed",
    is_flag=True,
    help="Also write suppressed findings to sarif, marked as such. Not for GitHub: it shows them as open.",
)
@option(OUTPUT, "--statistics", is_flag=True, help="Count findings by rule instead of listing them.")
@showing
@reporting
@gathered(LintOptions, LintOptions._fields)
def lint(run: Run, asked: Reporting, own: LintOptions) -> int:
    """Report what is wrong with the policies and routes that are deployed below PATH.

    PATH is a directory, a file, or `-` for rendered YAML on stdin. Default: the git root.
    """
    if asked.hook:
        if own.add_ignore is not None:
            raise click.UsageError("--add-ignore edits files, --hook reads the index")
        from policylint.session.staged import is_idle

        if is_idle():
            return OK
    from policylint.cli.output import automatic, put, save, styled
    from policylint.report.findings import write
    from policylint.session.rules import chosen, locked

    files = options.output_files(asked.outputs, FORMATS[1:])
    form = automatic(asked.form)
    formats = {form, *(name for name, _ in files)}
    setup = run.setup(strict=asked.strict, show_orphans=own.show_orphans, **asked.rules)
    rules = chosen(setup)
    if own.fix or own.preview:
        shown = _fixed(run, asked, own, setup, rules)
        if own.preview:
            return OK if asked.exit_zero else _verdict(shown, asked, setup)
    spent: dict[str, float] = {}
    result = _judged(run, asked, own, setup, rules, spent)
    report = _report(run, asked, own, setup, result, rules, formats)
    if own.add_ignore is not None:
        from policylint.cli.add_ignore import add_ignores

        return add_ignores(report, own.add_ignore, locked(setup.settings))
    in_its_place = own.statistics and form in PROSE
    put(
        write("statistics" if in_its_place else form, report._replace(options=styled(report.options, run.asked.color))),
        commands=form == "github",
    )
    if own.statistics and not in_its_place:
        from policylint.report.findings.statistics import table

        click.echo("\n".join(table(report)), err=True)
    for name, file in files:
        save(file, write(name, report))
    run.lap("report")
    return _end(run, asked, setup, result, report, formats, spent)


def _fixed(run: Run, asked: Reporting, own: LintOptions, setup: Setup, rules: set[str] | None) -> Sequence[Finding]:
    """Fix what can be, or show what that would change; the findings that are listed as they were found first.

    Raises:
        click.UsageError: what is read are no files of the work tree.
    """
    from policylint.cli.fix import fix, preview
    from policylint.cli.output import wants_color
    from policylint.session.lint import judge

    if asked.hook or "-" in run.asked.paths:
        raise click.UsageError("--fix and --diff are for files of the work tree, not for the index or stdin")

    def judged_now() -> tuple[Workspace, Sequence[Finding]]:
        workspace = run.open(setup)
        with_ignores = not own.no_ignores
        return workspace, judge(setup, workspace, rules, strict=asked.strict, with_ignores=with_ignores).findings

    if not own.preview:
        fix(judged_now, unsafe=own.unsafe_fixes)
        return ()
    findings = preview(judged_now, unsafe=own.unsafe_fixes, color=wants_color(run.asked.color))
    return [finding for finding in findings if finding.confidence != "unknown" or asked.show_unknown]


def _judged(
    run: Run, asked: Reporting, own: LintOptions, setup: Setup, rules: set[str] | None, spent: dict[str, float]
) -> LintResult:
    """Read, ask the rules, and say which entries of the baseline are stale; `spent` takes the seconds by rule."""
    from functools import partial

    from policylint.session.lint import baseline_file
    from policylint.session.lint import lint as linted

    amend = None
    if asked.hook:
        from policylint.session.removal import escalate_staged
        from policylint.session.staged import staged_source

        workspace = run.open(setup, source=staged_source(setup))
        amend = partial(escalate_staged, setup=setup, workspace=workspace)
    else:
        workspace = run.open(setup)
    run.lap("read and simulate")
    timed = spent if run.asked.timing else None
    result = linted(
        setup, workspace, rules, with_ignores=not own.no_ignores, baseline=own.baseline, spent=timed, amend=amend
    )
    for line in _stale(result, baseline_file(setup)) if result.stale else ():
        say(line)
    run.lap("rules")
    return result


def _stale(result: LintResult, file: str) -> Iterator[str]:
    """What to say of entries that no finding answers to."""
    entries = "1 stale entry" if len(result.stale) == 1 else f"{len(result.stale)} stale entries"
    yield f"{entries} in {file}; `policylint baseline` drops {'it' if len(result.stale) == 1 else 'them'}"
    for entry in sorted(result.stale, key=lambda entry: (entry.rule, entry.message)):
        yield f"stale: {entry.rule} {entry.message}"


def _report(
    run: Run,
    asked: Reporting,
    own: LintOptions,
    setup: Setup,
    result: LintResult,
    rules: set[str] | None,
    formats: set[str],
) -> Report:
    """Everything that writers need."""
    from policylint.cli.output import report_of
    from policylint.report.findings import Options

    paths = run.asked.paths
    plain = Options(
        min_severity=asked.min_severity or setup.settings.min_severity,  # type: ignore[arg-type]
        show_unknown=asked.show_unknown,
        with_suppressed=own.sarif_include_suppressed,
    )
    return report_of(result.workspace, result.findings, paths, rules, formats, plain, run.seconds)._replace(
        suppressed=len(result.suppressed),
        silenced=result.suppressed,
        accepted=result.accepted,
        again=None if "-" in paths else (*(("-C", run.directory) if run.directory else ()), *paths),
    )


def _end(
    run: Run,
    asked: Reporting,
    setup: Setup,
    result: LintResult,
    report: Report,
    formats: set[str],
    spent: dict[str, float],
) -> int:
    """Say what is to be said on stderr; the exit code."""
    from policylint.cli.timing import by_rule
    from policylint.session.lint import UNREAD, suppressions_in_words

    if "sarif" in formats:
        from policylint.report.findings.sarif import MOST_RESULTS, left_out

        if number := left_out(report):
            say(f"sarif: {number} findings left out, code scanning takes the {MOST_RESULTS} worst")
    run.end(result.coverage, spent=by_rule(spent), more=suppressions_in_words(result.suppressed))
    empty = is_empty(result.coverage)
    if asked.strict and (empty or any(finding.rule == UNREAD for finding in result.findings)):
        return INCOMPLETE
    return OK if asked.exit_zero else _verdict(report.known, asked, setup)


def _verdict(known: Sequence[Finding], asked: Reporting, setup: Setup) -> int:
    """1 if something at or above the threshold was found; what is uncertain does not count unless it is shown."""
    from policylint.session.lint import reaches

    return FOUND if reaches(known, asked.fail_on or setup.settings.fail_on) else OK


__all__ = ["FORMATS", "lint"]
