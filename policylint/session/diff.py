"""A diff: both sides opened with one configuration and shared documents, compared, and judged by the rules."""

# Paths stay strings, as everywhere on the way to the sources.
# ruff: noqa: PTH112, PTH118

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from policylint.catalog.content import Edited
from policylint.compare import (
    Comparison,
    FindingChange,
    TextChanges,
    TreeText,
    changed_lines,
    compare,
    compare_findings,
    on_changed_lines,
    pair_sides,
    removed_protections,
    with_moot,
)
from policylint.compare.sameness import encoded
from policylint.compare.unanswered import without_told
from policylint.compare.within import within
from policylint.documents import Document, loading, read
from policylint.errors import AbsentError, UsageError
from policylint.load.edited import edited
from policylint.load.facts import is_kustomization_path
from policylint.load.shared_facts import SharedFacts
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.shared import Shared
from policylint.session.lint import judge
from policylint.session.open import meant, open_workspace_of
from policylint.session.removal import escalate_changed
from policylint.session.revisions import DiffRequest
from policylint.session.territory import territory
from policylint.sources import Source, SourceError, open_source
from policylint.sources.blob_id import blob_id
from policylint.sources.git import Repository
from policylint.sources.revision import Revision, at_revision, staged
from policylint.sources.source import SPARSE
from policylint.workspace import finding_order

if TYPE_CHECKING:
    from policylint.model import Finding
    from policylint.session.judge import ConfigurationChange
    from policylint.session.lint import LintResult
    from policylint.session.settings import RunOptions, Setup
    from policylint.triage import Suppressed
    from policylint.workspace import Workspace
    from policylint.workspace.scope import ReportScope, WorldScope


States = Callable[[Iterable["Finding"], Iterable["Finding"]], list["FindingChange"]]
"""Findings before and after → each with its state (`compare_findings`)."""
MISSING = "missing"
"""In place of the id of a content: there is no such file."""


class DiffResult(NamedTuple):
    """The result of a diff.

    Args:
        comparison: what changes in each environment, and the findings of both sides with their states; new findings
            stand where the change touches them.
        suppressed: how many findings of the side after are.
        silenced: those of them that are not suppressed before: the change brings them, or their suppression. Those that
            the configuration suppresses, which judges both sides, are not among them.
        configuration: what the change does to the configuration, by which it is not judged; None where nothing.
        files_differ: how many files are not the same on both sides.
        before, after: both sides, for their files and what was and was not seen.
    """

    comparison: Comparison
    suppressed: int
    files_differ: int
    before: Workspace
    after: Workspace
    silenced: tuple[Suppressed, ...] = ()
    configuration: ConfigurationChange | None = None

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
        """Whether anything in effect changes: settings, verdicts, attachment of routes."""
        return self.comparison.changes_policy


def run_diff(sides: DiffSides, chosen: set[str] | None = None, lap: Callable[[str], object] = str) -> DiffResult:
    """Compare both sides, and ask the rules about them.

    Args:
        chosen: the ids of the rules that run (`rules.chosen`), None for all.
        lap: called with the name of each part that is done.

    Raises:
        UsageError: a configuration that cannot be used.
    """
    pairs = pair_sides(sides.before.simulations, sides.after.simulations)
    texts = sides.texts()
    environments = compare(pairs, texts)
    scopes = sides.scopes()
    lap("compare")

    def amend(findings: list[Finding]) -> list[Finding]:
        """Add what no single side shows, before suppressions are heeded; what the change takes away is missing."""
        kustomizations = sides.before.kustomizations, sides.after.kustomizations
        tree = TreeText(sides.after.files, sides.after.source_lines, kustomizations)
        of_change = removed_protections(pairs, environments, chosen, findings, tree, texts)
        return escalate_changed(sorted([*findings, *of_change], key=finding_order), pairs, sides)

    setup = sides.request.setup
    after = judge(setup, sides.after.with_simulations(pair.after for pair in pairs), chosen, amend=amend, scopes=scopes)
    lenient = setup._replace(options=setup.options._replace(strict=False))
    before = judge(lenient, sides.before.with_simulations(pair.before for pair in pairs), chosen, scopes=scopes)

    def states(former: Iterable[Finding], latter: Iterable[Finding]) -> list[FindingChange]:
        return compare_findings(pairs, environments, former, latter, sides.of_after)

    silenced = _silenced(states, before, after)
    findings = [
        change._replace(finding=on_changed_lines(change.finding, sides.touched_lines))
        if change.state == "new"
        else change
        for change in with_moot(_without(states, states(before.findings, after.findings), silenced), environments)
    ]
    environments = without_told(environments, (change.finding for change in findings if change.state == "new"))
    if sides.after.scope is not None:
        environments = within(environments, scopes)
    result = DiffResult(
        Comparison(tuple(environments), tuple(findings)),
        len(after.suppressed),
        sides.files_that_differ(),
        sides.before,
        sides.after,
        tuple(silenced),
        sides.request.configuration,
    )
    lap("rules")
    return result


