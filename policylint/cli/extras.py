"""Commands that need an extra: what to install where it is not."""

from __future__ import annotations

import click


def missing(extra: str, error: ModuleNotFoundError) -> Exception:
    """Return what to raise where a module is not there: how to get it, or the error itself where it is one of ours."""
    if (error.name or "").partition(".")[0] in ("", "policylint"):
        return error
    return click.UsageError(f"{error.name} is not installed; this needs an extra: pip install 'policylint[{extra}]'")
