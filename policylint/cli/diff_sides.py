"""The two sides of a diff, opened with one configuration, documents shared between them."""

# Paths stay strings, as everywhere on the way to the sources.
# ruff: noqa: PTH112, PTH118

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from policylint.cli import configured
from policylint.cli.diff_asked import Asked, Wanted
from policylint.cli.opening import opened, remembering
from policylint.render.shared import Shared
from policylint.sources import Source, SourceError, open_source
from policylint.sources.git import Repository, RevisionError
from policylint.sources.pack import content_id
from policylint.sources.revision import Revision, at_revision, staged
from policylint.workspace import Workspace

if TYPE_CHECKING:
    from policylint.cli.judging import Judged
    from policylint.compare import Sides
    from policylint.config import Settings
    from policylint.model import Finding
    from policylint.simulation import Simulation


class Two:
    """Both sides, opened.

    Attributes:
        before, after: the workspaces.
        sources: their files.
        paths: what was asked for, as given.
        span: what is compared, in short (`Asked.span`).
        directories: of rendered manifests before and after; none where one tree is compared with itself.
    """

    def __init__(
        self,
        before: Workspace,
        after: Workspace,
        sources: tuple[Source, Source],
        paths: Sequence[str],
        span: str,
        directories: tuple[str, str] | None = None,
    ) -> None:
        self.before = before
        self.after = after
        self.directories = directories
        self.paths = paths
        self.span = span
        self.sources = sources
        self._changed: dict[str, Collection[int]] = {}
        self._contents: tuple[dict[str, str], dict[str, str]] | None = None

    def judged_before(
        self, simulations: list[Simulation], settings: Settings, chosen: set[str] | None
    ) -> list[Finding]:
        """Findings of before, by the same configuration."""
        from policylint.cli.judging import judge

        return list(judge(_Enlarged(self.before, simulations, []), settings, chosen).findings)

    def judged_after(
        self,
        sides: Sequence[Sides],
        more: list[Finding],
        settings: Settings,
        chosen: set[str] | None,
        *,
        strict: bool,
    ) -> Judged:
        """Findings of after in its final simulations, with `more` among them, so that they can be suppressed too.

        What the change takes away is missing, unless it changes what may make it out of sight.
        """
        from policylint.cli.judging import judge
        from policylint.cli.removed import told_of_change

        def amend(findings: list[Finding]) -> list[Finding]:
            return told_of_change(findings, sides, self)

        judged = _Enlarged(self.after, [each.after for each in sides], more)
        return judge(judged, settings, chosen, strict=strict, amend=amend)

    def of_after(self, file: str) -> str:
        """What a file of before is called after: the same, but for rendered manifests."""
        return file if self.directories is None else _moved(file, *self.directories)

    def of_before(self, file: str) -> str:
        """What a file of after was called before."""
        return file if self.directories is None else _moved(file, *reversed(self.directories))

    def touched_lines(self, file: str) -> Collection[int]:
        """The lines of a file of after that are not in the file of before; of a file that is new, all there can be."""
        if file not in self._changed:
            from policylint.compare import changed_lines

            if not _is_there(self.sources[0], self.of_before(file)) and _is_there(self.sources[1], file):
                self._changed[file] = range(1, sys.maxsize)
                return self._changed[file]
            ids = {_id_of(self.sources[0], self.of_before(file)), _id_of(self.sources[1], file)}
            if len(ids) == 1 and None not in ids:
                self._changed[file] = frozenset()
                return self._changed[file]
            after = self.after.source_lines(file)
            before = self.before.source_lines(self.of_before(file))
            self._changed[file] = frozenset() if before == after else changed_lines(before, after)
        return self._changed[file]

    def blobs(self, file: str) -> tuple[str | None, str | None]:
        """The ids of what a file is before and after, None where it is not there."""
        return _id_of(self.sources[0], file), _id_of(self.sources[1], file)

    def files_that_differ(self) -> int:
        """How many files are not the same on both sides."""
        before, after = self.contents()
        return sum(before.get(path) != after.get(path) for path in before.keys() | after.keys())

    def contents(self) -> tuple[dict[str, str], dict[str, str]]:
        """Of both sides, path as shown after → the id of what is there; files of a work tree are read for it once."""
        if self._contents is None:
            before, after = (_contents(each) for each in self.sources)
            if self.directories is not None:
                before = {_moved(path, *self.directories): found for path, found in before.items()}
            self._contents = before, after
        return self._contents


