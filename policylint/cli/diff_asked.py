"""What a diff is asked to compare: the revisions, the paths, and the configuration that judges. Nothing is read yet."""

# Paths stay strings, as everywhere on the way to the sources.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from policylint.cli import configured
from policylint.config.discovery import candidates
from policylint.namedtuple import NamedTuple
from policylint.sources import SourceError
from policylint.sources.git import LINK, Repository, RevisionError
from policylint.sources.revision import Revision, at_revision, staged

_FROM, _TO = "PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"


class Wanted(NamedTuple):
    """What the command line asks for; `arguments` may begin with a revision."""

    arguments: Sequence[str]
    staged: bool = False
    rendered_before: str | None = None
    rendered_after: str | None = None
    hook: bool = False
    semantics: str | None = None
    snapshot: str | None = None
    strict: bool = False


class Asked(NamedTuple):
    """What is to be compared, found out but not read.

    Args:
        wanted: the command line.
        repository: None for rendered directories.
        text: the revisions as written.
        paths: as given.
        start, end: revisions; no `end` for the work tree or the index.
    """

    wanted: Wanted
    repository: Repository | None = None
    text: str = ""
    paths: Sequence[str] = ()
    start: str = ""
    end: str | None = None

    @property
    def span(self) -> str:
        """What is compared, in short: `1a2b3c4..5d6e7f8`."""
        if self.repository is None:
            return f"{self.wanted.rendered_before}..{self.wanted.rendered_after}"
        end = "index" if self.wanted.staged else ""
        return f"{_short(self.repository, self.start)}..{_short(self.repository, self.end) if self.end else end}"

    @property
    def again(self) -> str:
        """The command that compares the same."""
        if self.repository is None:
            one, other = self.wanted.rendered_before, self.wanted.rendered_after
            return f"policylint diff --rendered-before {one} --rendered-after {other}"
        text = [_shortened(self.text)] if self.text else []
        return " ".join(["policylint diff", *(["--staged"] if self.wanted.staged else []), *text, *self.paths])


def resolved(wanted: Wanted) -> Asked:
    """Find out what is to be compared, and put the configuration of the later side in force: as it stands in that
    revision, in the index, or in the work tree.

    Raises:
        click.UsageError: a revision that is not there, a configuration that cannot be used, or options that exclude
            each other.
    """
    if wanted.rendered_before or wanted.rendered_after:
        return Asked(wanted)
    try:
        repository = Repository(".")
        text, paths = _range_and_paths(wanted, repository)
        start, end = _ends(text, wanted, repository)
        repository.resolve([start, *([end] if end else [])])
        if end is not None:
            _judge_by(_configurations(repository, end))
        elif wanted.staged:
            _judge_by(staged(repository))
        return Asked(wanted, repository, text, paths, start, end)
    except RevisionError as error:
        raise click.UsageError(str(error)) from None


def _configurations(repository: Repository, revision: str) -> Revision:
    """A revision with the files alone that can configure what is judged here, or the whole of it where one of them, or
    a directory on the way, is a symbolic link."""
    tree = repository.tree(revision)
    paths = candidates(_here(Revision(repository, ())))
    above = [each.rpartition("/")[0] for each in paths]
    found = repository.entries_at(tree, dict.fromkeys((*paths, *filter(None, above))))
    if any(each.mode == LINK for each in found):
        return at_revision(repository, revision)
    return Revision(repository, found)


def _judge_by(tree: Revision) -> None:
    def content(path: str) -> bytes | None:
        try:
            return tree.at(path, shown(path)).read()
        except SourceError:
            return None

    def shown(path: str) -> str:
        return os.path.relpath(os.path.join(str(tree.root), path)).replace(os.sep, "/")

    configured.settings_among(_here(tree), content, shown)


def _here(tree: Revision) -> str:
    """Where the user stands below the top of a tree."""
    here = tree.below(".")
    return "" if here.startswith("..") else here


def _range_and_paths(wanted: Wanted, repository: Repository) -> tuple[str, list[str]]:
    """The revisions as written ("" for HEAD and the work tree), and the paths."""
    arguments = list(wanted.arguments)
    if wanted.hook:
        start, end = os.environ.get(_FROM, ""), os.environ.get(_TO, "")
        if not start or not end:
            raise click.UsageError(f"--hook reads {_FROM} and {_TO}, which pre-commit sets for pre-push")
        return f"{start}..{end}", arguments
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


def _ends(text: str, wanted: Wanted, repository: Repository) -> tuple[str, str | None]:
    """Both revisions; None for the work tree or the index."""
    if "..." in text:
        one, _, other = text.partition("...")
        one, other = one or "HEAD", other or "HEAD"
        start, end = repository.merge_base(one, other), other
    elif ".." in text:
        one, _, other = text.partition("..")
        start, end = one or "HEAD", other or "HEAD"
    else:
        return text or "HEAD", None
    if wanted.staged:
        raise click.UsageError("--staged compares one revision with the index, not two with each other")
    return start, end


def _shortened(text: str) -> str:
    """A range without the tails of its ids."""
    import re

    return re.sub(r"\b([0-9a-f]{7})[0-9a-f]{33,57}\b", r"\1", text)


def _short(repository: Repository, revision: str) -> str:
    commit = repository.commit(revision)
    return commit[:7] if commit else revision[:7]
