"""A diff: both sides opened with one configuration, documents shared between them; compared, and judged."""

# Paths stay strings, as everywhere on the way to the sources.
# ruff: noqa: PTH112, PTH118

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from policylint.compare import (
    Comparison,
    compare,
    compare_findings,
    on_changed_lines,
    pair_sides,
    removed_protections,
)
from policylint.documents import loading
from policylint.errors import UsageError
from policylint.load.shared_facts import SharedFacts
from policylint.namedtuple import NamedTuple
from policylint.render.shared import Shared
from policylint.session.lint import LintResult, judge
from policylint.session.open import open_tree
from policylint.session.revisions import DiffRequest
from policylint.sources import Source, SourceError, open_source
from policylint.sources.blob_id import blob_id
from policylint.sources.git import Repository
from policylint.sources.revision import Revision, at_revision, staged
from policylint.workspace import Workspace

if TYPE_CHECKING:
    from policylint.compare import Sides
    from policylint.model import Finding
    from policylint.session.settings import Setup
    from policylint.simulation import Simulation


class DiffResult(NamedTuple):
    """What a change does.

    Args:
        comparison: what changes in each environment, and the findings of both sides with their states; new findings
            stand where the change touches them.
        suppressed: how many findings of the side after are.
        files_differ: how many files are not the same on both sides.
        before, after: both sides, for their files and what was and was not seen.
    """

    comparison: Comparison
    suppressed: int
    files_differ: int
    before: Workspace
    after: Workspace

    @property
    def new(self) -> list[Finding]:
        """The findings that the change brings."""
        return list(self.comparison.of("new"))

    @property
    def fixed(self) -> list[Finding]:
        """The findings that the change does away with."""
        return list(self.comparison.of("fixed"))

    @property
    def changes_policy(self) -> bool:
        """Whether anything in effect changes: settings, verdicts, what routes are attached to."""
        return self.comparison.changes_policy


def run_diff(sides: DiffSides, chosen: set[str] | None = None, lap: Callable[[str], object] = str) -> DiffResult:
    """Compare both sides, and ask the rules about them.

    Args:
        chosen: the ids of the rules that run (`rules.chosen`), None for all.
        lap: told which part is done.

    Raises:
        UsageError: a configuration that cannot be used.
    """
    pairs = pair_sides(sides.before.simulations, sides.after.simulations)
    environments = compare(pairs)
    lap("compare")
    removed = removed_protections(pairs, environments, chosen)
    after = sides.judged_after(pairs, removed, chosen)
    before = sides.judged_before([pair.before for pair in pairs], chosen)
    findings = [
        change._replace(finding=on_changed_lines(change.finding, sides.touched_lines))
        if change.state == "new"
        else change
        for change in compare_findings(pairs, environments, before, after.findings, sides.of_after)
    ]
    result = DiffResult(
        Comparison(tuple(environments), tuple(findings)),
        len(after.suppressed),
        sides.files_that_differ(),
        sides.before,
        sides.after,
    )
    lap("rules")
    return result


class DiffSides:
    """Both sides, opened.

    Attributes:
        request: what was asked for.
        before, after: the workspaces.
        sources: their files.
        directories: of rendered manifests before and after; None where one tree is compared with itself.
    """

    def __init__(
        self,
        request: DiffRequest,
        before: Workspace,
        after: Workspace,
        sources: tuple[Source, Source],
        directories: tuple[str, str] | None = None,
    ) -> None:
        self.request = request
        self.before = before
        self.after = after
        self.directories = directories
        self.sources = sources
        self._changed: dict[str, Collection[int]] = {}
        self._contents: tuple[dict[str, str], dict[str, str]] | None = None

    def judged_before(self, simulations: list[Simulation], chosen: set[str] | None) -> Sequence[Finding]:
        """Return the findings of the side before, by the same configuration."""
        return judge(self.request.setup, _Enlarged(self.before, simulations, []), chosen).findings

    def judged_after(self, pairs: Sequence[Sides], more: list[Finding], chosen: set[str] | None) -> LintResult:
        """Return the findings of the side after in its final simulations, with `more` among them, so that they can be
        suppressed too.

        What the change takes away is missing, unless it changes what may make it out of sight.
        """
        from policylint.session.removal import escalate_changed

        def amend(findings: list[Finding]) -> list[Finding]:
            return escalate_changed(findings, pairs, self)

        setup = self.request.setup
        workspace = _Enlarged(self.after, [pair.after for pair in pairs], more)
        return judge(setup, workspace, chosen, strict=setup.options.strict, amend=amend)

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
        return file.known_id() or blob_id(file.read())
    except SourceError as error:
        return error.code


def open_sides(request: DiffRequest) -> DiffSides:
    """Open what is to be compared.

    Raises:
        UsageError: a path that is not there.
    """
    with loading():  # two of everything, and all of it is needed until the end
        if request.repository is None:
            return _of_directories(request)
        return _of_revisions(request, request.repository)


def _of_directories(request: DiffRequest) -> DiffSides:
    asked, setup = request.asked, request.setup
    before, after = asked.rendered_before, asked.rendered_after
    if not before or not after:
        raise UsageError("--rendered-before and --rendered-after belong together")
    if asked.staged or asked.hook or setup.options.paths:
        raise UsageError("--rendered-before and --rendered-after are the whole input: no revision, no PATH")
    for path in (before, after):
        if not os.path.isdir(path):
            raise UsageError(f"no such directory: {path!r}")
    exclude = setup.exclude
    sources = (open_source([before], exclude=exclude), open_source([after], exclude=exclude))
    directories = (os.path.normpath(before), os.path.normpath(after))
    return DiffSides(request, *_opened(setup, *sources), sources, directories)


def _of_revisions(request: DiffRequest, repository: Repository) -> DiffSides:
    setup, end = request.setup, request.end
    paths = [os.path.relpath(path) for path in request.paths] or [*setup.settings.paths] or None
    exclude = setup.exclude
    before = at_revision(repository, request.start, paths, exclude)
    after: Source
    if end is not None:
        after = at_revision(repository, end, paths, exclude)
    elif request.asked.staged:
        after = staged(repository, paths, exclude)
    else:
        after = _work_tree(repository, paths, setup)
    for path in request.paths:
        there = after.holds(path) if isinstance(after, Revision) else os.path.lexists(path)
        if not there and not before.holds(path):
            message = f"no such file or directory on either side: {path!r}"
            if end is None and request.text and repository.knows(os.path.relpath(path)):
                message += f"; two revisions are written {request.text}..{path}"
            raise UsageError(message)
    return DiffSides(request, *_opened(setup, before, after), (before, after))


def _work_tree(repository: Repository, asked: list[str] | None, setup: Setup) -> Source:
    if repository.top is None:
        raise UsageError("this is a bare repository: name two revisions, A..B")
    paths = [os.path.relpath(repository.top)] if asked is None else [path for path in asked if os.path.lexists(path)]
    if not paths:
        return Revision(repository, (), ())
    return open_source(paths, exclude=setup.exclude)


def _opened(setup: Setup, *sources: Source) -> tuple[Workspace, Workspace]:
    shared_facts, shared = SharedFacts(), Shared()
    before, after = (open_tree(setup, source=source, shared_facts=shared_facts, shared=shared) for source in sources)
    return before, after
