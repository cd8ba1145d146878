"""`policylint diff`: open two workspaces, compare, report."""

from __future__ import annotations

import os

import click

from policylint.cli.commands import FOUND, INCOMPLETE, OK
from policylint.cli.options import INPUT, OUTPUT, RULES, Command, option, reading, showing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from policylint.cli.answer import Answer
    from policylint.cli.diff_asked import Asked
    from policylint.model.coverage import Coverage
    from policylint.report.diff.report import DiffReport

SEVERITIES = ("error", "warning", "note")
OWN_FORMATS = ("text", "concise", "json-v1", "json", "markdown", "summary", "github")
"""Formats that show changes; the others show new findings, as lint does."""
FORMATS = ("auto", *OWN_FORMATS, "sarif", "junit", "codeclimate")


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
@option(INPUT, "--strict", is_flag=True, help="Read every document; exit 3 for files that cannot be read, or none.")
@option(RULES, "--select", multiple=True, metavar="RULE,...", help="Only these rules: ids, names, families (GWP1).")
@option(RULES, "--ignore", multiple=True, metavar="RULE,...", help="All but these rules.")
@option(RULES, "--min-severity", type=click.Choice(SEVERITIES), help="List findings from this severity on.")
@option(RULES, "--show-unknown", is_flag=True, help="Also list what rests on something that was not seen.")
@option(
    RULES,
    "--fail-on",
    type=click.Choice((*SEVERITIES, "never")),
    help="Lowest severity of a new finding for which the exit code is 1. Default: error.",
)
@option(RULES, "--exit-code", "exit_code", is_flag=True, help="Exit 1 also when only effective policy changes.")
@option(RULES, "--exit-zero", is_flag=True, help="Exit 0 even with new findings.")
@option(OUTPUT, "--show", type=click.Choice(("unchanged",)), help="Also list findings that were there before.")
@option(OUTPUT, "--links", metavar="URL", default="", help="Where files of after can be read; markdown links to it.")
@option(OUTPUT, "--comment-key", metavar="KEY", default="default", help="Tells several markdown comments apart.")
@option(
    OUTPUT,
    "-o",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="auto",
    show_default=True,
    help="Format on stdout.",
)
@option(
    OUTPUT, "--output", "outputs", multiple=True, metavar="FORMAT=FILE", help="Also write FORMAT to FILE; repeatable."
)
@showing
def diff(
    paths: tuple[str, ...],
    directory: str | None,
    semantics: str | None,
    snapshot: str | None,
    staged: bool,
    rendered_before: str | None,
    rendered_after: str | None,
    hook: bool,
    strict: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    min_severity: str | None,
    show_unknown: bool,
    fail_on: str | None,
    exit_code: bool,
    exit_zero: bool,
    show: str | None,
    links: str,
    comment_key: str,
    form: str,
    outputs: tuple[str, ...],
    color: str,
    verbose: bool,
    timing: bool,
) -> int:
    """Show what a change does to effective policy: per route, with verdicts and findings that are new or fixed.

    The first argument is a revision: A..B, A...B (from the merge base), or A alone, compared with the work tree.
    Without one: HEAD and the work tree. PATHs narrow down what is read. The configuration of the later side,
    as it stands there, judges both.
    """
    from policylint.cli import configured, kept
    from policylint.cli.answer import answered
    from policylint.cli.diff_asked import Wanted, resolved
    from policylint.cli.opening import Clock, describe, is_empty
    from policylint.cli.streams import page_width, put, save, say, wants_color

    clock = Clock()
    files = [_output(each) for each in outputs]
    if directory:
        os.chdir(directory)
    if hook:
        from policylint.cli.hook import pushed_range

        if not pushed_range(os.environ):
            say("nothing to compare with: pre-commit names no revisions for a first push and for --all-files")
            return OK
    asked = resolved(Wanted(paths, staged, rendered_before, rendered_after, hook, semantics, snapshot, strict))
    settings = configured.settings()
    chosen = configured.chosen(settings, _split(select), _split(ignore))
    memory = None if timing else kept.memory(asked, settings, chosen)
    answer = None if memory is None else memory.recalled()
    if answer is None:
        answer, two = answered(asked, settings, chosen, clock)
        if memory is not None:
            memory.keep(answer, two.blobs)

    least = min_severity or settings.min_severity
    plain: dict[str, Any] = {"min_severity": least, "show_unknown": show_unknown}
    form = _automatic(form)
    formats = {form, *(name for name, _ in files)}
    report = _report(asked, answer, chosen, formats, clock.seconds, plain)
    report = report._replace(
        links=links,
        key=comment_key,
        show_unchanged=show == "unchanged",
    )
    from policylint.report.findings import Options

    looks = Options(color=wants_color(color), width=page_width(), **plain)
    put(_written(form, report._replace(report=report.report._replace(options=looks))), commands=form == "github")
    for name, file in files:
        save(file, _written(name, report))
    clock.lap("report")
    if verbose:
        describe(answer.coverage)
    if timing:
        for line in clock.lines():
            say(line)
    return _verdict(report, answer.coverage, fail_on or settings.fail_on, strict, exit_code, exit_zero, is_empty)


