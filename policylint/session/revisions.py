"""The request of a diff: the revisions, the paths, and the configuration that judges. Nothing is read yet."""

from __future__ import annotations

import os
from collections.abc import Sequence

from policylint.errors import UsageError
from policylint.namedtuple import NamedTuple
from policylint.session.judge import ConfigurationChange, judge_of
from policylint.session.settings import RunOptions, Setup
from policylint.session.staged import FROM_REF, TO_REF, pushed_range
from policylint.sources.git import Repository

NOTHING = "0" * 40
"""As git names what was there before a first push, or commit."""


class DiffOptions(NamedTuple):
    """The sides of a diff as options name them; a revision may stand before the paths of `RunOptions`.

    Args:
        staged: compare with the index instead of the work tree.
        rendered_before, rendered_after: directories of rendered manifests instead of revisions.
        hook: compare what pre-commit names for a push; with `staged` what a commit changes, its first one included.
        live: what the cluster holds, to be compared with what it would hold were the paths applied to it.
    """

    staged: bool = False
    rendered_before: str | None = None
    rendered_after: str | None = None
    hook: bool = False
    live: bytes | None = None


class DiffRequest(NamedTuple):
    """Two sides to compare, resolved but not read.

    Args:
        setup: with the configuration of the side before, which judges both.
        options: what the caller says of the sides.
        repository: None for rendered directories.
        text: the revisions as written.
        paths: as given.
        start, end: revisions; no `end` for the work tree or the index.
        configuration: what the change does to the configuration; None where nothing, or where the caller names one.
    """

    setup: Setup
    options: DiffOptions
    repository: Repository | None = None
    text: str = ""
    paths: Sequence[str] = ()
    start: str = ""
    end: str | None = None
    configuration: ConfigurationChange | None = None

    @property
    def of_paths(self) -> Setup:
        """The setup of a run over the paths alone, without the revisions that stand before them."""
        return self.setup._replace(options=self.setup.options._replace(paths=tuple(self.paths)))

    @property
    def span(self) -> str:
        """Both sides in short: `1a2b3c4..5d6e7f8`."""
        if self.options.live is not None:
            return f"cluster..{' '.join(self.paths)}"
        if self.repository is None:
            return f"{self.options.rendered_before}..{self.options.rendered_after}"
        end = "index" if self.options.staged else ""
        return f"{_short(self.repository, self.start)}..{_short(self.repository, self.end) if self.end else end}"

    @property
    def again(self) -> str:
        """The command that compares the same."""
        if self.options.live is not None:
            return " ".join(["policylint diff --live", *self.paths])
        if self.repository is None:
            before, after = self.options.rendered_before, self.options.rendered_after
            return f"policylint diff --rendered-before {before} --rendered-after {after}"
        text = [_shortened(self.text)] if self.text else []
        return " ".join(["policylint diff", *(["--staged"] if self.options.staged else []), *text, *self.paths])


def resolve(options: RunOptions, diff_options: DiffOptions) -> DiffRequest:
    """Resolve both sides, and the configuration that judges them: that of the side before, unless the caller names
    one.

    Raises:
        UsageError: a revision that is not there, a configuration that cannot be used, or options that exclude each
            other.
        AbsentError: a partial clone lacks a configuration.
    """
    if diff_options.live is not None:
        if diff_options != DiffOptions(live=diff_options.live):
            raise UsageError("--live compares the cluster with PATH: no --staged, --hook or --rendered-before")
        return DiffRequest(setup := Setup.of(options), diff_options, paths=setup.paths)
    if diff_options.rendered_before or diff_options.rendered_after:
        return DiffRequest(Setup.of(options), diff_options)
    repository = Repository(options.start)
    text, paths = _range_and_paths(options, diff_options, repository)
    start, end = _ends(text, repository)
    if end is not None and diff_options.staged:
        raise UsageError("--staged compares one revision with the index and takes no second one")
    repository.resolve([start, *([end] if end else [])])
    if Setup.is_named(options):
        return DiffRequest(Setup.of(options), diff_options, repository, text, paths, start, end)
    setup, change = judge_of(
        repository, start, end, options, index=diff_options.staged, base=_called(repository, text, start)
    )
    return DiffRequest(setup, diff_options, repository, text, paths, start, end, change)


def _range_and_paths(options: RunOptions, diff_options: DiffOptions, repository: Repository) -> tuple[str, list[str]]:
    """Return the revisions as written ("" for HEAD and the work tree), and the paths."""
    arguments = list(options.paths)
    if diff_options.hook and diff_options.staged:
        return ("" if repository.knows("HEAD") else NOTHING), arguments
    if diff_options.hook:
        pushed = pushed_range()
        if not pushed:
            raise UsageError(f"--hook reads {FROM_REF} and {TO_REF}, which pre-commit sets for pre-push")
        return "..".join(pushed), arguments
    if not arguments:
        return "", []
    first = arguments[0]
    if ".." in first and not os.path.lexists(first):
        return first, arguments[1:]
    if repository.knows(first):
        return first, arguments[1:]
    if os.path.lexists(first):
        return "", arguments
    repository.tree(first)  # says what is wrong with it
    return first, arguments[1:]


def _ends(text: str, repository: Repository) -> tuple[str, str | None]:
    """Return both revisions; None for the work tree or the index."""
    dots = "..." if "..." in text else ".."
    start, dots_found, end = text.partition(dots)
    start, end = start or "HEAD", end or "HEAD"
    if not dots_found:
        return start, None
    return (repository.merge_base(start, end) if dots == "..." else start), end


def _shortened(text: str) -> str:
    """Return a range without the tails of its ids."""
    import re

    return re.sub(r"\b([0-9a-f]{7})[0-9a-f]{33,57}\b", r"\1", text)


def _called(repository: Repository, text: str, start: str) -> str:
    """Return how sentences call the side before: `main` (1a2b3c4), or the merge base (1a2b3c4)."""
    if start == NOTHING:
        return "the empty tree"
    short = _short(repository, start)
    if "..." in text:
        return f"the merge base ({short})"
    return f"`{start}` ({short})" if short not in start else f"`{short}`"


def _short(repository: Repository, revision: str) -> str:
    commit = repository.commit(revision)
    return commit[:7] if commit else revision[:7]
