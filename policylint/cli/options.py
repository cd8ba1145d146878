"""Options that several commands share, each stated once; help that shows options in groups; values gathered in one."""

from __future__ import annotations

from functools import wraps

import click

from policylint.cli.completing import environments, paths, rule_names
from policylint.errors import FileError, UsageError
from policylint.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    Decorated = TypeVar("Decorated", bound=Callable[..., Any])

INPUT, RULES, OUTPUT = "What is read", "What is reported", "How it is shown"
SEVERITIES = ("error", "warning", "note")


class Option(click.Option):
    """An option that belongs to a group of the help page."""

    def __init__(self, *declarations: Any, group: str = OUTPUT, **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self.group = group


class Command(click.Command):
    """A command whose help shows its options under the headings of their groups, and that fails as click's do."""

    def __init__(self, name: str | None, *, callback: Callable[..., Any], **settings: Any) -> None:
        super().__init__(name, callback=_failing_as_clicks(callback), **settings)

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
    """The callback, whose complaints to users become those that click shows: with exit code 2, and with where help is
    unless that would not help."""

    @wraps(callback)
    def called(*arguments: Any, **values: Any) -> Any:
        try:
            return callback(*arguments, **values)
        except FileError as error:
            raise click.ClickException(str(error)) from None
        except UsageError as error:
            raise click.UsageError(str(error)) from None

    return called


def gathered(kind: Callable[..., Any], fields: Sequence[str]) -> Callable[[Decorated], Decorated]:
    """Hand the values of some options on as one, before those that stay as they are."""

    def decorate(function: Decorated) -> Decorated:
        @wraps(function)
        def called(*arguments: Any, **values: Any) -> Any:
            return function(*arguments, kind(**{field: values.pop(field) for field in fields}), **values)

        return called  # type: ignore[return-value]

    return decorate


def option(group: str, *declarations: str, **settings: Any) -> Callable[[Decorated], Decorated]:
    """`click.option` with a group."""
    return click.option(*declarations, cls=Option, group=group, **settings)


def together(*decorators: Callable[[Decorated], Decorated]) -> Callable[[Decorated], Decorated]:
    """Several options as one decorator, in the order of the help page."""

    def decorate(function: Decorated) -> Decorated:
        for each in reversed(decorators):
            function = each(function)
        return function

    return decorate


# What is read.

in_directory = option(
    INPUT,
    "-C",
    "directory",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Run as if started in DIR, as git does.",
)
which_file = together(
    option(
        INPUT,
        "--config",
        metavar="FILE",
        type=click.Path(path_type=str),
        help="The configuration. Default: .policylint.yaml or pyproject.toml, from here up to the git root.",
    ),
    option(INPUT, "--no-config", is_flag=True, help="Heed no configuration file."),
)
what_is_read = together(
    click.argument(
        "paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=str, allow_dash=True), shell_complete=paths
    ),
    in_directory,
    which_file,
    option(
        INPUT,
        "--env",
        multiple=True,
        metavar="NAME",
        shell_complete=environments,
        help="Only this environment; repeatable.",
    ),
    option(
        INPUT,
        "--render",
        type=click.Choice(("builtin", "external", "helm", "off", "auto", "kubectl")),
        envvar="POLICYLINT_RENDER",
        help="How to find out what is deployed: builtin (the default) starts no program, external starts "
        "kubectl or kustomize for what that does not cover, helm starts helm, too, for charts in the tree; off "
        "takes files as they are. auto is builtin, kubectl is external. Default: $POLICYLINT_RENDER.",
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
        type=click.Path(path_type=str),
        help="A `kubectl get -o yaml` dump: creation times, and objects that are not in the files.",
    ),
    # Without effect since nothing is kept between runs; scripts still say them.
    option(INPUT, "--cache-dir", metavar="DIR", hidden=True, expose_value=False),
    option(INPUT, "--no-cache", is_flag=True, hidden=True, expose_value=False),
)
strict = option(
    INPUT, "--strict", is_flag=True, help="Read every document; exit 3 for files that cannot be read, or none."
)


def at(meaning: str = "As of this git revision, not the work tree.") -> Callable[[Decorated], Decorated]:
    """--at."""
    return option(INPUT, "--at", "revision", metavar="REV", default="", help=meaning)


# What is reported.

select = option(
    RULES,
    "--select",
    multiple=True,
    metavar="RULE,...",
    shell_complete=rule_names,
    help="Only these rules: ids, names, families (GWP1).",
)
ignore = option(
    RULES, "--ignore", multiple=True, metavar="RULE,...", shell_complete=rule_names, help="All but these rules."
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


def exit_zero(new: str = "") -> Callable[[Decorated], Decorated]:
    """--exit-zero."""
    return option(RULES, "--exit-zero", is_flag=True, help=f"Exit 0 even with {new}findings.")


class Reporting(NamedTuple):
    """What lint and diff are told alike: which findings count, and in which formats."""

    strict: bool
    hook: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    min_severity: str | None
    show_unknown: bool
    fail_on: str | None
    exit_zero: bool
    form: str
    outputs: tuple[str, ...]

    @property
    def rules(self) -> dict[str, list[str]]:
        """The rules that run and that do not, one by one."""
        return {"select": _split(self.select), "ignore": _split(self.ignore)}


reporting = gathered(Reporting, Reporting._fields)


def _split(values: Sequence[str]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


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
    known: Sequence[str], meaning: str = "Format on stdout.", default: str = "text"
) -> Callable[[Decorated], Decorated]:
    """-o, --format."""
    return option(
        OUTPUT,
        "-o",
        "--format",
        "form",
        type=click.Choice(known),
        default=default,
        show_default=True,
        help=meaning,
    )


def output_files(written: Sequence[str], known: Sequence[str]) -> list[tuple[str, str]]:
    """`sarif=out.sarif` in its two parts, for each --output.

    Raises:
        click.BadParameter: it has no such parts, or the format is none of those known.
    """
    found = []
    for text in written:
        name, equals, file = text.partition("=")
        if not equals or not file or name not in known:
            raise click.BadParameter(
                f"{text!r} is not FORMAT=FILE with one of {', '.join(known)}", param_hint="--output"
            )
        found.append((name, file))
    return found