def _silenced(states: States, before: LintResult, after: LintResult) -> list[Suppressed]:
    """Return the findings that are suppressed after, by files, and were not before."""
    by_files = [entry for entry in after.suppressed if entry.by.form != "configuration"]
    if not by_files:
        return []
    changes = states([entry.finding for entry in before.suppressed], [entry.finding for entry in by_files])
    new = {_sameness(change.finding) for change in changes if change.state == "new"}
    return [entry for entry in by_files if _sameness(entry.finding) in new]


def _without(states: States, changes: list[FindingChange], silenced: Sequence[Suppressed]) -> list[FindingChange]:
    """Return the changes, but not as fixed what is still there and suppressed."""
    if not silenced:
        return changes
    gone = [change.finding for change in changes if change.state == "fixed"]
    still = states(gone, [entry.finding for entry in silenced])
    fixed = {_sameness(change.finding) for change in still if change.state == "fixed"}
    return [change for change in changes if change.state != "fixed" or _sameness(change.finding) in fixed]


def _sameness(finding: Finding) -> tuple[object, ...]:
    """Return what a finding of one side is known by: its words may have been added to."""
    return finding.rule, finding.resources, finding.field, finding.location.sort_key()


_OBJECT = Pattern(rb"(?m)^(kind|apiVersion):")
_MOST_VALUES = 500
_OF_OBJECTS = (".yaml", ".yml", ".tpl", ".tmpl", ".j2", ".json")
_READ_IN_COMMENTS = Pattern(rb"(?m)^[ \t]*#@|\{\{")
_LONGEST_TEXT = 2_000_000


