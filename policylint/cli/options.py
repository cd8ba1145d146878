"""Options that several commands share, each stated once, and help that shows options in groups."""

from __future__ import annotations

from functools import wraps

import click

from policylint.errors import FileError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    Decorated = TypeVar("Decorated", bound=Callable[..., Any])

INPUT, RULES, OUTPUT = "What is read", "What is reported", "How it is shown"
SEVERITIES = ("error", "warning", "note")
EXIT_CODES = "0, 2 wrong usage, 3 incomplete."
"""Of commands that read manifests and judge nothing."""
FILE = click.Path(path_type=str)


def completing(what: str) -> Callable[..., Any]:
    """Return what offers words to a shell, by its name in `cli/completing.py`, which only a shell that asks imports."""

    def offers(context: click.Context, parameter: click.Parameter, incomplete: str) -> Any:
        from policylint.cli import completing

        return getattr(completing, what)(context, parameter, incomplete)

    return offers


class Option(click.Option):
    """An option that belongs to a group of the help page."""

    def __init__(self, *declarations: Any, group: str = OUTPUT, **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self.group = group


class Command(click.Command):
    """A command whose help shows its options under the headings of their groups, and that fails as click's do.

    Args:
        examples: how to call it, a line each.
        exit_codes: all of them, with their meanings; "" for those of any command.
    """

    def __init__(
        self, name: str | None, *, callback: Callable[..., Any], examples: str, exit_codes: str = "", **settings: Any
    ) -> None:
        epilog = f"\b\nExamples:\n{examples}"
        if exit_codes:
            epilog += f"\n\b\nExit codes: {exit_codes}\n"
        super().__init__(name, callback=_failing_as_clicks(callback), epilog=epilog, **settings)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(parameter, "group", OUTPUT), []).append(record)
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records)


def _failing_as_clicks(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Return the callback with its complaints to users as those of click: with exit code 2, and with where help is
    unless that would not help."""

    @wraps(callback)
    def call(*arguments: Any, **values: Any) -> Any:
        try:
            return callback(*arguments, **values)
        except FileError as error:
            raise click.ClickException(str(error)) from None
        except UsageError as error:
            raise click.UsageError(str(error)) from None

    return call


def option(group: str, *declarations: str, **settings: Any) -> Callable[[Decorated], Decorated]:
    """Declare an option with the group of the help page that shows it."""
    return click.option(*declarations, cls=Option, group=group, **settings)


def together(*decorators: Callable[[Decorated], Decorated]) -> Callable[[Decorated], Decorated]:
    """Join several options in one decorator, in the order of the help page."""

    def decorate(function: Decorated) -> Decorated:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


# What is read.

_DIRECTORY = click.Path(exists=True, file_okay=False)
in_directory = option(
    INPUT, "-C", "directory", metavar="DIR", type=_DIRECTORY, help="Run as if started in DIR, as git does."
)
which_file = together(
    option(
        INPUT,
        "--config",
        metavar="FILE",
        type=FILE,
        help="The configuration, also as REV:FILE. Default: .policylint.yaml or pyproject.toml, up to the git root.",
    ),
    option(INPUT, "--no-config", is_flag=True, help="Ignore configuration files."),
)
what_is_read = together(
    click.argument(
        "paths",
        nargs=-1,
        metavar="[PATH]...",
        type=click.Path(path_type=str, allow_dash=True),
        shell_complete=completing("paths"),
    ),
    in_directory,
    option(
        INPUT,
        "--isolated",
        is_flag=True,
        help="Read nothing but PATH and what it refers to, not the repository around it.",
    ),
    which_file,
    option(
        INPUT,
        "--env",
        multiple=True,
        metavar="NAME",
        shell_complete=completing("environments"),
        help="Only this environment; repeatable.",
    ),
    option(
        INPUT,
        "--render",
        type=click.Choice(("builtin", "external", "helm", "off")),
        envvar="POLICYLINT_RENDER",
        help="How to find out what is deployed: builtin (the default) starts no program, external starts "
        "kubectl or kustomize for what that does not cover, helm starts helm, too, for charts in the tree; off "
        "takes files as they are. Default: $POLICYLINT_RENDER.",
    ),
    option(
        INPUT,
        "--rendered",
        multiple=True,
        metavar="DIR",
        type=FILE,
        help="Charts that were rendered before: DIR/NAMESPACE/RELEASE.yaml. Twice, for the sides of a diff.",
    ),
    option(
        INPUT,
        "--semantics",
        type=click.Choice(("gep-713", "gep-713-2023")),
        help="Edition of the pattern for kinds that do not say which one they follow. Default: gep-713.",
    ),
    option(
        INPUT,
        "--snapshot",
        metavar="FILE",
        type=FILE,
        help="A `kubectl get -o yaml` dump: creation times, and objects that are not in the files.",
    ),
    option(
        INPUT,
        "--live",
        is_flag=True,
        help="Ask the cluster of your kubectl: without PATH it alone is read, with PATH it is the snapshot.",
    ),
    option(INPUT, "--context", metavar="NAME", default="", help="The context of --live. Default: the current one."),
)
strict = option(
    INPUT, "--strict", is_flag=True, help="Read every document; exit 3 for files that cannot be read, or none."
)


def at(meaning: str = "As of this git revision, not the work tree.") -> Callable[[Decorated], Decorated]:
    """--at."""
    return option(INPUT, "--at", "revision", metavar="REV", default="", help=meaning)


watch = option(INPUT, "--watch", is_flag=True, help="Do it again whenever a file changes, until interrupted.")


# What is reported.

select = option(
    RULES,
    "--select",
    multiple=True,
    metavar="RULE,...",
    shell_complete=completing("rule_names"),
    help="Only these rules: ids, names, families (GWP1).",
)
ignore = option(
    RULES,
    "--ignore",
    multiple=True,
    metavar="RULE,...",
    shell_complete=completing("rule_names"),
    help="All but these rules.",
)
show_unknown = option(
    RULES, "--show-unknown", is_flag=True, help="Also list what rests on something that was not seen."
)


def min_severity(more: str = "") -> Callable[[Decorated], Decorated]:
    """--min-severity; `more` is what its help says of the default."""
    meaning = f"List findings from this severity on.{more}"
    return option(RULES, "--min-severity", type=click.Choice(SEVERITIES), help=meaning)


def fail_on(of: str = "") -> Callable[[Decorated], Decorated]:
    """--fail-on; `of` says which findings count."""
    meaning = f"Lowest severity{of} for which the exit code is 1. Default: error."
    return option(RULES, "--fail-on", type=click.Choice((*SEVERITIES, "never")), help=meaning)


# How it is shown.

outputs = option(
    OUTPUT, "--output", "outputs", multiple=True, metavar="FORMAT=FILE", help="Also write FORMAT to FILE; repeatable."
)
color = option(
    OUTPUT,
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="auto: on a terminal; NO_COLOR and FORCE_COLOR are heeded.",
)
showing = together(
    color,
    option(OUTPUT, "--verbose", "-v", is_flag=True, help="Say on stderr what was read and what was skipped."),
    option(OUTPUT, "--timing", is_flag=True, help="Say on stderr how long each part took."),
)


def form_option(
    known: Sequence[str], meaning: str = "Format on stdout.", default: str | None = "text"
) -> Callable[[Decorated], Decorated]:
    """-o, --format."""
    return option(
        OUTPUT, "-o", "--format", "form", type=click.Choice(known), default=default, show_default=True, help=meaning
    )
