"""Options that several commands share, and help that shows options in groups."""

from __future__ import annotations

import click

from policylint.cli.completing import environments, paths
from policylint.cli.configured import CACHE, ENVIRONMENTS, FILE, JOBS, NO_CACHE, NONE, RENDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Decorated = TypeVar("Decorated", bound=Callable[..., Any])

INPUT, RULES, OUTPUT = "What is read", "What is reported", "How it is shown"
_PATHS = click.Path(path_type=str, allow_dash=True)


class Option(click.Option):
    """An option that belongs to a group of the help page."""

    def __init__(self, *declarations: Any, group: str = OUTPUT, **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self.group = group


class Command(click.Command):
    """A command whose help shows its options under the headings of their groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(parameter, "group", OUTPUT), []).append(record)
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records)


def option(group: str, *declarations: str, **settings: Any) -> Callable[[Decorated], Decorated]:
    """`click.option` with a group."""
    return click.option(*declarations, cls=Option, group=group, **settings)


def kept(group: str, declaration: str, place: str, **settings: Any) -> Callable[[Decorated], Decorated]:
    """An option that the context keeps for `opened`, so that commands need not hand it on."""

    def keep(context: click.Context, _: click.Parameter, value: Any) -> None:
        context.meta[place] = value

    return option(group, declaration, expose_value=False, callback=keep, **settings)


def which_file(function: Decorated) -> Decorated:
    """--config and --no-config."""
    for decorate in reversed(
        (
            kept(
                INPUT,
                "--config",
                FILE,
                metavar="FILE",
                type=click.Path(path_type=str),
                help="The configuration. Default: .policylint.yaml or pyproject.toml, from here up to the git root.",
            ),
            kept(INPUT, "--no-config", NONE, is_flag=True, help="Heed no configuration file."),
        )
    ):
        function = decorate(function)
    return function


def reading(function: Decorated) -> Decorated:
    """PATH… and the options of every command that reads manifests."""
    for decorate in reversed(
        (
            click.argument("paths", nargs=-1, metavar="[PATH]...", type=_PATHS, shell_complete=paths),
            option(
                INPUT,
                "-C",
                "directory",
                metavar="DIR",
                type=click.Path(exists=True, file_okay=False),
                help="Run as if started in DIR, as git does.",
            ),
            which_file,
            kept(
                INPUT,
                "--env",
                ENVIRONMENTS,
                multiple=True,
                metavar="NAME",
                shell_complete=environments,
                help="Only this environment; repeatable.",
            ),
            kept(
                INPUT,
                "--render",
                RENDER,
                type=click.Choice(("auto", "builtin", "kubectl", "helm", "off")),
                help="How to find out what is deployed: built in, with kubectl or kustomize for what that does not "
                "cover (auto, the default), with helm, too, for charts in the tree, or not at all.",
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
            kept(
                INPUT,
                "--cache-dir",
                CACHE,
                metavar="DIR",
                type=click.Path(path_type=str, file_okay=False),
                help="Where to keep what was read. Default: $POLICYLINT_CACHE_DIR, else the user's cache directory.",
            ),
            kept(INPUT, "--no-cache", NO_CACHE, is_flag=True, help="Neither read nor write what earlier runs know."),
            kept(
                INPUT,
                "--jobs",
                JOBS,
                metavar="N",
                type=click.IntRange(min=1, max=64),
                help="Processes that read and parse. Default: one a core, at most 4, where there is much to read.",
            ),
        )
    ):
        function = decorate(function)
    return function


def showing(function: Decorated) -> Decorated:
    """Options on looks that lint and simulate share."""
    for decorate in reversed(
        (
            option(
                OUTPUT,
                "--color",
                type=click.Choice(("auto", "always", "never")),
                default="auto",
                show_default=True,
                help="auto: on a terminal; NO_COLOR and FORCE_COLOR are heeded.",
            ),
            option(OUTPUT, "--verbose", "-v", is_flag=True, help="Say on stderr what was read and what was skipped."),
            option(OUTPUT, "--timing", is_flag=True, help="Say on stderr how long each part took."),
        )
    ):
        function = decorate(function)
    return function
