"""`policylint init`: look at the repository and write a commented configuration that fits it."""

# ruff: noqa: PTH118 - paths as seen from here

from __future__ import annotations

import os

import click

from policylint.cli.options import OUTPUT, Command, in_directory, option

FILE = ".policylint.yaml"


@click.command(
    cls=Command,
    examples="""\
  policylint init                 write .policylint.yaml at the git root
  policylint init --stdout        print it instead
  policylint init --force         write it anew
""",
)
@in_directory
@option(OUTPUT, "--stdout", "printed", is_flag=True, help="Print the configuration, write no file.")
@option(OUTPUT, "--force", is_flag=True, help="Replace a configuration that is there.")
def init(directory: str | None, printed: bool, force: bool) -> int:
    """Write .policylint.yaml at the git root, with what was found in the repository as comments."""
    from policylint import __version__
    from policylint.cli.output import put, save
    from policylint.config import Settings
    from policylint.config.discovery import discover
    from policylint.config.init_template import configuration
    from policylint.model.home import home
    from policylint.session.settings import RunOptions, Setup
    from policylint.session.survey import survey
    from policylint.workspace import open_workspace

    if directory:
        os.chdir(directory)
    top = Setup(RunOptions(), Settings()).top
    place = os.path.normpath(os.path.join(top, FILE))
    present = discover(top)
    if present and not force and not printed:
        raise click.UsageError(f"a configuration already exists: {present} (--force replaces it)")
    text = configuration(survey(open_workspace([top])), __version__, home())
    if printed:
        put(text)
        return 0
    save(place, text)
    put(f"{place} written; next: policylint lint\n")
    return 0
