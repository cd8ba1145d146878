"""Paths and settings in, the simulations of their environments out, with coverage: every command starts here."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from policylint.budget import Budget
from policylint.catalog.content import NOTHING_EDITED, Edited, ReadSet
from policylint.catalog.kinds import Catalog, CatalogError, load_catalog
from policylint.clusters.kinds import POLICY
from policylint.config import PROGRAMS
from policylint.documents import Document, Problem
from policylint.documents.problem import DUPLICATE_KEY, YAML_SYNTAX
from policylint.errors import UsageError
from policylint.load.definitions import Definitions
from policylint.load.left_unread import LeftUnread
from policylint.load.objects import cluster_scoped_kinds, patch_files, resources
from policylint.load.reading import Loaded, load
from policylint.load.shared_facts import SharedFacts
from policylint.model import Finding, Resource, World, mapping
from policylint.model.coverage import Coverage
from policylint.model.faults import NOT_OURS, Fault, fault_of
from policylint.model.resource import Written
from policylint.model.unseen import Custom, Unseen
from policylint.model.words import count, leading
from policylint.model.world import Note
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import EVALUATED
from policylint.outside import belongs
from policylint.patterns import Pattern
from policylint.render.in_use import Naming, may_tell, naming
from policylint.render.live import NOT_LIVE
from policylint.render.unseen import operated, unseen
from policylint.schema.broken import forget_valid
from policylint.simulation import Simulation, simulate
from policylint.sources import Source, SourceError, open_source
from policylint.workspace.alternatives import DEFAULT, Alternative, Others, separate
from policylint.workspace.assumptions import Assumptions
from policylint.workspace.elsewhere import PodsElsewhere
from policylint.workspace.left_out import folded, languages, left_out
from policylint.workspace.templates import Templates

if TYPE_CHECKING:
    from policylint.budget import Cut
    from policylint.render.environments import Environment
    from policylint.render.shared import Shared
    from policylint.workspace.scope import ReportScope, WorldScope

SEMANTICS = ("gep-713", "gep-713-2023")
RENDERERS = ("builtin", "external", "helm", "off")
"""Ways to find out what is deployed."""
_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
_ORIGIN = "config.kubernetes.io/origin"
_NOTHING_GIVEN = Assumptions()
_OF_MANIFESTS = Pattern(r"[-\s{,]*[\"']?(?:apiVersion|kind)\b")
_OF_AN_API = Pattern(r"[\"']?(?:openapi|swagger|asyncapi)[\"']?:")
_BY_YTT = "ytt fills in its file"
"""Why an object is provisional whose file is a template as it stands."""
_OTHERWISE = "another of the alternatives among these files does not have it"


class Workspace:
    """The simulated environments of some paths.

    Attributes:
        simulations: one per environment, sorted by name.
        coverage: how much was read, and what could not be.
        mentioning: files (as shown) with the word `policylint` in them: they may hold suppressions.
        scope: what its findings are to concern; None for everything.
        kustomizations: those that may name releases of controllers and CRDs.
    """

    def __init__(
        self,
        source: Source,
        simulations: list[Simulation],
        coverage: Coverage,
        mentioning: frozenset[str] = frozenset(),
        scope: ReportScope | None = None,
        beside: Sequence[Simulation] = (),
        kustomizations: tuple[Naming, ...] = (),
    ) -> None:
        self.kustomizations = kustomizations
        self._source = source
        self._beside = beside
        self.scope = scope
        self.simulations = simulations
        self.coverage = coverage
        self.mentioning = mentioning

    @property
    def root(self) -> str | None:
        """The git root, or the directory given; None for stdin."""
        return self._source.root

    @property
    def alternatives(self) -> frozenset[str]:
        """The names of the alternatives among plain files; empty where something arranges them, or none is written
        twice."""
        return frozenset(simulation.world.name for simulation in self.simulations if simulation.world.alternative)

    @property
    def faults(self) -> list[Fault]:
        """Errors of our own so far, each once for all environments: what they stopped was not done whole."""
        of_all = (fault for simulation in self.simulations for fault in simulation.world.faults)
        return list({str(fault): fault for fault in of_all}.values())

    @property
    def files(self) -> list[str]:
        """The files that were read, as shown."""
        return [file.path for file in self._source.files()]

    def source_lines(self, file: str) -> list[str]:
        """Return the lines of a file for snippets; none when it cannot be read any more."""
        return self._source.text(file)

    def findings(
        self, select: set[str] | None = None, *, spent: dict[str, float] | None = None, last: bool = False
    ) -> list[Finding]:
        """Return all findings by file and place; the same finding of several environments once, with their names.

        Args:
            select: the ids of the rules that run; None for all that are on by default.
            spent: takes the seconds that each rule took, over all environments.
            last: whether hardly anything is asked of an environment once it is judged: what was looked up is given
                back before the next one is.
        """
        from policylint.checks import run

        if last:
            forget_valid()
        folded: dict[Finding, list[str]] = {}
        for simulation in (*self.simulations, *self._beside):
            for finding in run(simulation, select=select, spent=spent):
                folded.setdefault(finding, []).append(simulation.world.name)
            if last:
                simulation.give_back()
        named = [finding._replace(environments=tuple(sorted(set(names)))) for finding, names in folded.items()]
        if self.alternatives:
            named = self._of_alternatives(named)
        return sorted(named, key=finding_order)

    def _of_alternatives(self, findings: list[Finding]) -> list[Finding]:
        """Return findings, those as unknown that only some of the alternatives have which share the file: for which of
        them it is meant, nothing says."""
        having: dict[tuple[object, ...], set[str]] = defaultdict(set)
        for finding in findings:
            having[_place(finding)].update(finding.environments)
        judged = []
        for finding in findings:
            simulations = (*self.simulations, *self._beside)
            sharing = sum(finding.location.file in simulation.world.files for simulation in simulations)
            if sharing > len(having[_place(finding)]):
                finding = finding._replace(severity="note", confidence="unknown", ground=_OTHERWISE)
            judged.append(finding)
        return judged

    def scopes(self) -> dict[str, list[WorldScope]]:
        """Return what concerns the scope in each environment, by name; nothing where everything does."""
        if self.scope is None:
            return {}
        worlds = (simulation.world for simulation in self.simulations)
        return {world.name: [self.scope.of(world)] for world in worlds}

    def has_part(self, scope: ReportScope) -> bool:
        """Tell whether anything in an environment concerns a scope."""
        return any(scope.of(simulation.world).has_part() for simulation in self.simulations)

    def joined(self, apart: Workspace) -> Workspace:
        """Return the environments of this workspace beside those of one of the same source, in which nothing is out of
        scope."""
        names = {simulation.world.name for simulation in self.simulations}
        for simulation in apart.simulations:
            world = simulation.world
            while world.name in names:
                world.name = f"{world.name} alone"
            names.add(world.name)
        simulations = sorted((*self.simulations, *apart.simulations), key=lambda simulation: simulation.world.name)
        mentioning = self.mentioning | apart.mentioning
        coverage = self.coverage.plus(apart.coverage)
        kustomizations = (*self.kustomizations, *apart.kustomizations)
        return Workspace(self._source, simulations, coverage, mentioning, self.scope, self._beside, kustomizations)

    def with_simulations(self, simulations: Iterable[Simulation]) -> Workspace:
        """Return the same workspace with other states of its environments; those of others are left out."""
        names = {simulation.world.name for simulation in self.simulations}
        kept = [simulation for simulation in simulations if simulation.world.name in names]
        return Workspace(
            self._source, kept, self.coverage, self.mentioning, self.scope, kustomizations=self.kustomizations
        )


def _place(finding: Finding) -> tuple[object, ...]:
    return finding.rule, *finding.location.sort_key()


def finding_order(finding: Finding) -> tuple[object, ...]:
    """Return a sort key: by file and place, then by rule and message."""
    return finding.location.sort_key(), finding.rule, finding.message


def open_workspace(
    paths: Sequence[str] = (),
    *,
    semantics: str = "gep-713",
    snapshot: str | None = None,
    dump: bytes | None = None,
    strict: bool = False,
    given: Assumptions = _NOTHING_GIVEN,
    source: Source | None = None,
    env: Sequence[str] = (),
    render: str = "builtin",
    rendered: str = "",
    stated: Mapping[str, Sequence[str]] | None = None,
    shared_facts: SharedFacts | None = None,
    shared: Shared | None = None,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    alternatives: bool = True,
    undeployed: bool = False,
    scope: ReportScope | None = None,
    all_environments: bool = False,
    edited: Edited = NOTHING_EDITED,
) -> Workspace:
    """Read, place and simulate what is below some paths.

    Args:
        paths: files, directories, or `-` for stdin; none means the current directory.
        semantics: the edition of the pattern for kinds that do not say (docs/design/interfaces.md).
        snapshot: a `kubectl get -o yaml` dump: real creation timestamps, and objects that are not in git.
        dump: its content, where that is not the one on disk.
        strict: parse every document, also those that no rule reads.
        given: what the configuration says of the world.
        source: where the files are, if not in the work tree below `paths`.
        env: only these environments, by name; none means all.
        stated: environments of the configuration: name → directories at which it begins.
        render: how to find out what is deployed where (RENDERERS); `off` takes the files as they are.
        rendered: the directory of charts that were rendered before; "" for none.
        shared_facts: what is known of contents from another workspace of the run.
        shared: what was read and rendered for another workspace, taken over where it is the same.
        settings: of controllers that stand in no manifest, by implementation and name (docs/implementations.md); they
            win over those of `given`.
        alternatives: whether plain directories that write the same objects are environments of their own.
        undeployed: whether files are taken as they are where nothing of what is to be checked is deployed.
        scope: what findings are to concern.
        all_environments: whether environments in which nothing concerns the scope are simulated as well.
        edited: what a change touches, which is read whoever names it.

    Raises:
        UsageError: a path is not there, the snapshot cannot be read, a configured kind is none, or the edition, the
            environment or the way to render is unknown.
    """
    if render not in RENDERERS:
        raise UsageError(f"unknown renderer {render!r} (known: {', '.join(RENDERERS)})")
    if semantics not in SEMANTICS:
        raise UsageError(f"unknown semantics {semantics!r} (known: {', '.join(SEMANTICS)})")
    if settings:
        given = given._replace(settings={**given.settings, **settings})
    try:
        source = source or open_source(list(paths) or ["."], exclude=given.excluded or ())
    except SourceError as error:
        raise UsageError(str(error)) from error
    groups = known_groups() | given.groups()
    read_set = ReadSet(given.kinds, edited)
    loaded = load(
        source, groups, everything=strict, shared_facts=shared_facts, read_set=read_set, rendered=render != "off"
    )
    cluster_scoped = loaded.cluster_scoped | cluster_scoped_kinds(loaded.documents)
    definitions = Definitions(source, loaded)
    others = languages(source, loaded.skipped)
    templates = Templates(source, charts=render != "helm")
    pods = PodsElsewhere(source, charts=render != "helm", groups=partial(_third_parties, loaded))
    tree = _Tree(
        *(source, loaded, definitions, LeftUnread(loaded.unread, definitions.read), groups, cluster_scoped, given),
        *(semantics, snapshot, dump, shared, others, templates, pods),
        installed=cache(partial(_installed, source)),
        kustomizations=naming(loaded.documents, loaded.files) if loaded.places else (),
    )
    budget, faults = Budget(len(loaded.documents)), list(loaded.faults)
    picked = None if all_environments else scope
    simulations = None if render == "off" else tree.rendered(env, stated, render, budget, faults, picked, rendered)
    beside: list[Simulation] = []
    if simulations is None:
        written = tree.as_written(env, faults, alternatives=alternatives, cut=budget.cut)
        simulations = [simulation for simulation in written if not picked or picked.of(simulation.world).has_part()]
        beside = [simulation for simulation in written if simulation not in simulations]
    coverage = _coverage(loaded, simulations, others, cut_off=budget.cut is not None)
    if (
        undeployed
        and not (coverage.checked or env or stated or scope)
        and (lonely := _not_deployed(coverage, simulations))
    ):
        simulations = tree.as_written((), faults, alternatives=alternatives, cut=budget.cut, not_seen=(lonely,))
        coverage = _coverage(loaded, simulations, others, cut_off=budget.cut is not None)
    return Workspace(source, simulations, coverage, loaded.mentioning, scope, beside, tree.kustomizations)


def _not_deployed(coverage: Coverage, simulations: Sequence[Simulation]) -> str:
    """Return a sentence for the coverage line on what nothing deploys; "" where nothing is, where a build that fails is
    why, and where requests come in by what is deployed: Ingresses, Services that are published."""
    from policylint.doors import has_doors
    from policylint.render.stops import STOPPED

    number = coverage.orphans
    if not number or any(note.rule == STOPPED for simulation in simulations for note in simulation.world.notes):
        return ""
    if any(map(has_doors, simulations)):
        return ""
    what = "it" if number == 1 else "them"
    return f"what deploys {count(number, 'object')}: no Flux, Argo CD or kustomize root references {what}"


def _installed(source: Source) -> Sequence[Custom]:
    """Return the releases that scripts of a tree install."""
    from policylint.render.by_hand import installed

    def read(path: str) -> bytes | None:
        try:
            return source.at(path, path).read()
        except SourceError:
            return None

    return list(installed(source.files_below(""), read))


def _third_parties(loaded: Loaded) -> frozenset[str]:
    """Return the API groups of the objects of a tree that are no part of Kubernetes."""
    groups = {document.api_version.rpartition("/")[0] for document in loaded.unread}
    groups.update(
        str(mapping(document.value).get("apiVersion", "")).rpartition("/")[0] for document in loaded.documents
    )
    return frozenset(group for group in groups if not group.endswith("k8s.io"))


def known_groups() -> frozenset[str]:
    """Return the API groups of the shipped catalog, without parsing it."""
    from policylint.catalog.kinds import shipped_groups

    return shipped_groups()


def _is_among(entries: Mapping[str, Collection[str]], relative: Mapping[str, str], document: Written) -> bool:
    """Return whether the file of a document is among what entries deploy."""
    path = relative.get(document.file, document.file)
    return any(path in deployed for deployed in entries.values())


def _check_names(env: Sequence[str], known: Sequence[str]) -> None:
    for name in env:
        if name not in known:
            raise UsageError(f"no environment {name!r} (known: {', '.join(known)})")


class _Tree(NamedTuple):
    """A tree that was read, with the arguments of `open_workspace` that simulations depend on."""

    source: Source
    loaded: Loaded
    definitions: Definitions
    left_unread: LeftUnread
    groups: frozenset[str]
    cluster_scoped: frozenset[tuple[str, str]]
    given: Assumptions
    semantics: str
    snapshot: str | None
    dump: bytes | None
    shared: Shared | None
    languages: Mapping[str, int]
    templates: Templates
    pods: PodsElsewhere
    installed: Callable[[], Sequence[Custom]]
    kustomizations: tuple[Naming, ...]

    def rendered(
        self,
        env: Sequence[str],
        stated: Mapping[str, Sequence[str]] | None,
        render: str,
        budget: Budget,
        faults: list[Fault],
        scope: ReportScope | None,
        charts: str,
    ) -> list[Simulation] | None:
        """Simulate each environment that Flux, Argo CD or kustomize make of the tree; None where none of them does.

        Args:
            budget: the work that rendering may cost.
            faults: errors of our own so far; takes that of a rendering that failed.
            scope: only environments that have a part in it.
            charts: the directory of those that were rendered before.
        """
        if not stated and render != "helm" and not self.loaded.places:
            return None
        from policylint.render.environments import environments, without_repeats
        from policylint.render.shared import Shared

        places = (self.source, self.loaded, self.cluster_scoped, self.groups, stated)
        try:
            known = environments(
                *places,
                programs=render in PROGRAMS,
                helm=render == "helm",
                shared=self.shared,
                budget=budget,
                rendered=charts,
            )
        except NOT_OURS:
            raise
        except Exception as error:
            faults.append(fault_of(error, "rendering"))
            return None
        if not known:
            return None
        _check_names(env, [environment.name for environment in known])
        shared = self.shared or (Shared() if len(known) > 1 else None)
        relative, simulations = self._relative(), []
        for environment in known:
            if (env and environment.name not in env) or not self._may_have_part(scope, environment):
                continue
            its_faults = list(faults)
            objects, catalog = self._completed(environment.resources, its_faults)
            objects = _once(without_repeats(objects), shared)
            made_elsewhere = Unseen(self.given.all_here(catalog))
            for gap in environment.gaps:
                if gap.key is not None:
                    made_elsewhere.add_made(gap.key, gap.reason)
                    continue
                made_elsewhere.add(gap.reason, gap.namespace or None, gateway_api=gap.gateway_api, source=gap.source)
            left_unread = self.left_unread.by_kind
            operated(made_elsewhere, objects, left_unread, self._policy_groups(catalog), self.definitions.read)
            world = self._world(
                environment.name,
                objects,
                unseen=made_elsewhere,
                problems=environment.problems,
                stopping=environment.stopping,
                not_rendered=environment.not_rendered,
                orphans=environment.orphans,
                roots=environment.roots,
                notes=environment.notes,
                entries=environment.entries,
                faults=its_faults,
            )
            world.is_deployed = partial(_is_among, environment.entries, relative)
            if scope is None or scope.of(world).has_part():
                simulations.append(simulate(world, self._judged(world, catalog)))
        return simulations

    def _may_have_part(self, scope: ReportScope | None, environment: Environment) -> bool:
        """Tell whether an environment may have a part in a scope, before a world is made of it: most of the clusters of
        a large repository have none."""
        if scope is None or self.snapshot is not None:
            return True
        files = {resource.document.file for resource in environment.resources}
        if self.given.written is not None:
            files.add(self.given.written.file)
        return scope.has_part(environment.entries, files)

    def as_written(
        self,
        env: Sequence[str],
        faults: list[Fault],
        *,
        alternatives: bool,
        cut: Cut | None,
        not_seen: tuple[str, ...] = (),
    ) -> list[Simulation]:
        """Simulate the files as they are: together, or those that exclude each other one by one.

        Args:
            faults: errors of our own so far.
            cut: where rendering was cut off, before anything came of it.
            not_seen: sentences for the coverage line.
        """
        documents, movable = self.loaded.documents, self.loaded.places
        objects = resources(
            documents,
            cluster_scoped=self.cluster_scoped,
            movable=movable,
            left_out=patch_files(documents) if movable else frozenset(),
            known=None if self.shared is None else self.shared.of_documents(self.cluster_scoped, movable),
        )
        objects, catalog = self._completed(_at_origins(objects, self.source), faults)
        objects = _once(objects, self.shared)
        loaded, groups = self.loaded, self._policy_groups(catalog)
        made_elsewhere, not_rendered = unseen(
            objects, self.left_unread.by_kind, loaded.templates, groups, self.definitions.read, placed=movable
        )
        made_elsewhere.complete = self.given.all_here(catalog)
        notes: Sequence[Note] = ()
        if cut is not None:
            from policylint.render.journal import Journal

            journal = Journal()
            journal.cut_off(cut)
            notes = journal.notes
            objects = [resource.replaced(provisional="rendering was cut off") for resource in objects]
            for gap in journal.gaps:
                made_elsewhere.add(gap.reason)
        groups_of_files, tests = self._apart(objects)
        if tests:
            places = leading([f"{test}/" for test in sorted(set(tests.values()))], 3)
            not_rendered = (*not_rendered, f"{count(len(tests), 'file')} in {places}, which nothing deploys")
        not_rendered = (*not_seen, *not_rendered)
        worlds = list(self._worlds(objects, groups_of_files, catalog, alternatives=alternatives))
        _check_names(env, [world.name for world in worlds])
        problems = [problem for problem in loaded.problems if problem.file not in tests and self._is_ours(problem)]
        simulations = []
        for name, own, elsewhere, is_alternative in worlds:
            if env and name not in env:
                continue
            world = self._world(
                name,
                own,
                notes=notes,
                unseen=made_elsewhere,
                problems=problems,
                movable=movable,
                not_rendered=not_rendered,
                orphans=elsewhere,
                plain=True,
                alternative=is_alternative,
                faults=faults,
            )
            simulations.append(simulate(world, self._judged(world, catalog)))
        return simulations

    def _is_ours(self, problem: Problem) -> bool:
        """Return whether a file with a problem would hold manifests: not the index of a chart, or an OpenAPI
        document."""
        if problem.code not in (YAML_SYNTAX, DUPLICATE_KEY) or self.source.named or self.source.root is None:
            return True
        lines = self.source.text(problem.file)
        if any(map(_OF_AN_API.match, lines)):  # its objects have kinds, too
            return any(line.startswith("apiVersion:") for line in lines)
        return any(map(_OF_MANIFESTS.match, lines))

    def _apart(self, objects: list[Resource]) -> tuple[dict[str, list[Resource]], Mapping[str, str]]:
        """Return the objects of plain files by what they are for, examples by themselves, and the files left out."""
        counting = {resource.document.file for resource in objects}
        counting.update(problem.file for problem in self.loaded.problems)
        if all(NOT_LIVE.isdisjoint(file.split("/")) for file in counting):
            return {DEFAULT: objects}, {}
        from policylint.workspace.examples import apart

        relative = self._relative()
        paths = {file: relative[file] for file in counting if file in relative}
        return apart(objects, paths, self.source.given, (self.source.root or "").rpartition(os.sep)[2])

    def _worlds(
        self, objects: list[Resource], groups: Mapping[str, list[Resource]], catalog: Catalog, *, alternatives: bool
    ) -> Iterator[Alternative]:
        """Yield the environments of plain files, sorted by name: of each group those that exclude each other."""
        everything = {resource.key: resource for resource in objects} if len(groups) > 1 else {}
        for group, own in sorted(groups.items()):
            known = frozenset(resource.key for resource in own)
            for variant in (separate(own, catalog.concerns) if alternatives else ()) or [
                Alternative(DEFAULT, own, {}, False)
            ]:
                name = variant.name if group == DEFAULT else group
                if group != DEFAULT and variant.name != DEFAULT:
                    name = f"{group}/{variant.name}"
                elsewhere = Others(everything, known, variant.elsewhere)
                yield variant._replace(name=name, elsewhere=elsewhere)

    def _relative(self) -> Mapping[str, str]:
        """The paths of the files below the root, by the paths that findings show."""
        return {file.path: file.relative for file in self.loaded.files}

    def _world(self, name: str, objects: list[Resource], unseen: Unseen, **details: Any) -> World:
        world = World(
            name,
            objects,
            assumed=self.given.assumed(),
            cluster_scoped=self.cluster_scoped,
            unseen=Unseen(unseen.complete) if unseen.complete.everything else unseen,
            partial=not (self.source.named or unseen.complete.everything),
            languages=self.languages,
            **details,
        )
        world.definitions, world.lines, world.network = self.definitions, self.source.text, self.given.network
        world.templated = self.templates.reason
        world.pods_elsewhere = self.pods.of(world)
        if not self.source.named and self.source.root is not None:
            world.unseen.look_last(self.installed)
        world.unread = self.left_unread.reason
        return world

    def _completed(self, objects: list[Resource], faults: list[Fault]) -> tuple[list[Resource], Catalog]:
        """Return objects with what the snapshot and the configuration add to them, and the kinds of their policies."""
        if self.snapshot is not None:
            objects = _with_snapshot(objects, self.snapshot, self.dump, self.cluster_scoped)
        if templates := frozenset(self.loaded.templates):
            objects = [
                resource.replaced(provisional=_BY_YTT) if resource.document.file in templates else resource
                for resource in objects
            ]
        objects = self.given.completed(objects)
        catalog = _catalog(objects, self.semantics, self.given, faults)
        return _cluster_scoped_policies(objects, catalog), catalog

    def _judged(self, world: World, catalog: Catalog) -> Catalog:
        """Return the catalog for the releases that are in use in an environment, as far as they are known."""
        if not self.given.releases and not self.kustomizations and not may_tell(world):
            return catalog
        from policylint.workspace.releases import judged

        return judged(world, catalog, self.given.releases, self.kustomizations)

    def _policy_groups(self, catalog: Catalog) -> frozenset[str]:
        return self.groups | {kind.group for kind in catalog.kinds()}


def _once(objects: Iterable[Resource], shared: Shared | None) -> list[Resource]:
    """Return objects that another environment or the other side of a diff has, too, as it has them."""
    return list(objects) if shared is None else shared.resources(objects)


def _at_origins(objects: list[Resource], source: Source) -> list[Resource]:
    """Locate rendered objects in the files that they say they come from (kustomize's origin annotation)."""
    if not any(_ORIGIN in resource.annotations for resource in objects):
        return objects
    from policylint.documents import read
    from policylint.render.origins import located

    def documents_of(path: str) -> list[Document]:
        if not belongs(os.path.realpath(path), os.path.realpath(source.root or os.curdir)):
            return []  # what the annotation names is anybody's to say
        try:
            return read(source.file(path).read(), path).documents
        except SourceError:
            return []

    return located(objects, documents_of)


def _catalog(objects: Iterable[Resource], semantics: str, given: Assumptions, faults: list[Fault]) -> Catalog:
    by_kind: dict[tuple[str, str], list[Resource]] = defaultdict(list)
    for resource in objects:
        by_kind[resource.key.group, resource.key.kind].append(resource)
    groups = {group for group, _ in by_kind}
    crds = by_kind.get(_CRD, [])
    try:
        return load_catalog(
            groups,
            crds=crds,
            objects=by_kind,
            configured=given.kinds,
            semantics=semantics,
            settings=given.settings,
            faults=faults,
        )
    except CatalogError as error:
        raise UsageError(str(error)) from error


def _cluster_scoped_policies(objects: list[Resource], catalog: Catalog) -> list[Resource]:
    """Take the default namespace from objects of kinds that only the catalog knows to be cluster-scoped, no CRD."""
    placed = []
    for resource in objects:
        key, kind = resource.key, None
        if key.namespace and "." in key.group:
            kind = catalog.get(key.group, key.kind)
        if kind is not None and kind.cluster_scoped and kind.origin == "catalog":
            resource = resource.replaced(key=key._replace(namespace=""))
        placed.append(resource)
    return placed


def _with_snapshot(
    objects: list[Resource], path: str, data: bytes | None, cluster_scoped: frozenset[tuple[str, str]]
) -> list[Resource]:
    """Give objects the creation timestamps of a cluster dump, and add the dump's objects that are not in git."""
    from policylint.documents import read

    try:
        if data is None:
            with open(path, "rb") as file:  # noqa: PTH123 - pathlib is not imported for this
                data = file.read()
    except OSError as error:
        raise UsageError(f"cannot read snapshot {path!r}: {error.strerror or error}") from error
    reading = read(data, path)
    for problem in reading.problems:
        if problem.code != "duplicate-key":
            raise UsageError(f"snapshot {problem.file}:{problem.line}: {problem.message}")
    dump = resources(reading.documents, cluster_scoped=cluster_scoped, movable=False)
    live = {resource.key: resource for resource in dump}
    dated = []
    for resource in objects:
        deployed = live.pop(resource.key, None)
        if deployed is not None and deployed.created and not resource.created:
            body = {**resource.body, "metadata": {**resource.metadata, "creationTimestamp": deployed.created}}
            resource = resource.replaced(body=body)
        dated.append(resource)
    return [*dated, *live.values()]


def _coverage(
    loaded: Loaded, simulations: Sequence[Simulation], other_languages: Mapping[str, int], *, cut_off: bool
) -> Coverage:
    return Coverage(
        files=len(loaded.files),
        documents=len(loaded.documents) + len(loaded.unread) + loaded.idle_documents,
        unread=len(loaded.unread),
        skipped=dict(sorted(loaded.skipped.items())),
        not_rendered=folded(line for simulation in simulations for line in simulation.world.not_rendered),
        resources=sum(len(simulation.world.resources) for simulation in simulations),
        policies=sum(len(simulation.policies) for simulation in simulations),
        routes=sum(len(simulation.topology.routes) for simulation in simulations),
        gateways=sum(len(simulation.topology.gateways) for simulation in simulations),
        network_policies=sum(len(simulation.world.of_kind(*kind)) for simulation in simulations for kind in EVALUATED),
        cluster_policies=sum(len(simulation.world.of_kind(*POLICY)) for simulation in simulations),
        cut_off=cut_off or any(simulation.cut for simulation in simulations),
        unseen=tuple(sorted({str(key) for simulation in simulations for key in simulation.topology.unseen})),
        unevaluated=_unevaluated(simulations),
        left_out=tuple(left_out(loaded, simulations, other_languages)),
        releases=_releases(simulations),
    )


def _releases(simulations: Sequence[Simulation]) -> tuple[str, ...]:
    """Return the releases by which environments are judged, with what says that they are in use."""
    if not any(simulation.catalog.releases for simulation in simulations):
        return ()
    from policylint.workspace.releases import in_words

    return in_words(simulations)


def _unevaluated(simulations: Sequence[Simulation]) -> tuple[str, ...]:
    """Return the kinds that have no evaluator, with the number of objects: those that filters and annotations name, and
    policies of kinds that are known by their shape alone."""
    found = {
        (binding.wanted, binding.form)
        for simulation in simulations
        for binding in simulation.unevaluated
        if binding.resolution.found and binding.form != "target"
    }
    shaped = {key for simulation in simulations for key, state in simulation.policies.items() if state.is_of_shape}
    numbers: dict[tuple[str, str], int] = {}
    for wanted, form in sorted(found):
        numbers[wanted.kind, form] = numbers.get((wanted.kind, form), 0) + 1
    named = [f"{count(number, kind)} by {form}" for (kind, form), number in numbers.items()]
    unknown = Counter(key.kind for key in sorted(shaped))
    named += [f"{count(number, kind, f'{kind[:-1]}ies')} of an unknown kind" for kind, number in unknown.items()]
    return tuple(named)


__all__ = ["RENDERERS", "SEMANTICS", "Coverage", "UsageError", "Workspace", "finding_order", "open_workspace"]
