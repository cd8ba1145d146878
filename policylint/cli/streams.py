"""Where output goes: results to stdout or files, everything else to stderr; always UTF-8, whatever the locale."""

from __future__ import annotations

import os
import sys

import click

from policylint.cli.commands import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

WIDEST = 100
NARROWEST = 60


def put(text: str) -> None:
    """A result to stdout."""
    click.echo(text.encode("utf-8", "replace"), nl=False)


def save(file: str, text: str) -> None:
    """A result to a file.

    Raises:
        click.UsageError: it cannot be written.
    """
    from pathlib import Path

    try:
        Path(file).write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise click.UsageError(f"cannot write {file!r}: {(error.strerror or str(error)).lower()}") from None


def wants_color(choice: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether stdout is to have colours: as asked for, else FORCE_COLOR, NO_COLOR, else on a terminal that has them."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return _on_terminal() and environment.get("TERM") != "dumb"


def wants_links(choice: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether links are wanted (OSC 8): where FORCE_HYPERLINK says so, else on a terminal that gets colours."""
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    return _on_terminal() and wants_color(choice, environment)


def page_width() -> int:
    """Columns for text: 100, on a terminal no more than it has."""
    if not _on_terminal():
        return WIDEST
    from shutil import get_terminal_size

    return max(NARROWEST, min(WIDEST, get_terminal_size((WIDEST, 24)).columns))


def _on_terminal() -> bool:
    """stdout is None where the caller closed it."""
    return bool(sys.stdout) and sys.stdout.isatty()


__all__ = ["page_width", "put", "save", "say", "wants_color", "wants_links"]
