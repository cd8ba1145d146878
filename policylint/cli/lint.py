"""`policylint lint`: open the workspace, ask the rules, report."""

from __future__ import annotations

import click

from policylint.cli import options
from policylint.cli.commands import INCOMPLETE, OK, say
from policylint.cli.options import INPUT, OUTPUT, RULES, Command, option
from policylint.cli.reporting import ReportingRun
from policylint.cli.run import gather, is_empty, showing
from policylint.report.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from policylint.model import Finding
    from policylint.report.findings import Report
    from policylint.session.lint import LintResult
    from policylint.session.settings import Setup

FIXES = "What is fixed"
PROSE = ("text", "concise", "github")
"""Formats in whose place --statistics can stand."""


class LintRun(ReportingRun):
    """A run of lint."""

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
    examples="""\
  policylint lint                                      everything below the git root
  policylint lint clusters/prod --fail-on warning
  policylint lint -o concise --select GWP1,unused-suppression
  policylint lint --output sarif=out.sarif --output markdown=comment.md
  helm template shop charts/shop | policylint lint -
""",
    exit_codes="""0 nothing at or above --fail-on, 1 findings, 2 wrong usage, 3 incomplete.""",
)
@options.what_is_read
@options.watch
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
    help="Leave out what is in the baseline (policylint baseline). Default: on if there is one.",
)
@options.min_severity(" Default: warning for text, concise, github; note for the others.")
@options.show_unknown
@option(RULES, "--show-orphans", is_flag=True, help="Also list routes and policies in files that nothing deploys.")
@options.fail_on()
@option(FIXES, "--fix", is_flag=True, help="Edit the files where the right edit is certain, then report.")
@option(FIXES, "--diff", "preview", is_flag=True, help="Show what --fix would change, and change nothing.")
@option(FIXES, "--unsafe-fixes", is_flag=True, help="Also edits that change what the cluster does.")
@options.form_option(
    ("auto", *FORMATS["lint"]), "Format on stdout. auto: github inside GitHub Actions, else text.", "auto"
)
@options.outputs
@option(
    OUTPUT,
    "--sarif-include-suppressed",
    is_flag=True,
    help="Also write suppressed findings to sarif, marked as such. Not for GitHub: it shows them as open.",
)
@option(OUTPUT, "--statistics", is_flag=True, help="Count findings by rule instead of listing them.")
@showing
@gather(LintRun)
def lint(run: LintRun) -> int:
    """Report what is wrong with the policies and routes that are deployed below PATH.

    PATH is a directory, a file, or `-` for rendered YAML on stdin. Default: the git root. The repository around PATH is
    read as well, and what concerns PATH is reported (--isolated reads less).
    """
    if run.hook:
        if run.add_ignore is not None:
            raise click.UsageError("--add-ignore edits files, --hook reads the index")
        from policylint.session.staged import is_idle

        if is_idle():
            return OK
    from policylint.session.lint import suppressions_in_words
    from policylint.session.rules import chosen, locked

    form, files = run.formats(FORMATS["lint"])
    if run.statistics and form not in PROSE:
        raise click.UsageError(f"--statistics stands in the place of a list for readers, not of -o {form}")
    setup = run.setup(show_orphans=run.show_orphans)
    rules = chosen(setup)
    if run.fix or run.preview:
        findings = _fix(run, setup, rules)
        if run.preview:
            return run.verdict(setup, findings)
    spent: dict[str, float] = {}
    result = _judge(run, setup, rules, spent)
    formats = {form, *(name for name, _ in files)}
    report = run.report(
        setup,
        result.workspace,
        result.findings,
        rules,
        formats,
        run.paths,
        with_suppressed=run.sarif_include_suppressed,
    )._replace(
        suppressed=len(result.suppressed),
        silenced=result.suppressed,
        accepted=result.accepted,
        again=None
        if "-" in run.paths
        else (*(("-C", run.directory) if run.directory else ()), *run.paths, *run.of_cluster),
    )
    if run.add_ignore is not None:
        from policylint.cli.add_ignore import add_ignores

        if (scope := result.workspace.scope) is not None:
            there = [finding for finding in report.findings if scope.shows(finding.location.file)]
            report = report._replace(findings=there)
        return add_ignores(report, run.add_ignore, locked(setup.settings))
    _write(run, report, form, files)
    run.lap("report")
    if "sarif" in formats:
        from policylint.report.findings.sarif import MOST_RESULTS, left_out

        if number := left_out(report):
            say(f"sarif: {number} findings left out, code scanning takes the {MOST_RESULTS} worst")
    run.end(result.coverage, spent=spent, more=suppressions_in_words(result.suppressed))
    if run.incomplete(is_empty(result.coverage, told=bool(result.findings)), result.findings, result.workspace):
        return INCOMPLETE
    return run.verdict(setup, report.known)


