"""`policylint cache dir|info|clean`: where what was read is kept, how much it is, and how to be rid of it."""

from __future__ import annotations

import click

from policylint.cli.commands import OK
from policylint.cli.options import OUTPUT, Command, option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def _where(function: Decorated) -> Decorated:
    return option(
        OUTPUT,
        "--cache-dir",
        "said",
        metavar="DIR",
        type=click.Path(path_type=str, file_okay=False),
        help="This directory. Default: $POLICYLINT_CACHE_DIR, else the user's cache directory.",
    )(function)


@click.group(
    epilog="""\b
Examples:
  policylint cache dir
  policylint cache info
  policylint cache clean
""",
)
def cache() -> None:
    """What earlier runs know of file contents, so that no content is parsed twice.

    It holds nothing that cannot be made anew. --no-cache goes without, for one run; POLICYLINT_NO_CACHE=1 for all.
    """


@cache.command(name="dir", cls=Command)
@_where
def directory(said: str | None) -> int:
    """Print the directory."""
    click.echo(_directory(said))
    return OK


@cache.command(cls=Command)
@_where
def info(said: str | None) -> int:
    """Print the directory, and how many trees and bytes it holds."""
    from policylint.sources.pack import MAX_CACHE, packs

    place = _directory(said)
    found = packs(place)
    click.echo(f"{place}: {_amount(len(found), sum(size for _, size, _ in found))} of at most {_size(MAX_CACHE)}")
    return OK


@cache.command(cls=Command)
@_where
def clean(said: str | None) -> int:
    """Delete what is kept, and nothing else in the directory."""
    from policylint.sources.pack import clean as cleaned

    place = _directory(said)
    click.echo(f"{place}: deleted {_amount(*cleaned(place))}")
    return OK


def _directory(said: str | None) -> str:
    from policylint.sources.pack import cache_directory

    place = cache_directory(said)
    if place is None:
        raise click.UsageError("there is no home directory to keep anything in: name a directory with --cache-dir")
    return place


def _amount(number: int, size: int) -> str:
    return f"{number} {'file' if number == 1 else 'files'}, {_size(size)}"


def _size(size: int) -> str:
    return f"{size / 2**20:.1f} MiB" if size >= 2**19 else f"{size / 2**10:.0f} KiB"
