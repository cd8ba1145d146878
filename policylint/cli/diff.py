"""`policylint diff`: open two workspaces, compare, report."""

from __future__ import annotations

import click

from policylint.cli import options
from policylint.cli.commands import INCOMPLETE, OK, say
from policylint.cli.options import INPUT, OUTPUT, RULES, Command, option, together
from policylint.cli.reporting import ReportingRun
from policylint.cli.run import gather, is_empty, showing
from policylint.report.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from policylint.model.coverage import Coverage
    from policylint.report.diff.report import DiffReport
    from policylint.session.diff import DiffResult
    from policylint.session.revisions import DiffRequest

MARKDOWN = "What Markdown says"


class DiffRun(ReportingRun):
    """A run of diff."""

    staged: bool
    rendered_before: str | None
    rendered_after: str | None
    exit_code: bool
    show: str | None
    links: str
    graph: str
    revisions: str
    has_files = True


comparing = together(
    options.what_is_read,
    option(INPUT, "--rendered-before", metavar="DIR", help="Rendered manifests of before, instead of a revision."),
    option(INPUT, "--rendered-after", metavar="DIR", help="Rendered manifests of after."),
    options.strict,
    options.select,
    options.ignore,
    options.min_severity(),
    options.show_unknown,
    options.fail_on(" of a new finding"),
    option(RULES, "--exit-code", "exit_code", is_flag=True, help="Exit 1 also when only effective policy changes."),
    option(OUTPUT, "--show", type=click.Choice(("unchanged",)), help="Also list findings that were there before."),
)
shown_in_markdown = together(
    option(MARKDOWN, "--links", metavar="URL", default="", help="Where files of after can be read: it links to them."),
    option(
        MARKDOWN,
        "--graph",
        metavar="URL",
        default="",
        help="Where the page of `policylint graph` can be opened: rows link to it.",
    ),
    option(
        MARKDOWN,
        "--revisions",
        metavar="A..B",
        default="",
        help="What its commands call the revisions: readers have no merge commit of CI.",
    ),
)


@click.command(
    cls=Command,
    examples="""\
  policylint diff main..HEAD                what two tips differ in
  policylint diff main...HEAD clusters/prod what HEAD adds to its merge base with main
  policylint diff HEAD~3                    three commits and what is not committed
  policylint diff --staged                  what is about to be committed
  policylint diff --rendered-before a --rendered-after b
  policylint diff --live clusters/prod      what applying that would change in the cluster
""",
    exit_codes="""0 no new finding at or above --fail-on, 1 new findings (with --exit-code also any
change in effect), 2 wrong usage or unknown revision, 3 incomplete.""",
)
@comparing
@option(INPUT, "--staged", is_flag=True, help="Compare with the index instead of the work tree.")
@option(
    INPUT, "--hook", is_flag=True, help="For pre-push: PRE_COMMIT_FROM_REF and TO_REF; with --staged for pre-commit."
)
@shown_in_markdown
@options.form_option(("auto", *FORMATS["diff"]), default="auto")
@options.outputs
@showing
@gather(DiffRun)
def diff(run: DiffRun) -> int:
    """Show what a change does to effective policy: per route, with verdicts and findings that are new or fixed.

    The first argument is a revision: A..B, A...B (from the merge base), or A alone, compared with the work tree.
    Without one: HEAD and the work tree. PATHs say what to report on. The configuration of the side before judges
    both, and what the change does to it is reported.
    """
    if run.hook:
        from policylint.session.staged import is_idle, pushed_range

        if run.staged and is_idle():
            return OK
        if not run.staged and not pushed_range():
            say("nothing to compare with: pre-commit names no revisions for a first push and for --all-files")
            return OK
    form, files = run.formats(FORMATS["diff"])
    report, code = compared(run, {form, *(name for name, _ in files)})
    put_all(run, report, form, files)
    return code


def put_all(run: DiffRun, report: DiffReport, form: str, files: Sequence[tuple[str, str]]) -> None:
    """Write a report to stdout, unless there is no `form`, and to files."""
    from policylint.cli.output import put, save
    from policylint.report.diff.report import write

    if form:
        put(write(form, report._replace(report=run.styled(report.report))), commands=form == "github")
    for name, file in files:
        save(file, write(name, report))


