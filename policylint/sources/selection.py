"""The rules by which a work tree and a revision list their files: which count, and how the others are reported."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from policylint.errors import UsageError
from policylint.patterns import Pattern
from policylint.sources.source import SourceError, SourceFile, SourceProblem, lines_of

MANIFESTS: Final = (".yaml", ".yml", ".json")
_KUSTOMIZATION: Final = "Kustomization"
"""The one name without a suffix that makes a file a manifest."""
TEMPLATES: Final = (
    ".jsonnet",
    ".libsonnet",
    ".cue",
    ".tf",
    ".j2",
    ".jinja",
    ".jinja2",
    ".tpl",
    ".tftpl",
    ".tmpl",
    ".gotmpl",
    ".erb",
    ".ftl",
    ".mako",
    ".template",
)
NEVER_ENTERED: Final = frozenset(
    {".git", ".hg", ".svn", ".terraform", ".terragrunt-cache", "node_modules", ".venv", ".tox", "__pycache__", ".cache"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"}
)
"""Directories of version control, of caches and of packages from elsewhere: nothing in them is the tree's own."""
OUTSIDE: Final = "symbolic link out of the tree"

Exclude = Sequence[str] | Callable[[str], bool]
"""Globs over paths as shown, names of directories, or a function that says whether to leave a file out."""


class ListedSource:
    """The files of a source, listed once, on first use, with what could not be listed and what was left out.

    A subclass sets `_root`, lists the files in `_list`, where it adds to `_problems` and `_skipped`, and gives their
    bytes as a `FileReader`.
    """

    def __init__(self, exclude: Exclude) -> None:
        self._is_excluded: Callable[[str], bool] | None = exclusion(exclude)
        self._root: str | None = None
        self._files: dict[str, SourceFile] | None = None
        self._problems: list[SourceProblem] = []
        self._skipped: dict[str, list[str]] = {}

    def _list(self) -> Iterator[SourceFile]:
        raise NotImplementedError

    @property
    def root(self) -> str | None:
        return self._root

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

    def file(self, path: str) -> SourceFile:
        raise NotImplementedError

    def text(self, path: str) -> list[str]:
        try:
            return lines_of(self.file(path).read())
        except (SourceError, UsageError):  # the repository may be gone, too
            return []

    def _listed(self) -> dict[str, SourceFile]:
        """Return the files by their paths as shown, sorted."""
        if self._files is None:
            files = {file.path: file for file in self._list()}
            self._files = {path: files[path] for path in sorted(files)}
            self._problems = sorted(dict.fromkeys(self._problems), key=lambda problem: (problem.file, problem.code))
            self._skipped = {reason: sorted(set(paths)) for reason, paths in sorted(self._skipped.items())}
        return self._files

    def _problem(self, error: SourceError) -> None:
        self._problems.append(SourceProblem(error.code, error.message, error.file))

    def _skip(self, reason: str, shown: str) -> None:
        self._skipped.setdefault(reason, []).append(shown)


def exclusion(exclude: Exclude) -> Callable[[str], bool] | None:
    """Return a function that says whether to leave a file out by its path as shown; None where nothing is left out.

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


def is_manifest(path: str) -> bool:
    """Return whether a file is a manifest by its name."""
    return path.lower().endswith(MANIFESTS) or path.rpartition("/")[2] == _KUSTOMIZATION


def may_hold_objects(data: bytes) -> bool:
    """Return False only where no Kubernetes object can be: its keys stand there in no spelling of YAML or JSON."""
    if b"\0" in data:  # UTF-16 and UTF-32
        data = data.replace(b"\0", b"")
    if b"\\" in data:
        data = _ESCAPE.sub(_unescaped, data)
    return (b"apiVersion" in data and b"kind" in data) or b"binary" in data  # `!!binary a2luZA==` is a key, too


def _unescaped(match: re.Match[bytes]) -> bytes:
    digits = match[1] or match[2] or match[3]
    code = int(digits, 16) if digits else 0
    return bytes([code]) if 0 < code < 128 else b""


_ESCAPE: Final = Pattern(
    rb"\\(?:[xuU](?:(?<=x)([0-9a-fA-F]{2})|(?<=u)([0-9a-fA-F]{4})|(?<=U)([0-9a-fA-F]{8}))|(?:\r\n?|\n)[ \t]*)"
)


def from_here(path: str) -> str:
    """Return a path without detours: `shop`, not `../apps/shop`, where one stands in `apps`."""
    path = os.path.normpath(path)
    return os.path.relpath(path) if path.startswith(os.pardir) else path


def printable(path: str) -> str:
    """Return a path with posix separators and without bytes that a terminal or a JSON report could not show."""
    if path.isascii():
        return path.replace(os.sep, "/")
    return os.fsencode(path.replace(os.sep, "/")).decode("utf-8", "replace")
