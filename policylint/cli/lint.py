"""`policylint lint`: open the workspace, ask the rules, report."""

from __future__ import annotations

import os

import click

from policylint.cli.commands import FOUND, INCOMPLETE, OK
from policylint.cli.completing import rule_names
from policylint.cli.fixing import fixing
from policylint.cli.options import INPUT, OUTPUT, RULES, Command, option, reading, showing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from policylint.config import Settings
    from policylint.model import Finding
    from policylint.report.findings import Report
    from policylint.sources import Source
    from policylint.workspace import Workspace

SEVERITIES = ("error", "warning", "note")
FORMATS = ("auto", "text", "concise", "json-v1", "json", "sarif", "markdown", "github", "junit", "codeclimate")
PROSE = ("text", "concise", "github")
"""Formats in whose place --statistics can stand."""


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
@option(INPUT, "--strict", is_flag=True, help="Read every document; exit 3 for files that cannot be read, or none.")
@option(INPUT, "--hook", is_flag=True, help="For pre-commit: read the index; leave at once if nothing staged matters.")
@option(
    RULES,
    "--select",
    multiple=True,
    metavar="RULE,...",
    shell_complete=rule_names,
    help="Only these rules: ids, names, families (GWP1).",
)
@option(RULES, "--ignore", multiple=True, metavar="RULE,...", shell_complete=rule_names, help="All but these rules.")
@option(RULES, "--no-ignores", is_flag=True, help="Report findings that comments, annotations, configuration suppress.")
@option(RULES, "--add-ignore", metavar="REASON", help="Suppress what would be listed, by comments in the files.")
@option(
    RULES,
    "--baseline/--no-baseline",
    default=None,
    help="Leave out what is in the baseline (policylint baseline). Default: on if the configuration names one.",
)
@option(
    RULES,
    "--min-severity",
    type=click.Choice(SEVERITIES),
    help="List findings from this severity on. Default: warning for text, concise, github; note for the others.",
)
@option(RULES, "--show-unknown", is_flag=True, help="Also list what rests on something that was not seen.")
@option(RULES, "--show-orphans", is_flag=True, help="Also list routes and policies in files that nothing deploys.")
@option(
    RULES,
    "--fail-on",
    type=click.Choice((*SEVERITIES, "never")),
    help="Lowest severity for which the exit code is 1. Default: error.",
)
@fixing
@option(RULES, "--exit-zero", is_flag=True, help="Exit 0 even with findings.")
@option(
    OUTPUT,
    "-o",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="auto",
    show_default=True,
    help="Format on stdout. auto: github inside GitHub Actions, else text.",
)
@option(
    OUTPUT, "--output", "outputs", multiple=True, metavar="FORMAT=FILE", help="Also write FORMAT to FILE; repeatable."
)
@option(
    OUTPUT,
    "--sarif-include-suppressed",
    is_flag=True,
    help="Also write suppressed findings to sarif, marked as such. Not for GitHub: it shows them as open.",
)
@option(OUTPUT, "--statistics", is_flag=True, help="Count findings by rule instead of listing them.")
@showing
def lint(
    paths: tuple[str, ...],
    directory: str | None,
    semantics: str | None,
    snapshot: str | None,
    strict: bool,
    hook: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    no_ignores: bool,
    add_ignore: str | None,
    baseline: bool | None,
    min_severity: str | None,
    show_unknown: bool,
    show_orphans: bool,
    fail_on: str | None,
    fix: bool,
    preview: bool,
    unsafe_fixes: bool,
    exit_zero: bool,
    form: str,
    outputs: tuple[str, ...],
    sarif_include_suppressed: bool,
    statistics: bool,
    color: str,
    verbose: bool,
    timing: bool,
) -> int:
    """Report what is wrong with the policies and routes that are deployed below PATH.

    PATH is a directory, a file, or `-` for rendered YAML on stdin. Default: the git root.
    """
    from policylint.cli.opening import Clock, below_root, describe, enter, is_empty, opened

    clock = Clock()
    enter(directory)
    if hook:
        if add_ignore is not None:
            raise click.UsageError("--add-ignore edits files, --hook reads the index")
        from policylint.cli.hook import is_idle

        if is_idle():
            return OK

    from functools import lru_cache, partial

    from policylint.cli import configured
    from policylint.cli.judging import UNREAD, baseline_file, is_whole, judge, stale_lines, with_baseline
    from policylint.cli.progress import progress
    from policylint.cli.streams import page_width, put, save, say, wants_addresses, wants_color, wants_links

    files = [_output(each) for each in outputs]
    settings = configured.settings()
    chosen = configured.chosen(settings, _split(select), _split(ignore), on_request=show_orphans)
    if fix or preview:

        def judged_now() -> tuple[Workspace, Sequence[Finding]]:
            fresh = opened(paths, None, semantics, snapshot, strict=strict)
            return fresh, judge(fresh, settings, chosen, strict=strict, with_ignores=not no_ignores).findings

        from policylint.cli import fixing as fixes

        if hook or "-" in paths:
            raise click.UsageError("--fix and --diff are for files of the work tree, not for the index or stdin")
        if preview:
            shown = fixes.preview(judged_now, unsafe=unsafe_fixes, color=wants_color(color))
            known = [each for each in shown if each.confidence != "unknown" or show_unknown]
            return OK if exit_zero else _verdict(known, fail_on or settings.fail_on)
        fixes.fix(judged_now, unsafe=unsafe_fixes)
    workspace = opened(
        paths, None, semantics, snapshot, strict=strict, source=_index(paths, settings) if hook else None
    )
    clock.lap("read and simulate")
    whole = is_whole(paths)
    spent: dict[str, float] | None = {} if timing else None
    more: dict[str, Any] = {}
    if hook:
        from policylint.cli.removed import told

        def before(revision: str) -> Workspace | None:
            there = _former(revision, paths, settings)
            return None if there is None else opened(paths, None, semantics, snapshot, source=there)

        more["amend"] = partial(told, workspace=workspace, before=before)
    with progress("asking the rules"):
        judged = judge(
            workspace, settings, chosen, strict=strict, with_ignores=not no_ignores, whole=whole, spent=spent, **more
        )
    findings = judged.findings
    accepted = None
    if baseline or (baseline is None and settings.baseline):
        file = baseline_file(settings)
        compared = with_baseline(workspace, judged, file, chosen)
        findings, accepted = compared.new, compared.accepted
        for line in stale_lines(compared, file):
            say(line)
    clock.lap("rules")

    from policylint import __version__
    from policylint.cli.judging import names_of, pages_for
    from policylint.report.findings import Options, Report, write

    options: dict[str, Any] = {
        "min_severity": min_severity or settings.min_severity,
        "show_unknown": show_unknown,
        "with_suppressed": sarif_include_suppressed,
    }
    if form == "auto":
        form = "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
    formats = {form, *(name for name, _ in files)}
    rules = {each.rule for each in findings}
    report = Report(
        findings=findings,
        coverage=workspace.coverage,
        environments=tuple(each.world.name for each in workspace.simulations),
        names=names_of(rules),
        pages=pages_for(formats, chosen, rules),
        seconds=clock.seconds,
        version=__version__,
        source_lines=lru_cache(maxsize=64)(workspace.source_lines),
        relative=lru_cache(maxsize=None)(partial(below_root, workspace.root)),
        options=Options(
            color=wants_color(color),
            links=wants_links(color),
            addresses=wants_addresses(),
            width=page_width(),
            **options,
        ),
        suppressed=len(judged.suppressed),
        silenced=judged.suppressed,
        accepted=accepted,
        paths=tuple(path for each in paths if (path := below_root(workspace.root, each))),
        again=None if "-" in paths else (*(("-C", directory) if directory else ()), *paths),
    )
    if add_ignore is not None:
        from policylint.cli.adding import add_ignores

        return add_ignores(report, add_ignore, configured.locked(settings))
    put(write("statistics" if statistics and form in PROSE else form, report), commands=form == "github")
    if statistics and form not in PROSE:
        from policylint.report.findings.statistics import table

        click.echo("\n".join(table(report)), err=True)
    for name, file in files:
        save(file, write(name, report._replace(options=Options(**options))))
    clock.lap("report")

    if "sarif" in formats:
        _say_left_out(report)
    if verbose:
        describe(workspace.coverage)
        for line in judged.lines():
            say(line)
    if timing:
        for line in clock.lines():
            say(line)
        from policylint.cli.timing import by_rule

        for line in by_rule(spent or {}):
            say(line)
    empty = is_empty(workspace.coverage)
    if strict and (empty or any(each.rule == UNREAD for each in findings)):
        return INCOMPLETE
    return OK if exit_zero else _verdict(report.known, fail_on or settings.fail_on)


