"""What the listings of a work tree and of a revision have in common: which files count, and how they are reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from policylint.sources.source import SourceError, SourceFile, SourceProblem

MANIFESTS: Final = (".yaml", ".yml", ".json")
TEMPLATES: Final = (".j2", ".jinja", ".jinja2", ".tpl", ".tftpl", ".tmpl", ".gotmpl", ".erb", ".template")
OUTSIDE: Final = "symbolic link out of the tree"

Exclude = Sequence[str] | Callable[[str], bool]
"""Globs over paths as shown, names of directories, or a function that says whether to leave a file out."""


class ListedSource:
    """The files of a source, listed once, on first use, with what could not be listed and what was left out.

    A subclass lists them in `_list`, adds to `_problems` and `_skipped` while it does, and gives the bytes as `Holder`.
    """

    def __init__(self, exclude: Exclude) -> None:
        self._is_excluded: Callable[[str], bool] | None = exclusion(exclude)
        self._files: dict[str, SourceFile] | None = None
        self._problems: list[SourceProblem] = []
        self._skipped: dict[str, list[str]] = {}

    def _list(self) -> Iterator[SourceFile]:
        raise NotImplementedError

    @property
    def problems(self) -> list[SourceProblem]:
        self.files()
        return self._problems

    @property
    def skipped(self) -> dict[str, list[str]]:
        self.files()
        return self._skipped

    def files(self) -> list[SourceFile]:
        return list(self._listed().values())

    def _listed(self) -> dict[str, SourceFile]:
        """Return the files by their paths as shown, sorted."""
        if self._files is None:
            found = {file.path: file for file in self._list()}
            self._files = {path: found[path] for path in sorted(found)}
            self._problems = sorted(dict.fromkeys(self._problems), key=lambda problem: (problem.file, problem.code))
            self._skipped = {reason: sorted(set(paths)) for reason, paths in sorted(self._skipped.items())}
        return self._files

    def _problem(self, error: SourceError) -> None:
        self._problems.append(SourceProblem(error.code, error.message, error.file))

    def _skip(self, reason: str, shown: str) -> None:
        self._skipped.setdefault(reason, []).append(shown)


def exclusion(exclude: Exclude) -> Callable[[str], bool] | None:
    """Return what says whether to leave a file out by its path as shown; None where nothing is left out.

    Patterns are globs; one that matches a directory, wherever it is, leaves out all in it.
    """
    if callable(exclude):
        return exclude
    if not exclude:
        return None
    patterns = []
    for pattern in exclude:
        inside = f"{pattern.rstrip('/')}/*"
        patterns += [pattern, f"*/{pattern}", inside, f"*/{inside}"]

    def is_excluded(shown: str) -> bool:
        from fnmatch import fnmatchcase

        return any(fnmatchcase(shown, pattern) for pattern in patterns)

    return is_excluded


def is_manifest(data: bytes) -> bool:
    """Whether a JSON file looks like a Kubernetes object."""
    return b'"apiVersion"' in data and b'"kind"' in data


def printable(path: str) -> str:
    """Return a path with posix separators and without bytes that a terminal or a JSON report could not show."""
    if path.isascii():
        return path.replace(os.sep, "/")
    return os.fsencode(path.replace(os.sep, "/")).decode("utf-8", "replace")
