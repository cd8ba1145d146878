"""`policylint export`: objects, policies, effective settings, ways, findings and placements as tables for databases."""

# ruff: noqa: PTH103, PTH118, PTH119 - strings as seen from here

from __future__ import annotations

import os

import click

from policylint.cli.commands import INCOMPLETE, OK
from policylint.cli.options import EXIT_CODES, FILE, OUTPUT, Command, at, form_option, option
from policylint.cli.run import Run, reading, showing
from policylint.report.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.report.export import Export
    from policylint.session.settings import Setup
    from policylint.workspace import Workspace

TABLES = ("objects", "policies", "settings", "ways", "findings", "placements")


@click.command(
    cls=Command,
    examples="""\
  policylint export --to fleet/shop
  policylint export --to fleet/shop -o parquet --at v1.4.0
  policylint export --to fleet/shop --table policies --table findings clusters/prod
  duckdb -c "FROM 'fleet/*/policies.jsonl' WHERE verdict = 'Overridden'"
""",
    exit_codes=EXIT_CODES,
)
@reading
@at()
@option(OUTPUT, "--to", "directory_to", metavar="DIR", type=FILE, required=True, help="Where the files are written.")
@option(
    OUTPUT,
    "--table",
    "tables",
    multiple=True,
    type=click.Choice(TABLES),
    help="Only this table; repeatable. Ways take longest.",
)
@option(
    OUTPUT,
    "--repository",
    metavar="NAME",
    default="",
    help="What the rows call it. Default: the name of its directory.",
)
@form_option(FORMATS["export"], "JSON lines, or Parquet (pip install 'policylint[parquet]').", "jsonl")
@showing
def export(run: Run, revision: str, directory_to: str, tables: tuple[str, ...], repository: str, form: str) -> int:
    """Write what was computed as tables, a file each, for databases that ask many repositories at once.

    PATH is a directory, a file, or `-` for rendered YAML on stdin. Default: the git root. The tables hold the
    environments in which PATH has a part, as a whole.
    """
    from policylint.cli.extras import missing
    from policylint.cli.output import save
    from policylint.report.export import written

    setup = run.setup()
    workspace = run.open(setup, revision)
    run.lap("read and simulate")
    wanted = tables or TABLES
    about = _export(setup, workspace, revision, repository, with_findings="findings" in wanted)
    run.lap("rules")
    try:
        os.makedirs(directory_to, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"cannot write {directory_to!r}: {(error.strerror or str(error)).lower()}") from None
    for table in wanted:
        try:
            content = written(form, about, table)
        except ModuleNotFoundError as error:
            raise missing("parquet", error) from None
        save(os.path.join(directory_to, f"{table}.{form}"), content)
    run.lap("tables")
    run.end(workspace.coverage)
    return INCOMPLETE if workspace.coverage.cut_off else OK


def _export(setup: Setup, workspace: Workspace, revision: str, repository: str, *, with_findings: bool) -> Export:
    """Return what is exported of a workspace."""
    from functools import lru_cache

    from policylint.outside import git_root
    from policylint.report.export import Export
    from policylint.report.findings import Report
    from policylint.report.findings.fingerprint import fingerprints
    from policylint.session.lint import lint
    from policylint.session.open import paths_below
    from policylint.session.rules import chosen
    from policylint.sources.git import Repository

    root = workspace.root or os.curdir
    relative = lru_cache(maxsize=None)(paths_below(workspace.root))
    findings = lint(setup, workspace, chosen(setup)).known if with_findings else []
    report = Report(findings, workspace.coverage, relative=relative)
    commit = Repository(root).commit(revision or "HEAD") if git_root(root) else None
    return Export(
        workspace.simulations,
        repository or os.path.basename(os.path.realpath(root)),
        commit or "",
        tuple(zip(findings, fingerprints(report, findings), strict=True)),
        relative,
    )
