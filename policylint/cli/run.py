"""The skeleton of every command that reads manifests: where it runs, what it goes by, how long it took, how it ends."""

from __future__ import annotations

import gc
import os
from time import perf_counter

import click

from policylint.cli.commands import say
from policylint.cli.options import gathered, showing, together, what_is_read
from policylint.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from policylint.cli.options import Decorated
    from policylint.model.coverage import Coverage
    from policylint.session.diff import DiffSides
    from policylint.session.revisions import DiffRequest
    from policylint.session.settings import RunOptions, Setup
    from policylint.sources import Source
    from policylint.workspace import Workspace


class ReadingOptions(NamedTuple):
    """The options that every command that reads has."""

    paths: tuple[str, ...]
    directory: str | None
    config: str | None
    no_config: bool
    env: tuple[str, ...]
    render: str | None
    semantics: str | None
    snapshot: str | None
    color: str = "auto"
    verbose: bool = False
    timing: bool = False


class Run:
    """One run of a command. With -C, all of it is as seen from there, and that directory is read where no PATH is
    given.

    Attributes:
        asked: the options of `reading` and `showing`.
        directory: what -C says.
    """

    def __init__(self, **asked: Any) -> None:
        self.asked = ReadingOptions(**asked)
        self.directory = self.asked.directory
        self._start = self._last = perf_counter()
        self._parts: list[tuple[str, float]] = []
        self._told = False
        if self.directory:
            os.chdir(self.directory)

    def options(self, **more: Any) -> RunOptions:
        """The options of the run, with those that only some commands have, or with other values."""
        from policylint.cli.progress import progress
        from policylint.session.settings import RunOptions

        asked = self.asked
        values: dict[str, Any] = {
            "paths": asked.paths,
            "whole": not self.directory,
            "config": asked.config,
            "no_config": asked.no_config,
            "environments": asked.env,
            "render": asked.render,
            "semantics": asked.semantics,
            "snapshot": asked.snapshot,
            "progress": progress,
        }
        return RunOptions(**{**values, **more})

    def setup(self, **more: Any) -> Setup:
        """The options of the run and the configuration that holds; arguments as of `options`."""
        from policylint.session.settings import Setup

        return Setup.of(self.options(**more))

    def open(self, setup: Setup, revision: str = "", source: Source | None = None) -> Workspace:
        """Read and simulate the paths of a setup, as a revision or another source has them where one is given."""
        from policylint.session.at_revision import open_at
        from policylint.session.open import open_tree

        self._tell(setup)
        try:
            return open_at(setup, revision) if source is None else open_tree(setup, source=source)
        finally:
            settle()

    def open_sides(self, request: DiffRequest) -> DiffSides:
        """Read and simulate both sides of a diff."""
        from policylint.session.diff import open_sides

        self._tell(request.setup)
        try:
            return open_sides(request)
        finally:
            settle()

    def _tell(self, setup: Setup) -> None:
        """Say once which setting is not heeded."""
        if setup.notice and not self._told:
            self._told = True
            say(setup.notice)

    def lap(self, part: str) -> None:
        """End a part of the run, for --timing."""
        now = perf_counter()
        self._parts.append((part, now - self._last))
        self._last = now

    @property
    def seconds(self) -> float:
        """How long the run has taken so far."""
        return perf_counter() - self._start

    def end(self, coverage: Coverage, spent: Iterable[str] = (), more: Iterable[str] = ()) -> None:
        """Say what --verbose and --timing ask for.

        Args:
            spent: lines of --timing after those of the parts.
            more: lines of --verbose after those of what was read.
        """
        if self.asked.verbose:
            for line in (*_coverage_in_words(coverage), *more):
                say(line)
        if self.asked.timing:
            for part, seconds in (*self._parts, ("all", self.seconds)):
                say(f"{seconds:8.3f} s  {part}")
            for line in spent:
                say(line)


def reading(function: Decorated) -> Decorated:
    """PATH… and the options of every command that reads manifests; with those of `showing`, it is handed a `Run`."""
    return together(what_is_read, gathered(Run, ReadingOptions._fields))(function)


def settle() -> None:
    """What was simulated stays: looking at it for garbage again and again finds none (cli/commands.py)."""
    gc.freeze()
    gc.enable()


def _coverage_in_words(coverage: Coverage) -> Iterator[str]:
    """What was read and what was skipped."""
    unread = f" ({coverage.unread} of other kinds left unread)" if coverage.unread else ""
    yield f"read {coverage.files} files, {coverage.documents} documents{unread}, {coverage.resources} objects"
    for reason, number in sorted(coverage.skipped.items()):
        yield f"skipped {number} {'file' if number == 1 else 'files'}: {reason}"
    for sentence in coverage.not_rendered:
        yield f"not seen: {sentence}"


def is_empty(coverage: Coverage) -> bool:
    """Tell whether there was nothing to check; say so if it was."""
    if coverage.policies or coverage.routes or coverage.gateways:
        return False
    files = "1 file" if coverage.files == 1 else f"{coverage.files} files"
    nothing = f"0 Gateway API resources in {files}: nothing was checked"
    templates = coverage.skipped.get("Helm template")
    if templates:
        nothing += f" (Helm templates left out: {templates}; --render helm renders charts)"
    click.echo(nothing, err=True)
    return True


__all__ = ["Run", "is_empty", "reading", "settle", "showing"]