def _automatic(form: str) -> str:
    """`auto` is `github` inside GitHub Actions where that format is there, else text."""
    from policylint.report.findings import FORMATS as KNOWN

    if form == "auto":
        return "github" if os.environ.get("GITHUB_ACTIONS") == "true" and "github" in KNOWN else "text"
    if form not in OWN_FORMATS and form not in KNOWN:
        raise click.UsageError(f"format {form!r} is not there yet")
    return form


def _report(
    asked: Asked, answer: Answer, chosen: set[str] | None, formats: set[str], seconds: float, plain: dict[str, Any]
) -> DiffReport:
    """Everything that writers need."""
    from functools import lru_cache, partial

    from policylint import __version__
    from policylint.cli.judging import names_of, pages_for
    from policylint.cli.opening import below_root
    from policylint.report.diff.report import DiffReport
    from policylint.report.findings import Options, Report

    comparison, before, after = answer.comparison, answer.before, answer.after
    rules = {each.finding.rule for each in comparison.findings}
    report = Report(
        findings=comparison.of("new"),
        coverage=answer.coverage,
        environments=tuple(each.name for each in comparison.environments),
        names=names_of(rules),
        pages=pages_for(formats, chosen, rules),
        seconds=seconds,
        version=__version__,
        source_lines=lru_cache(maxsize=64)(after.lines),
        relative=lru_cache(maxsize=None)(partial(below_root, after.root)),
        options=Options(**plain),
        suppressed=answer.suppressed,
        paths=tuple(path for each in asked.paths if (path := below_root(after.root, each))),
    )
    return DiffReport(
        comparison,
        report,
        before_lines=lru_cache(maxsize=64)(before.lines),
        before_relative=lru_cache(maxsize=None)(partial(below_root, before.root)),
        again=asked.again,
        span=asked.span,
        files_differ=answer.files_differ,
    )


def _written(form: str, report: DiffReport) -> str:
    """The text of one format."""
    from policylint.report.findings import write

    match form:
        case "text":
            from policylint.report.diff import text

            return text.write(report)
        case "concise":
            from policylint.report.diff import concise

            return concise.write(report)
        case "json-v1" | "json":
            from policylint.report.diff import json_v1

            return json_v1.write(report)
        case "markdown":
            from policylint.report.diff import markdown

            return markdown.write(report)
        case "github":
            from policylint.report.diff import github

            return github.write(report)
        case "summary":
            from policylint.report.diff import markdown

            return markdown.summary(report)
        case _:
            return write(form, report.report)


def _verdict(
    report: DiffReport,
    coverage: Coverage,
    fail_on: str,
    strict: bool,
    exit_code: bool,
    exit_zero: bool,
    is_empty: Any,
) -> int:
    if strict and (is_empty(coverage) or any(each.rule == "GWP910" for each in report.known("new"))):
        return INCOMPLETE
    if exit_zero:
        return OK
    if fail_on != "never":
        failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
        if any(each.severity in failing for each in report.known("new")):
            return FOUND
    return FOUND if exit_code and report.comparison.changes_policy else OK


def _output(text: str) -> tuple[str, str]:
    """`sarif=out.sarif` in its two parts."""
    name, equals, file = text.partition("=")
    if not equals or not file or name not in FORMATS or name == "auto":
        known = ", ".join(FORMATS[1:])
        raise click.BadParameter(f"{text!r} is not FORMAT=FILE with one of {known}", param_hint="--output")
    return _automatic(name), file


def _split(values: Sequence[str]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


for _parameter in diff.params:  # the arguments of `reading`, of which the first may be a revision
    if _parameter.name == "paths":
        _parameter.metavar = "[A..B] [PATH]..."
__all__ = ["diff"]