def _index(paths: Sequence[str], settings: Settings) -> Source:
    from policylint.cli.configured import given
    from policylint.cli.hook import source

    said = given(settings)
    return source(paths or settings.paths, said.excluded if said else None)


def _former(revision: str, paths: Sequence[str], settings: Settings) -> Source | None:
    from policylint.cli.configured import given
    from policylint.cli.hook import former

    said = given(settings)
    return former(revision, paths or settings.paths, said.excluded if said else None)


def _verdict(known: Sequence[Finding], fail_on: str) -> int:
    """1 if something at or above the threshold was found; what is uncertain does not count unless it is shown."""
    if fail_on == "never":
        return OK
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return FOUND if any(each.severity in failing for each in known) else OK


def _output(text: str) -> tuple[str, str]:
    """`sarif=out.sarif` in its two parts."""
    name, equals, file = text.partition("=")
    if not equals or not file or name not in FORMATS or name == "auto":
        known = ", ".join(FORMATS[1:])
        raise click.BadParameter(f"{text!r} is not FORMAT=FILE with one of {known}", param_hint="--output")
    return name, file


def _split(values: Sequence[str]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def _say_left_out(report: Report) -> None:
    from policylint.cli.streams import say
    from policylint.report.findings.sarif import MOST_RESULTS, left_out

    if number := left_out(report):
        say(f"sarif: {number} findings left out, code scanning takes the {MOST_RESULTS} worst")