def _write(run: LintRun, report: Report, form: str, files: Sequence[tuple[str, str]]) -> None:
    """Write the report to stdout and to the files of --output."""
    from policylint.cli.output import put, save, wants_addresses, wants_links
    from policylint.report.findings import write

    shown = run.styled(report, links=wants_links(run.color), addresses=wants_addresses())
    if run.statistics:
        from policylint.report.findings.statistics import counted

        put(counted(shown))
    else:
        put(write(form, shown), commands=form == "github")
    for name, file in files:
        save(file, write(name, report))


def _fix(run: LintRun, setup: Setup, rules: set[str] | None) -> Sequence[Finding]:
    """Fix what can be, or show what that would change; return the findings that --diff lists, as they were first.

    Raises:
        click.UsageError: what is read are no files of the work tree.
    """
    from policylint.cli.fix import fix, preview
    from policylint.cli.output import wants_color
    from policylint.session.lint import judge
    from policylint.sources.edited import EditedWorkTree

    if run.hook or "-" in run.paths:
        raise click.UsageError("--fix and --diff work on files in the work tree, not on the index or stdin")

    def judge_now(edited: Mapping[str, bytes]) -> LintResult:
        def listing(paths: Sequence[str] | None) -> EditedWorkTree:
            return EditedWorkTree(paths or setup.paths, setup.exclude, edited)

        result = judge(setup, run.open(setup, listing=listing), rules, with_ignores=not run.no_ignores)
        scope = result.workspace.scope
        if scope is None:
            return result
        fixed = [
            finding if scope.shows(finding.location.file) else finding._replace(fixes=()) for finding in result.findings
        ]
        return result._replace(findings=tuple(fixed))

    if not run.preview:
        fix(judge_now, unsafe=run.unsafe_fixes)
        return ()
    result = preview(judge_now, unsafe=run.unsafe_fixes, color=wants_color(run.color))
    return result.findings if run.show_unknown else result.known


def _judge(run: LintRun, setup: Setup, rules: set[str] | None, spent: dict[str, float]) -> LintResult:
    """Read, ask the rules, and say which entries of the baseline are stale; `spent` takes the seconds by rule."""
    from functools import partial

    from policylint.session.lint import baseline_file
    from policylint.session.lint import lint as lint_workspace

    amend = None
    if run.hook:
        from policylint.session.removal import escalate_staged
        from policylint.session.staged import staged_listing

        workspace = run.open(setup, listing=staged_listing(setup))
        amend = partial(escalate_staged, setup=setup, workspace=workspace)
    else:
        workspace = run.open(setup)
    run.lap("read and simulate")
    result = lint_workspace(
        setup,
        workspace,
        rules,
        with_ignores=not run.no_ignores,
        baseline=run.baseline,
        spent=spent if run.timing else None,
        amend=amend,
        last=True,
    )
    if result.stale:
        entries = "1 stale entry" if len(result.stale) == 1 else f"{len(result.stale)} stale entries"
        pronoun = "it" if len(result.stale) == 1 else "them"
        say(f"{entries} in {baseline_file(setup)}; `policylint baseline` drops {pronoun}")
    for entry in sorted(result.stale, key=lambda entry: (entry.rule, entry.message)):
        say(f"stale: {entry.rule} {entry.message}")
    run.lap("rules")
    return result


__all__ = ["lint"]
