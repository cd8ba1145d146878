"""Sources of manifests: the work tree (`open_source`), a git revision, the index, a text in memory."""

from __future__ import annotations

from collections.abc import Sequence

from policylint.sources.selection import Exclude
from policylint.sources.source import MAX_BYTES, Source, SourceError, SourceFile, SourceProblem
from policylint.sources.worktree import WorkTree

__all__ = ["MAX_BYTES", "Source", "SourceError", "SourceFile", "SourceProblem", "open_source"]


def open_source(paths: Sequence[str], *, exclude: Exclude = ()) -> Source:
    """Return the work tree below `paths`: directories, files that are read whatever their name, `-` for stdin.

    Args:
        paths: none means the current directory.
        exclude: globs over paths as shown, names of directories, or a function that says whether to leave a file out.
    """
    return WorkTree(paths, exclude)
