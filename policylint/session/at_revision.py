"""`--at REV`: the workspace of a git revision instead of the work tree, for questions that only show something."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from policylint.errors import UsageError
from policylint.session.open import open_tree

if TYPE_CHECKING:
    from policylint.session.settings import Setup
    from policylint.workspace import Workspace


def open_at(setup: Setup, revision: str) -> Workspace:
    """Return the workspace of the paths as a revision has them; of the work tree where `revision` is "".

    The configuration is that of the setup, whatever the revision holds.

    Raises:
        UsageError: no such revision, or a path that it does not have.
    """
    if not revision:
        return open_tree(setup)
    from policylint.sources.git import Repository
    from policylint.sources.revision import at_revision

    options = setup.options
    paths = [os.path.relpath(path) for path in options.paths] or [*setup.settings.paths]
    asked = paths or (None if options.whole else [options.start])
    source = at_revision(Repository(options.start), revision, asked, setup.exclude)
    for path in asked or ():
        if not source.holds(path):
            raise UsageError(f"no such file or directory in {revision}: {path!r}")
    return open_tree(setup, source=source)


def ends(text: str) -> tuple[str, str] | None:
    """Return `A..B` in its two revisions; `A..` ends in the work tree; None for one revision.

    Raises:
        UsageError: `A...B`, which begins at a merge base: `diff` knows those.
    """
    if "..." in text:
        raise UsageError(f"--at takes REV or A..B, not {text!r}")
    if ".." not in text:
        return None
    before, _, after = text.partition("..")
    return before or "HEAD", after
