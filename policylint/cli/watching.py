"""`--watch`: do it again whenever a file changes that may matter, until the user interrupts."""

# ruff: noqa: PTH109, PTH118 - strings, as everywhere on the way to the sources

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Mapping
from typing import Any

import click

from policylint.cli.commands import INTERRUPTED, USAGE, say
from policylint.errors import UsageError
from policylint.outside import git_root

_MATTERING = (".yaml", ".yml", ".json", ".toml", ".tpl", ".tmpl")
_QUIET = 200
"""Milliseconds in which changes that follow each other are one."""
_WAKE = 100
"""Milliseconds after which the first run begins, if nothing changes."""


def repeatedly(once: Callable[[], int], values: Mapping[str, Any]) -> int:
    """Run a command now and after each change of the files around what it reads; an interruption ends it.

    Args:
        values: all options of the command, by name.

    Raises:
        UsageError: there are no files to watch.
        click.UsageError: watchfiles is not installed.
    """
    try:
        from watchfiles import Change, watch
    except ModuleNotFoundError as error:
        from policylint.cli.extras import missing

        raise missing("watch", error) from None
    here = os.getcwd()
    base = os.path.join(here, values.get("directory") or "")
    places = [os.path.join(base, path) for path in values["paths"] if os.path.exists(os.path.join(base, path))]  # noqa: PTH110
    if "-" in values["paths"] or values.get("hook"):
        raise UsageError("--watch is for files of the work tree, not for the index or stdin")
    written = {os.path.realpath(os.path.join(base, output.partition("=")[2])) for output in values.get("outputs") or ()}

    def matters(_: Change, path: str) -> bool:
        inside = f"{os.sep}.git{os.sep}" in path
        return path.endswith(_MATTERING) and not inside and os.path.realpath(path) not in written

    code: int | None = None
    top = git_root(base)
    watched = [top] if top is not None else places or [base]
    # It begins to watch before the first run, so that no change is missed.
    for changes in watch(*watched, watch_filter=matters, debounce=_QUIET, rust_timeout=_WAKE, yield_on_timeout=True):
        if changes:
            files = sorted({os.path.relpath(path, here) for _, path in changes})
            say(f"again, since {files[0]} changed" + (f" and {len(files) - 1} more" if len(files) > 1 else ""))
        elif code is not None:
            continue
        os.chdir(here)
        gc.unfreeze()  # what the last run kept to its end
        gc.collect()
        code = _complaining(once)
    return INTERRUPTED if code is None else code


def _complaining(once: Callable[[], int]) -> int:
    """Run, and say what keeps it from running: the next change may put that right."""
    try:
        return once()
    except UsageError as error:
        say(str(error))
    except click.ClickException as error:
        say(error.format_message())
    return USAGE
