"""The command line: a table of contents. Each command is one module here, imported when it is called.

Starting up is a feature (docs/design/performance.md §1): nothing but click is imported before a command is known.
"""

from __future__ import annotations

import gc
import os
import sys

_COLLECTS = gc.isenabled()
gc.disable()  # nothing that is imported is garbage; looking for it would take a tenth of importing click

from policylint.lean import give_room, import_click, is_alone, read_own_code  # noqa: E402 - not before

import_click()

import click  # noqa: E402

from policylint.cli.commands import COMMANDS, Commands  # noqa: E402

if _COLLECTS:
    gc.enable()


@click.group(
    "policylint",
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  policylint                                what is deployed here, linted
  policylint lint clusters/prod             one environment
  kustomize build . | policylint lint -     rendered manifests
  policylint rule GWP201                    what a rule means and how to fix it

\b
Shell completion (where it goes: policylint completion --help):
  policylint completion bash|zsh|fish
""",
)
@click.option("--version", is_flag=True, help="Print the version, and those of the rule sets.")
@click.option("-C", "directory", metavar="DIR", help="Run as if started in DIR, as git does.")
@click.pass_context
def main(context: click.Context, version: bool, directory: str | None) -> int:
    """Lint and simulate Kubernetes Gateway API policy attachment (GEP-713), offline.

    Without a command: `lint .` from the git root.
    """
    if version:
        from policylint.cli.version import versions

        click.echo(versions())
        context.exit()
    if directory is not None:
        context.default_map = {command: {"directory": directory} for command in COMMANDS}  # as if it stood behind it
    if context.invoked_subcommand is None:
        from policylint.cli.lint import lint

        return int(context.invoke(lint))
    return 0


def program(name: str = "policylint") -> None:
    """Run as a program, whose process ends with the command: what it made is not taken apart first.

    That would take a sixteenth of a lint of one file. It is left to Python where another thread is at work, and where
    somebody measures, who writes at the end what was found.
    """
    read_own_code()
    gc.set_threshold(10_000)  # what is there when rules are asked stays (cli/run.py), and they make few cycles
    try:
        main(prog_name=name)
    except SystemExit as ending:
        if isinstance(ending.code, int) and is_alone() and sys.getprofile() is None and sys.gettrace() is None:
            if sys.stderr:
                sys.stderr.flush()
            os._exit(ending.code)
        raise


give_room(program)


def kubectl_plugin() -> None:
    """Run as `kubectl policylint`, which is how kubectl calls a program of the name `kubectl-policylint`."""
    program("kubectl policylint")


__all__ = ["kubectl_plugin", "main", "program"]
