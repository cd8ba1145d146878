"""`policylint baseline`: accept today's findings, so that `lint` reports only those that come later."""

from __future__ import annotations

import click

from policylint.cli.commands import INCOMPLETE, OK
from policylint.cli.options import EXIT_CODES, OUTPUT, RULES, Command, option
from policylint.cli.run import Run, is_empty, reading, showing


@click.command(
    cls=Command,
    examples="""\
  policylint baseline                         write .policylint-baseline.json
  policylint lint                             report what is not in it, and entries that are stale
  policylint baseline && git diff --stat      renew it after fixing something
""",
    exit_codes=EXIT_CODES,
)
@reading
@option(RULES, "--show-unknown", is_flag=True, help="Also accept what rests on something that was not seen.")
@option(
    OUTPUT,
    "--to",
    "file",
    metavar="FILE",
    type=click.Path(path_type=str, dir_okay=False),
    help="Where to write it instead.",
)
@showing
def baseline(run: Run, file: str | None, show_unknown: bool) -> int:
    """Write a baseline with every finding of today; what the configuration and suppressions leave out stays out."""
    from policylint.cli.output import put, save
    from policylint.model.words import count
    from policylint.session.lint import baseline_file, fingerprints_of, judge
    from policylint.session.rules import chosen
    from policylint.triage.baseline import text

    setup = run.setup()
    rules = chosen(setup)
    workspace = run.open(setup)
    result = judge(setup, workspace, rules)
    findings = result.findings if show_unknown else result.known
    place = file or baseline_file(setup)
    save(place, text(findings, fingerprints_of(workspace, findings)))
    put(f"{count(len(findings), 'finding')} accepted in {place}\n")
    run.lap("all of it")
    run.end(workspace.coverage)
    is_empty(workspace.coverage)
    return INCOMPLETE if workspace.coverage.cut_off else OK
