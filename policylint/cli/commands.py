"""The group of commands: which module holds which, and how a run ends (docs/design/interfaces.md §1)."""

# pathlib takes milliseconds to import, which `--version` has not.
# ruff: noqa: PTH110, PTH119

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import suppress
from importlib import import_module

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

COMMANDS = {
    "lint": "Findings for what is deployed below the paths.",
    "explain": "Which policies act on an object, setting by setting; where a policy reaches.",
    "trace": "What a request meets: listener, route, rule, policies, filters, backend.",
    "reach": "Every way in, for all requests at once, and what each is asked for.",
    "graph": "Topology, policies and their effects as mermaid, dot, svg or one html page.",
    "diff": "What a change does to effective policy, between two revisions.",
    "comment": "What a change does, as the one comment of its pull request.",
    "upgrade": "What another release makes of the same manifests.",
    "list": "Tables of policies, routes, Gateways, listeners and backends.",
    "simulate": "The whole computed state: policies, routes, effective policies.",
    "export": "The same as tables for databases, to ask many repositories at once.",
    "rule": "What a rule means and how to fix it.",
    "kinds": "The policy kinds that policylint knows.",
    "init": "Write a configuration that fits this repository.",
    "config": "The configuration in force, with origins.",
    "baseline": "Accept the findings of today.",
    "lsp": "The language server, for editors.",
    "mcp": "The same answers for AI assistants (Model Context Protocol).",
    "completion": "The completion script for bash, zsh or fish.",
    "man": "The manual pages.",
}
"""Name → line in the list of commands. `lint` is `policylint.cli.lint:lint`, and so on."""

_GROUPS = {
    "Check": ("lint", "diff", "comment", "upgrade", "baseline"),
    "Ask": ("explain", "trace", "reach", "graph", "list", "simulate", "export", "rule", "kinds"),
    "Manage": ("init", "config"),
    "Integrate": ("lsp", "mcp", "completion", "man"),
}
"""What a reader of the help comes for → the commands for it."""

OK, FOUND, USAGE, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130


class Commands(click.Group):
    """Imports a command's module only to run it or to show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"policylint.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing them."""
        widest = max(map(len, COMMANDS))
        for heading, names in _GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{widest}}", COMMANDS[name]) for name in names])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(unknown_command(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and leave with 0, 1, 2 or 3; no traceback ever reaches a user unless POLICYLINT_DEBUG=1 asks for it."""
        if not standalone_mode or any(name.endswith("_COMPLETE") for name in os.environ):
            settings = {**extra, "windows_expand_args": windows_expand_args}
            return super().main(args, prog_name, complete_var, standalone_mode, **settings)
        gc.disable()  # until the input is read (`Run.open`): nothing that start-up makes is garbage
        try:
            with suppress(MemoryError):
                sys.exit(self._run(args, prog_name or "policylint", extra))
            say("there is not enough memory to do this")  # now there is, for a line: the frames are gone
            sys.exit(INCOMPLETE)
        finally:
            gc.enable()

    def _run(self, args: Sequence[str] | None, prog_name: str, extra: dict[str, Any]) -> int:
        try:
            try:
                with self.make_context(prog_name, list(sys.argv[1:] if args is None else args), **extra) as context:
                    code = self.invoke(context)
                _flush()
                return code if isinstance(code, int) else OK
            except click.exceptions.Exit as ending:
                _flush()
                return ending.exit_code
            except click.ClickException as error:
                return _complain(error)
        except (KeyboardInterrupt, click.Abort):
            return INTERRUPTED
        except BrokenPipeError:
            _abandon_stdout()
            return INTERRUPTED
        except OSError as error:
            if os.environ.get("POLICYLINT_DEBUG") == "1":
                raise
            _abandon_stdout()
            say(": ".join(str(part) for part in (error.strerror or error, error.filename) if part))
            return INCOMPLETE
        except MemoryError:
            raise
        except Exception as error:
            from policylint.errors import AbsentError

            if isinstance(error, AbsentError):
                say(str(error))
                return INCOMPLETE
            if os.environ.get("POLICYLINT_DEBUG") == "1":
                raise
            _internal(error)
            return INCOMPLETE


def _flush() -> None:
    """Flush now, so that what cannot be written is noticed while it can be reported.

    stdout is None where it was closed before the start, and closed where the language server was told to end.
    """
    if sys.stdout and not sys.stdout.closed:
        sys.stdout.flush()


def _abandon_stdout() -> None:
    """Send the rest to nobody: stdout is closed or full, and Python would complain again when it closes it."""
    if sys.stdout:
        with suppress(io.UnsupportedOperation):  # text that a program keeps
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(message: str) -> None:
    """Write one line to stderr; what comes from file names and manifests cannot disturb the terminal."""
    from policylint.report.kit.display import inert, one_line

    click.echo(f"policylint: {inert(one_line(message))}", err=True)


def unknown_command(name: str) -> str:
    """Return the complaint; where a path was given without a command, with what to type."""
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, 1)
    if close:
        return f"no such command: {name!r} (did you mean {close[0]!r}?)"
    if os.path.exists(name):
        return f"no such command: {name!r} (to lint that path: policylint lint {name})"
    return f"no such command: {name!r}"


def unknown_option(name: str, known: Sequence[str]) -> str:
    """Return the complaint, with the nearest of the options that the command has."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1)
    return f"no such option: {name!r}" + (f" (did you mean {close[0]!r}?)" if close else "")


def _complain(error: click.ClickException) -> int:
    """Say what was wrong, then where help is; return the exit code. click's sentences begin with a capital letter."""
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        message = unknown_option(error.option_name, error.possibilities or ())
    say(message[:1].lower() + message[1:] if message[1:2].islower() else message)
    context = getattr(error, "ctx", None)
    if context is not None:
        click.echo(f"Try '{context.command_path} --help'.", err=True)
    return USAGE


def _internal(error: Exception) -> None:
    """Say in one line that can be reported what happened and where, without the traceback."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    place = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "?"
    complain_internally(f"internal error: {type(error).__name__}: {error} ({place})")


def complain_internally(message: str, trace: str = "") -> None:
    """Say in one line what to report where; the traceback of an error that did not end the run, if it is wanted."""
    from policylint.model.home import home

    where = f" at {address}/issues" if (address := home()) else ""
    say(f"{message}. Please report it{where}; POLICYLINT_DEBUG=1 shows the traceback.")
    if trace and os.environ.get("POLICYLINT_DEBUG") == "1":
        click.echo(trace, err=True, nl=False)