def compared(run: DiffRun, formats: set[str]) -> tuple[DiffReport, int]:
    """Compare; the report for these formats, and the exit code.

    Raises:
        click.UsageError: an option cannot be used.
    """
    if run.revisions and not _is_range(run.revisions):
        raise click.UsageError(f"--revisions takes A..B or A...B, not {run.revisions!r}")
    if run.graph and not _is_address(run.graph):
        raise click.UsageError(f"--graph takes the https address of a page, not {run.graph!r}")
    from policylint.session.diff import run_diff
    from policylint.session.revisions import DiffOptions, resolve
    from policylint.session.rules import chosen

    sides_named = DiffOptions(run.staged, run.rendered_before, run.rendered_after, run.hook)
    if run.live:
        run.no_config |= not (run.paths or run.config)
        sides_named = sides_named._replace(live=run.objects(run.setup()))
    request = resolve(run.options(), sides_named)
    setup = request.setup
    rules = chosen(setup)
    sides = run.open_sides(request)
    run.lap("read and simulate")
    result = run_diff(sides, rules, run.lap)
    report = _report(run, request, result, rules, formats)
    run.end(result.after.coverage)
    new = report.known("new")
    unfinished = any(run.incomplete(False, (), side) for side in (result.before, result.after))
    unfinished |= any(env.requests is not None and env.requests.is_cut_off for env in result.comparison.environments)
    if unfinished or run.incomplete(run.strict and is_empty(result.after.coverage), new, result.after):
        return report, INCOMPLETE
    return report, run.verdict(setup, new, changes=run.exit_code and result.changes_policy)


def _is_range(text: str) -> bool:
    """Return whether a text is two revisions, of characters that mean nothing to a shell."""
    import re

    return re.fullmatch(r"[\w./-]+\.\.[\w./-]+", text, re.ASCII) is not None and not text.startswith("-")


def _is_address(text: str) -> bool:
    """Return whether a text is an https address without a fragment, of characters that mean nothing in Markdown."""
    return (
        text.isascii() and text.isprintable() and text.startswith("https://") and not set(text) & set(' ()<>[]|`\\"#')
    )


def _judged_by(result: DiffResult) -> Coverage:
    """Return the coverage of the side after, with the releases of the side before where they are others."""
    coverage, former = result.after.coverage, result.before.coverage.releases
    if former == coverage.releases:
        return coverage
    from policylint.workspace.releases import in_words

    gone = {said for said in former if said not in coverage.releases}
    said = zip(former, in_words(result.before.simulations, " before"), strict=True)
    return coverage._replace(releases=(*coverage.releases, *(each for was, each in said if was in gone)))


def _report(
    run: DiffRun, request: DiffRequest, result: DiffResult, rules: set[str] | None, formats: set[str]
) -> DiffReport:
    """Return everything that writers need."""
    from functools import lru_cache, partial

    from policylint.report.diff.report import DiffReport
    from policylint.report.diff.wording import notices
    from policylint.session.open import below_root

    comparison, before = result.comparison, result.before
    findings = [change.finding for change in comparison.findings] + [entry.finding for entry in result.silenced]
    report = run.report(request.setup, result.after, findings, rules, formats, request.paths)
    report = report._replace(notices=notices(result.configuration, result.silenced), coverage=_judged_by(result))
    environments = tuple(environment.name for environment in comparison.environments)
    return DiffReport(
        comparison,
        report._replace(findings=result.new, environments=environments, suppressed=result.suppressed),
        before_lines=lru_cache(maxsize=64)(before.source_lines),
        before_relative=lru_cache(maxsize=None)(partial(below_root, before.root)),
        again=" ".join([request.again, *run.of_cluster[1:]]),
        span=request.span,
        readers=run.revisions,
        files_differ=result.files_differ,
        show_unchanged=run.show == "unchanged",
        links=run.links,
        graph=run.graph,
        silenced=result.silenced,
        configuration=result.configuration,
    )


for _parameter in diff.params:  # the arguments of `reading`, of which the first may be a revision
    if _parameter.name == "paths":
        _parameter.metavar = "[A..B] [PATH]..."
__all__ = ["diff"]
