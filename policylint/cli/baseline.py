"""`policylint baseline`: accept today's findings, so that `lint --baseline` reports only those that come later."""

from __future__ import annotations

import click

from policylint.cli.options import OUTPUT, RULES, Command, option, reading, showing


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  policylint baseline                         write .policylint-baseline.json
  policylint lint --baseline                  report what is not in it, and entries that are stale
  policylint baseline && git diff --stat      renew it after fixing something

\b
Exit codes: 0, 2 wrong usage, 3 not done whole.
""",
)
@reading
@option(RULES, "--show-unknown", is_flag=True, help="Also accept what rests on something that was not seen.")
@option(
    OUTPUT, "--file", metavar="FILE", type=click.Path(path_type=str, dir_okay=False), help="Where to write it instead."
)
@showing
def baseline(
    paths: tuple[str, ...],
    directory: str | None,
    semantics: str | None,
    snapshot: str | None,
    file: str | None,
    show_unknown: bool,
    color: str,  # noqa: ARG001 - shared with the other commands that read
    verbose: bool,
    timing: bool,
) -> int:
    """Write a baseline with every finding of today; what the configuration and suppressions leave out stays out."""
    from policylint.cli import configured
    from policylint.cli.commands import say
    from policylint.cli.judging import baseline_file, fingerprints_of, judge
    from policylint.cli.opening import Clock, describe, enter, is_empty, opened
    from policylint.cli.streams import put, save
    from policylint.triage.baseline import text

    clock = Clock()
    enter(directory)
    settings = configured.settings()
    chosen = configured.chosen(settings, (), ())
    workspace = opened(paths, None, semantics, snapshot)
    found = judge(workspace, settings, chosen).findings
    findings = [each for each in found if show_unknown or each.confidence != "unknown"]
    place = file or baseline_file(settings)
    save(place, text(findings, fingerprints_of(workspace, findings)))
    put(f"{len(findings)} {'finding' if len(findings) == 1 else 'findings'} accepted in {place}\n")
    clock.lap("all of it")
    if verbose:
        describe(workspace.coverage)
    if timing:
        for line in clock.lines():
            say(line)
    is_empty(workspace.coverage)
    return 0