class DiffSides:
    """Both sides, opened.

    Args:
        request: what is compared.
        sources: the files before and after.
        scope: what the comparison is to concern; None for everything.
        directories: of rendered manifests before and after; None where one tree is compared with itself.

    Attributes:
        before, after: the workspaces.
    """

    def __init__(
        self,
        request: DiffRequest,
        sources: tuple[Source, Source],
        directories: tuple[str, str] | None = None,
        scope: ReportScope | None = None,
    ) -> None:
        self.request = request
        self.scope = scope
        self.sources = sources
        self.directories = directories
        self.before, self.after = self._opened(everything=scope is None)
        if scope is not None and _names(self.before) != _names(self.after):  # one has a part on one side alone, perhaps
            self.before, self.after = self._opened()
        if self.before.alternatives != self.after.alternatives:  # a pair must mean the same on both sides
            self.before, self.after = self._opened(alternatives=False)
        self.touched_lines = cache(self._touched_lines)

    def _opened(self, *, alternatives: bool = True, everything: bool = True) -> list[Workspace]:
        both: dict[str, Any] = {"shared_facts": SharedFacts(), "shared": Shared(), "alternatives": alternatives}
        both |= {"scope": self.scope, "undeployed": False, "all_environments": True, "paths": ()}
        both["edited"] = self._edited
        both["picking"] = None if everything or self.scope is None else self._touched(self.scope)
        setup, live = self.request.setup, self.request.options.live
        if live is None:
            setups = [setup._replace(options=options) for options in _by_side(setup.options)]
            opened = [
                open_workspace_of(each, source=source, **both)
                for each, source in zip(setups, self.sources, strict=True)
            ]
            # What Flux or Argo CD deploy on one side and do not take in on the other is not there on that one, however
            # much of it is left over beside them.
            for side, workspace in enumerate(opened):
                if opened[1 - side].by_deployer and not workspace.by_deployer:
                    opened[side] = open_workspace_of(setups[side], source=self.sources[side], **both, leftovers=False)
            return opened
        from policylint.session.live import beside, cluster, of_environment

        before, after = self.sources
        applied = open_workspace_of(beside(setup, live), source=after, **both)
        return [of_environment(open_workspace_of(cluster(setup), source=before, **both), applied), applied]

    def texts(self) -> TextChanges:
        """Return what differs beside objects: the files of charts, and new commands of scripts."""
        from policylint.render.by_hand import edits

        before, after = self.contents
        differing = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        former, latter = self._aside
        aside = sorted(path for path in former.keys() | latter.keys() if former.get(path) != latter.get(path))
        commands = []
        self._announce(aside)
        gone = {said for path in aside if path not in latter for _, said in edits(path, self._bytes(0, path))}
        for path in filter(latter.__contains__, aside):
            known = gone.union(said for _, said in edits(path, self._bytes(0, self.of_before(path))))
            commands += [(path, *each) for each in edits(path, self._bytes(1, path)) if each[1] not in known]
        values = list(self._values(sorted({*differing, *aside})))
        rewritten = {path for path in islice(sorted(differing), _MOST_VALUES) if self._is_rewritten(path)}
        told = differing - rewritten
        return TextChanges([*told, *aside], commands, values, list(self._beside(told, aside)))

    def _is_rewritten(self, path: str) -> bool:
        """Tell whether a file of YAML says the same as before in other words: indentation, quotes, order, comments."""
        if not path.endswith((".yaml", ".yml")):
            return False
        texts = self._bytes(0, self.of_before(path)), self._bytes(1, path)
        if not all(texts) or any(map(_READ_IN_COMMENTS.search, texts)):
            return False
        readings = [read(text, path) for text in texts]
        before, after = ([each.value for each in reading.documents] for reading in readings)
        return encoded(before) == encoded(after) and not any(reading.problems for reading in readings)

    def _beside(self, differing: Collection[str], aside: Collection[str]) -> Iterator[tuple[str, str, str, bool]]:
        """Yield the manifests and templates that differ, as texts."""
        paths = sorted({each for each in (*differing, *aside) if each.endswith(_OF_OBJECTS)})
        for path in islice(paths, _MOST_VALUES):
            before, after = self._bytes(0, self.of_before(path)), self._bytes(1, path)
            longest = max(len(before), len(after))
            if (
                any(map(_OBJECT.search, (before, after)))
                and longest < _LONGEST_TEXT
                and not is_kustomization_path(path)
            ):
                is_template = path in aside
                yield path, before.decode("utf-8", "replace"), after.decode("utf-8", "replace"), is_template

    def _values(self, paths: Iterable[str]) -> Iterator[tuple[Document, Document]]:
        """Yield the files that differ and hold no objects, but values for charts, each as it was and as it is."""
        for path in islice((each for each in paths if each.endswith((".yaml", ".yml"))), _MOST_VALUES):
            texts = self._bytes(0, self.of_before(path)), self._bytes(1, path)
            if not is_kustomization_path(path) and any(map(_OBJECT.search, texts)):
                continue
            readings = [read(text, path) for text in texts]
            documents = [reading.documents[0] for reading in readings if len(reading.documents) == 1]
            if len(documents) == 2 and all(isinstance(each.value, dict) for each in documents):
                yield documents[0], documents[1]

    @cached_property
    def _aside(self) -> tuple[dict[str, str], dict[str, str]]:
        """For each side the templates and scripts: path as shown after → the id of the content."""
        before, after = self._aside_by_path
        return {self._renamed.get(path, path): blob for path, blob in before.items()}, after

    @cached_property
    def _aside_by_path(self) -> tuple[dict[str, str], dict[str, str]]:
        """For each side the templates and scripts: path → the id of the content."""
        from policylint.render.scripts import is_prose, is_script

        def of(source: Source) -> dict[str, str]:
            paths = [path for paths in source.skipped.values() for path in paths]
            paths += [path for path in source.files_below("") if is_script(path) and not is_prose(path)]
            return {path: _content_id(source, path) for path in paths}

        return of(self.sources[0]), of(self.sources[1])

    def _touched(self, scope: ReportScope) -> ReportScope:
        """Return a scope with what the change touches beside it, so that what goes from one environment to another one
        is seen in both."""
        from policylint.workspace.scope import TouchedScope

        changed = {
            path for one, other in (self._by_path, self._aside_by_path) for path, _ in one.items() ^ other.items()
        }
        return TouchedScope(scope, changed)

    @cached_property
    def _edited(self) -> Edited:
        """Return what the change touches of kinds that nothing reads by itself."""
        before, after = self._by_path
        paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        self._announce(paths)
        return edited((path, self._bytes(0, self._at_its_place(path)), self._bytes(1, path)) for path in paths)

    def _announce(self, paths: Sequence[str]) -> None:
        """Say which files are read next, so that git is asked once for all of them."""
        for source, known in zip(self.sources, (map(self._at_its_place, paths), paths), strict=True):
            files = []
            for path in known:
                with suppress(SourceError):
                    files.append(source.file(path))
            source.announce(files)

    def _bytes(self, side: int, file: str) -> bytes:
        try:
            return self.sources[side].file(file).read()
        except SourceError:
            return b""

    def scopes(self) -> dict[str, list[WorldScope]]:
        """Return what concerns the scope in each environment that has a part in it on one side, by name."""
        both: dict[str, list[WorldScope]] = defaultdict(list)
        for side in (self.before, self.after):
            for name, scopes in side.scopes().items():
                both[name] += scopes
        return {name: scopes for name, scopes in both.items() if any(scope.has_part() for scope in scopes)}

    def have_part(self, scope: ReportScope) -> bool:
        """Tell whether anything on one of the sides concerns a scope."""
        return self.before.has_part(scope) or self.after.has_part(scope)

    def join(self, apart: DiffSides) -> None:
        """Take in what was opened of other paths of the same revisions."""
        self.before, self.after = self.before.joined(apart.before), self.after.joined(apart.after)

    def of_after(self, file: str) -> str:
        """Return what a file of before is called after: the same, but for rendered manifests, and files that moved."""
        file = file if self.directories is None else _moved(file, *self.directories)
        return self._renamed.get(file, file)

    def of_before(self, file: str) -> str:
        """Return what a file of after was called before."""
        file = self._renamed_from.get(file, file)
        return self._at_its_place(file)

    def _at_its_place(self, file: str) -> str:
        """Return the path before of a file that did not move."""
        return file if self.directories is None else _moved(file, *reversed(self.directories))

    def _touched_lines(self, file: str) -> Collection[int]:
        """Return the lines of a file of after that the file of before does not have; of a new file, all there can
        be."""
        earlier = self.of_before(file)
        ids = _known_id(self.sources[0], earlier), _known_id(self.sources[1], file)
        if ids[0] == MISSING != ids[1]:
            return range(1, sys.maxsize)
        if ids[0] == ids[1] and ids[0] not in (None, MISSING):
            return frozenset()
        before, after = self.before.source_lines(earlier), self.after.source_lines(file)
        return frozenset() if before == after else changed_lines(before, after)

    def files_that_differ(self) -> int:
        """Return how many files are not the same on both sides."""
        before, after = self.contents
        return sum(before.get(path) != after.get(path) for path in before.keys() | after.keys())

    def skipped_differ(self) -> bool:
        """Tell whether a file of after that was left aside, a chart's template say, is not as it was before."""
        earlier, later = self.sources
        return any(
            _content_id(earlier, self.of_before(path)) != _content_id(later, path)
            for paths in later.skipped.values()
            for path in paths
        )

    @cached_property
    def contents(self) -> tuple[dict[str, str], dict[str, str]]:
        """For each side path as shown after → the id of its content, though the file moved.

        What git writes into a work tree with other ends of lines (`core.autocrlf`) has the id that git gives it.
        """
        before, after = self._by_path
        before = {self._renamed.get(path, path): blob for path, blob in before.items()}
        alike = {
            path: before[path] for path in before.keys() & after.keys() if self._ends_otherwise(path, before, after)
        }
        return before, {**after, **alike}

    def _ends_otherwise(self, path: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
        """Tell whether a file of the side after is that of the side before with CRLF at the ends of its lines."""
        if before[path] == after[path]:
            return False
        content = self._bytes(1, path)
        return b"\r\n" in content and blob_id(content.replace(b"\r\n", b"\n")) == before[path]

    @cached_property
    def _by_path(self) -> tuple[dict[str, str], dict[str, str]]:
        """For each side path → the id of its content; a work tree is read for it once."""
        before, after = (
            {file.path: file.known_id() or _content_id(source, file.path) for file in source.files()}
            for source in self.sources
        )
        if self.directories is not None:
            before = {_moved(path, *self.directories): blob for path, blob in before.items()}
        return before, after

    @cached_property
    def _renamed(self) -> Mapping[str, str]:
        """Path before → path after of what moved."""
        before, after = ({**files, **aside} for files, aside in zip(self._by_path, self._aside_by_path, strict=True))
        if before.keys() == after.keys():
            return {}
        from policylint.sources.renames import renames

        return renames(before, after, lambda side, path: self._bytes(side, path if side else self._at_its_place(path)))

    @cached_property
    def _renamed_from(self) -> Mapping[str, str]:
        return {new: old for old, new in self._renamed.items()}


def _names(workspace: Workspace) -> set[str]:
    return {simulation.world.name for simulation in workspace.simulations}


def _known_id(source: Source, file: str) -> str | None:
    """Return the id of a file's content, None if it must be read for that; MISSING where there is no such file."""
    try:
        return source.file(file).known_id()
    except SourceError:
        return MISSING


def _content_id(source: Source, file: str) -> str:
    """Return the id of a file's content, or why there is none."""
    try:
        known = source.file(file)
        return known.known_id() or blob_id(known.read())
    except SourceError as error:
        return error.code


def _moved(file: str, directory: str, target: str) -> str:
    """Return the path of a file below one directory in another one."""
    inside = "" if directory == "." else f"{directory.rstrip('/')}/"
    return os.path.normpath(os.path.join(target, file[len(inside) :])) if file.startswith(inside) else file


def open_sides(request: DiffRequest) -> DiffSides:
    """Open what is to be compared.

    Raises:
        UsageError: a path that is not there.
    """
    with loading():  # two of everything, and all of it is needed until the end
        if request.options.live is not None:
            return _of_cluster(request, request.options.live)
        if request.repository is None:
            return _of_directories(request)
        return _of_revisions(request, request.repository)


def _by_side(options: RunOptions) -> tuple[RunOptions, RunOptions]:
    """Return the options of both sides: of two directories of rendered charts each has its own."""
    return options, options._replace(rendered=options.rendered[-1:])


def _of_cluster(request: DiffRequest, live: bytes) -> DiffSides:
    from policylint.sources.kubectl import by_object
    from policylint.sources.text import Text

    for path in request.paths:
        if not os.path.lexists(path):
            raise UsageError(f"no such file or directory: {path!r}{meant(path)}")
    return DiffSides(request, (Text(by_object(live)), open_source(list(request.paths), exclude=request.setup.exclude)))


def _of_directories(request: DiffRequest) -> DiffSides:
    options, setup = request.options, request.setup
    before, after = options.rendered_before, options.rendered_after
    if not before or not after:
        raise UsageError("--rendered-before and --rendered-after must be given together")
    if options.staged or options.hook or setup.options.paths:
        raise UsageError("--rendered-before and --rendered-after take no revision and no PATH")
    for path in (before, after):
        if not os.path.isdir(path):
            raise UsageError(f"no such directory: {path!r}")
    exclude = setup.exclude
    sources = (open_source([before], exclude=exclude), open_source([after], exclude=exclude))
    directories = (os.path.normpath(before), os.path.normpath(after))
    return DiffSides(request, sources, directories)


def _of_revisions(request: DiffRequest, repository: Repository) -> DiffSides:
    setup, end = request.setup, request.end

    def sources(paths: list[str] | None) -> tuple[Revision, Source]:
        before = at_revision(repository, request.start, paths, setup.exclude)
        if end is not None:
            return before, at_revision(repository, end, paths, setup.exclude)
        if request.options.staged:
            return before, staged(repository, paths, setup.exclude)
        return before, _work_tree(repository, paths, setup)

    named = [os.path.relpath(path) for path in request.paths] or [*setup.settings.paths] or None
    around = territory(request.of_paths, named or ())
    both = sources(named if around is None else [os.path.relpath(path) for path in around.paths])
    for path in request.paths:
        remains = both[1].holds(path) if isinstance(both[1], Revision) else os.path.lexists(path)
        if not remains and not both[0].holds(path):
            message = f"no such file or directory on either side: {path!r}{meant(path)}"
            if end is None and request.text and repository.knows(os.path.relpath(path)):
                message += f"; two revisions are written {request.text}..{path}"
            raise UsageError(message)
    if around is not None:
        sides = DiffSides(request, both, scope=around.scope)
        alone = [path for path, scope in around.each if not sides.have_part(scope)]
        if len(alone) < len(around.each):
            if alone:
                sides.join(DiffSides(request, sources([os.path.relpath(path) for path in alone])))
            return sides
        both = sources(named)
    return DiffSides(request, both)


def _work_tree(repository: Repository, paths: list[str] | None, setup: Setup) -> Source:
    if repository.top is None:
        raise UsageError("this is a bare repository: name two revisions, A..B")
    top = os.path.relpath(repository.top)
    present = [path for path in paths or [top] if os.path.lexists(path)]
    source = open_source(present, exclude=setup.exclude) if present else Revision(repository, (), ())
    listed = source if len(present) == len(paths or [top]) else open_source([top], exclude=setup.exclude)
    for problem in listed.problems:
        if problem.code == SPARSE:
            raise AbsentError(f"{problem.message}, or name two revisions, A..B")
    return source