class _Enlarged(Workspace):
    """A workspace with other simulations of the same, and findings that no single state of it gives."""

    def __init__(self, workspace: Workspace, simulations: list[Simulation], more: list[Finding]) -> None:
        self.__dict__.update(workspace.__dict__)
        there = {each.world.name for each in workspace.simulations}
        self.simulations = [each for each in simulations if each.world.name in there]
        self._more = more

    def findings(self, select: set[str] | None = None, *, spent: dict[str, float] | None = None) -> list[Finding]:
        found = [*super().findings(select, spent=spent), *self._more]
        return sorted(found, key=lambda each: (each.location.sort_key(), each.rule, each.message))


def _is_there(source: Source, file: str) -> bool:
    try:
        source.file(file)
    except SourceError:
        return False
    return True


def _id_of(source: Source, file: str) -> str | None:
    """The id of a file's content, if it is known without reading."""
    try:
        return source.file(file).known_id()
    except SourceError:
        return None


def _moved(file: str, directory: str, other: str) -> str:
    """The path of a file below one directory in another one."""
    inside = "" if directory == "." else f"{directory.rstrip('/')}/"
    return os.path.normpath(os.path.join(other, file[len(inside) :])) if file.startswith(inside) else file


def _contents(source: Source) -> dict[str, str]:
    """Path as shown → the id of what is there."""
    return {file.path: file.known_id() or content_of(source, file.path) for file in source.files()}


def content_of(source: Source, path: str) -> str:
    """The id of a file's content, or why there is none."""
    try:
        file = source.file(path)
        return file.known_id() or content_id(file.read())
    except SourceError as error:
        return error.code


def both(asked: Asked) -> Two:
    """Open what is to be compared.

    Raises:
        click.UsageError: a path that is not there.
    """
    try:
        return _rendered(asked) if asked.repository is None else _revisions(asked, asked.repository)
    except RevisionError as error:
        raise click.UsageError(str(error)) from None


def _rendered(found: Asked) -> Two:
    wanted = found.wanted
    one, other = wanted.rendered_before, wanted.rendered_after
    if not one or not other:
        raise click.UsageError("--rendered-before and --rendered-after belong together")
    if wanted.staged or wanted.hook or wanted.arguments:
        raise click.UsageError("--rendered-before and --rendered-after are the whole input: no revision, no PATH")
    for path in (one, other):
        if not os.path.isdir(path):
            raise click.UsageError(f"no such directory: {path!r}")
    exclude = _excluded()
    sources = (open_source([one], exclude=exclude), open_source([other], exclude=exclude))
    before, after = _opened(wanted, *sources)
    directories = (os.path.normpath(one), os.path.normpath(other))
    return Two(before, after, sources, (), found.span, directories)


def _revisions(found: Asked, repository: Repository) -> Two:
    wanted, _, text, paths, start, end = found
    asked = [os.path.relpath(each) for each in paths] or [*configured.settings().paths] or None
    exclude = _excluded()
    before = at_revision(repository, start, asked, exclude)
    after: Source
    if end is not None:
        after = at_revision(repository, end, asked, exclude)
    elif wanted.staged:
        after = staged(repository, asked, exclude)
    else:
        after = _work_tree(repository, asked, exclude)
    for path in paths:
        there = after.holds(path) if isinstance(after, Revision) else os.path.lexists(path)
        if not there and not before.holds(path):
            message = f"no such file or directory on either side: {path!r}"
            if end is None and text and repository.knows(os.path.relpath(path)):
                message += f"; two revisions are written {text}..{path}"
            raise click.UsageError(message)
    one, other = _opened(wanted, before, after)
    return Two(one, other, (before, after), paths, found.span)


def _work_tree(repository: Repository, asked: list[str] | None, exclude: Any) -> Source:
    if repository.top is None:
        raise click.UsageError("this is a bare repository: name two revisions, A..B")
    paths = [os.path.relpath(repository.top)] if asked is None else [each for each in asked if os.path.lexists(each)]
    if not paths:
        return Revision(repository, (), ())
    return open_source(paths, exclude=exclude)


def _excluded() -> Any:
    said = configured.given(configured.settings())
    return () if said is None or said.excluded is None else said.excluded


def _opened(wanted: Wanted, *sources: Source) -> tuple[Workspace, Workspace]:
    remembered, shared = remembering(sharing=True), Shared()
    try:
        found = []
        for source in sources:
            found.append(
                opened(
                    (".",),
                    None,
                    wanted.semantics,
                    wanted.snapshot,
                    strict=wanted.strict,
                    source=source,
                    remembered=remembered,
                    shared=shared,
                )
            )
            gc.disable()  # the other side, and the comparison, need all of it
        remembered.close()
    finally:
        remembered.discard()
    return found[0], found[1]
