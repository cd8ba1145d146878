"""`--at REV`: the workspace of a git revision instead of the work tree, for commands that only show something."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from policylint.workspace import Workspace


def opened_at(
    revision: str, paths: Sequence[str], directory: str | None, semantics: str | None, snapshot: str | None
) -> Workspace:
    """The workspace of the paths as a revision has them; of the work tree where `revision` is "".

    The configuration is the work tree's, as in `diff`.

    Raises:
        click.UsageError: no such revision, or a path that it does not have.
    """
    from policylint.cli.opening import enter, entered, opened

    if not revision:
        return opened(paths, directory, semantics, snapshot)
    from policylint.cli import configured
    from policylint.sources.git import Repository, RevisionError
    from policylint.sources.revision import at_revision

    enter(directory)
    settings = configured.settings()
    said = configured.given(settings)
    exclude = () if said is None or said.excluded is None else said.excluded
    asked = [os.path.relpath(each) for each in paths] or [*settings.paths] or (["."] if entered() else None)
    try:
        source = at_revision(Repository("."), revision, asked, exclude)
        for path in asked or ():
            if not source.holds(path):
                raise click.UsageError(f"no such file or directory in {revision}: {path!r}")
        return opened((".",), None, semantics, snapshot, source=source)
    except RevisionError as error:
        raise click.UsageError(str(error)) from None


def sides(text: str) -> tuple[str, str] | None:
    """`A..B` in its two revisions; `A..` ends in the work tree; None for one revision.

    Raises:
        click.UsageError: `A...B`, which begins at a merge base: `diff` knows those.
    """
    if "..." in text:
        raise click.UsageError(f"--at takes REV or A..B, not {text!r}")
    if ".." not in text:
        return None
    one, _, other = text.partition("..")
    return one or "HEAD", other
