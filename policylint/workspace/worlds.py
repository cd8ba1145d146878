"""From the documents of a tree to the worlds of its environments, each simulated."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from policylint.budget import Budget
from policylint.catalog.kinds import Catalog, CatalogError, load_catalog
from policylint.config import PROGRAMS
from policylint.documents import Document
from policylint.documents.problem import DUPLICATE_KEY, YAML_SYNTAX
from policylint.errors import UsageError
from policylint.load.definitions import Definitions
from policylint.load.left_unread import LeftUnread
from policylint.load.objects import patch_files, resources
from policylint.load.reading import Loaded
from policylint.model import Location, Resource, ResourceKey, World
from policylint.model.faults import NOT_OURS, Fault, fault_of
from policylint.model.kinds import DEFINITION
from policylint.model.resource import Written
from policylint.model.unseen import Custom, Unseen
from policylint.model.words import count, leading
from policylint.model.world import Note
from policylint.namedtuple import NamedTuple
from policylint.outside import belongs
from policylint.render.compared import compared
from policylint.render.in_use import Naming, may_tell
from policylint.render.kustomize.as_read import as_listed
from policylint.render.lessons import lessons
from policylint.render.live import ENVIRONMENTS, NOT_LIVE
from policylint.render.unseen import operated, unseen
from policylint.simulation import Simulation, simulate
from policylint.sources import Source, SourceError
from policylint.sources.skipping import HELM_CHART
from policylint.workspace.alternatives import DEFAULT, Alternative, Others, separate
from policylint.workspace.assumptions import Assumptions
from policylint.workspace.charts_beside import deployed, entries_of, installed_elsewhere
from policylint.workspace.elsewhere import PodsElsewhere
from policylint.workspace.templates import Templates
from policylint.workspace.unreadable import is_printed, would_hold_manifests
from policylint.workspace.values_beside import values_beside, values_files

if TYPE_CHECKING:
    from policylint.budget import Cut
    from policylint.render.environments import Environment
    from policylint.render.flux.unbuilt import HasPart
    from policylint.render.lone_charts import LoneChart
    from policylint.render.programs import Programs
    from policylint.render.scripts import Scripts
    from policylint.render.shared import Shared
    from policylint.render.steps import Steps
    from policylint.workspace.scope import ReportScope

_NAMESPACE = ("", "Namespace")
_ORIGIN = "config.kubernetes.io/origin"
NOTHING_GIVEN = Assumptions()
_DEPLOYERS = frozenset(
    {"argoproj.io", "fleet.cattle.io", "helm.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io"}
    | {"source.toolkit.fluxcd.io"}
)
"""Groups of the objects that deploy others."""
_BELOW = 4
"""Lines below the first one of a value that are taken for its own, at most."""
_TEMPLATED = "a template engine fills in its file"
"""Why an object is provisional whose file is a template as it stands."""


def _is_among(entries: Mapping[str, Collection[str]], relative: Mapping[str, str], document: Written) -> bool:
    """Return whether the file of a document is among what entries deploy."""
    path = relative.get(document.file, document.file)
    return any(path in deployed for deployed in entries.values())


def _leaves_all(document: Written) -> bool:  # noqa: ARG001
    """Return that a document is not deployed, where people and scripts apply everything."""
    return False


def _loose(objects: Iterable[Resource], is_deployed: Callable[[Written], bool]) -> list[Resource]:
    """Return the objects of plain files, which a deployer leaves alone."""
    known: dict[str, bool] = {}
    found = []
    for each in objects:
        file = each.document.file
        if file not in known:
            known[file] = is_deployed(each.document)
        if not known[file]:
            found.append(each)
    return found


def _check_names(env: Sequence[str], known: Sequence[str]) -> None:
    for name in env:
        if name not in known:
            raise UsageError(f"no environment {name!r} (known: {', '.join(known)})")


class ReadTree(NamedTuple):
    """A tree that was read, with the arguments of `open_workspace` that simulations depend on.

    Args:
        relative: returns the paths of the files below the root, by the paths that findings show.
    """

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
    by_hand: Callable[[], Sequence[tuple[str, str, str]]]
    scripts: Callable[[], Scripts]
    relative: Callable[[], Mapping[str, str]]
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
        *,
        alternatives: bool,
        leftovers: bool,
    ) -> list[Simulation] | None:
        """Simulate each environment that Flux, Argo CD or kustomize make of the tree; None where none of them does.

        Args:
            budget: the work that rendering may cost.
            faults: errors of our own so far; takes that of a rendering that failed.
            scope: only environments that have a part in it.
            charts: the directory of those that were rendered before.
            alternatives: whether plain directories that write the same objects are environments of their own.
            leftovers: whether what Flux or Argo CD leave over is arranged as if they were not there, where it is more.
        """
        if not (stated or self.loaded.places or self.source.skipped.get(HELM_CHART)):
            return None
        from policylint.render.environments import environments, without_repeats
        from policylint.render.shared import Shared
        from policylint.workspace.shared_files import shared_by

        places = (self.source, self.loaded, self.cluster_scoped, self.groups, stated)
        try:
            known = environments(
                *places,
                programs=render in PROGRAMS,
                helm=render == "helm",
                shared=self.shared,
                budget=budget,
                rendered=charts,
                alternatives=alternatives,
                leftovers=leftovers,
                has_part=None if self.source.skipped.get(HELM_CHART) else self._asks_about(scope),
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
        relative, simulations = self.relative(), []
        alone: list[LoneChart] = []
        if self.source.skipped.get(HELM_CHART):
            from policylint.workspace.charts_beside import beside, joining, placed

            alone = beside(self._lone_charts(render, deployed(known, relative)), known)
        values = values_files(self.loaded.files)
        taken = deployed(known, relative) if values else set()
        values = [file for file in values if not taken.intersection((file.path, file.relative))]
        labels = cache(self._labels)
        homes = self._homes(each for each in known if each.alternative_of)
        printed = cache(lambda file: self.source.root is not None and is_printed(self.source.text(file)))
        for environment in known:
            if (env and environment.name not in env) or not self._may_have_part(scope, environment):
                continue
            its_faults = list(faults)
            own = _labelled(environment.resources, labels)
            if alone:
                own = [*own, *joining(alone, alone=len(known) == 1)]
            objects, catalog = self._completed(own, its_faults)
            if alone:
                objects = placed(objects)
            is_deployed = partial(_is_among, environment.entries, relative)
            no_deployer = all(each.key.group not in _DEPLOYERS for each in objects)
            objects = _once(without_repeats(objects), shared)
            objects = self._applied_into(objects, _leaves_all if no_deployer else is_deployed)
            made_elsewhere = Unseen(self.given.all_here(catalog))
            for gap in environment.gaps:
                if gap.key is not None:
                    made_elsewhere.add_made(gap.key, gap.reason)
                    continue
                made_elsewhere.add(gap.reason, gap.namespace or None, gateway_api=gap.gateway_api, source=gap.source)
            for gap in () if environment.by_deployer else values_beside(objects, values):
                made_elsewhere.add(gap.reason, gap.namespace, gateway_api=gap.gateway_api, source=gap.source)
            left_unread = self.left_unread.by_kind
            operated(made_elsewhere, objects, left_unread, self._policy_groups(catalog), self.definitions.read)
            world = self._world(
                environment.name,
                objects,
                unseen=made_elsewhere,
                problems=[each for each in environment.problems if not printed(each.file)],
                stopping=environment.stopping,
                not_rendered=environment.not_rendered,
                orphans=environment.orphans,
                roots=environment.roots,
                notes=environment.notes,
                entries={**environment.entries, **entries_of(alone, objects)},
                alternative_of=environment.alternative_of,
                faults=its_faults,
            )
            if environment.alternative_of:
                world.definitions = self._definitions(self._home(environment.name, world.files), homes)
                world.beside = _beside(
                    each.resources
                    for each in known
                    if each.alternative_of == environment.alternative_of and each is not environment
                )
            world.by_deployer = environment.by_deployer
            world.is_deployed = is_deployed
            loose = objects if _is_by_hand(world) else _loose(objects, is_deployed)
            others = shared_by(objects, environment.name, known) if len(known) > 1 else None
            world.apart = self._never_together(loose, others=others, built=environment.entries.values())
            if scope is None or scope.of(world).has_part():
                simulations.append(simulate(world, self._judged(world, catalog)))
        return simulations

    def _may_have_part(self, scope: ReportScope | None, environment: Environment) -> bool:
        """Tell whether an environment may have a part in a scope, before a world is made of it: most of the clusters of
        a large repository have none."""
        asks_about = self._asks_about(scope)
        files = {resource.document.file for resource in environment.resources}
        return asks_about is None or asks_about(environment.entries, files)

    def _asks_about(self, scope: ReportScope | None) -> HasPart | None:
        """Return what tells which environments may have a part in a scope; None where all have one."""
        if scope is None or self.snapshot is not None:
            return None
        stated = [] if self.given.written is None else [self.given.written.file]
        return lambda entries, files: scope.has_part(entries, {*files, *stated})

    def as_written(
        self,
        env: Sequence[str],
        faults: list[Fault],
        *,
        alternatives: bool,
        render: str,
        cut: Cut | None,
        not_seen: tuple[str, ...] = (),
    ) -> list[Simulation]:
        """Simulate the files as they are: together, or those that exclude each other one by one.

        Args:
            faults: errors of our own so far.
            render: how charts that nothing installs are rendered, with their own values; `off` for not at all.
            cut: where rendering was cut off, before anything came of it.
            not_seen: sentences for the coverage line.
        """
        from policylint.workspace.together import are_together

        documents, movable = self.loaded.documents, self.loaded.places
        objects = resources(
            documents,
            cluster_scoped=self.cluster_scoped,
            movable=movable,
            left_out=(patch_files(documents) if movable else frozenset()) | compared(self.source, self.loaded),
            known=None if self.shared is None else self.shared.of_documents(self.cluster_scoped, movable),
        )
        objects = _labelled(objects if movable else self._applied_into(objects, _leaves_all), self._labels)
        objects = as_listed(objects, documents, self.loaded)
        alone = self._lone_charts(render) if cut is None else []
        objects = [*_at_origins(objects, self.source), *(each for chart in alone for each in chart.resources)]
        objects, catalog = self._completed(objects, faults)
        objects = _once(objects, self.shared)
        loaded, groups = self.loaded, self._policy_groups(catalog)
        made_elsewhere, not_rendered = unseen(
            *(objects, self.left_unread.by_kind, loaded.templates, groups, self.definitions.read),
            placed=movable,
            installed=frozenset().union(*(each.seen for each in alone)),
        )
        made_elsewhere.complete = self.given.all_here(catalog)
        not_rendered += installed_elsewhere(alone, made_elsewhere)
        for gap in values_beside(objects, values_files(loaded.files)):
            made_elsewhere.add(gap.reason, gap.namespace, gateway_api=gap.gateway_api, source=gap.source)
        notes: Sequence[Note] = [note for chart in alone for note in chart.notes]
        if cut is not None:
            from policylint.render.journal import Journal

            journal = Journal()
            journal.cut_off(cut)
            notes = journal.notes
            objects = [resource.replaced(provisional="rendering was cut off") for resource in objects]
            for gap in journal.gaps:
                made_elsewhere.add(gap.reason)
        groups_of_files, tests = self._apart(objects, alone)
        if tests:
            places = leading([f"{test}/" for test in sorted(set(tests.values()))], 3)
            not_rendered = (*not_rendered, f"{count(len(tests), 'file')} in {places}, which nothing deploys")
        not_rendered = (*not_seen, *not_rendered)
        worlds = list(self._worlds(objects, groups_of_files, catalog, alternatives=alternatives))
        _check_names(env, [world.name for world in worlds])
        _share(each.resources for each in worlds)
        is_ours = cache(partial(would_hold_manifests, self.source))
        problems = [
            problem
            for problem in loaded.problems
            if problem.file not in tests and (problem.code not in (YAML_SYNTAX, DUPLICATE_KEY) or is_ours(problem.file))
        ]
        simulations = []
        homes = self._homes(worlds if len(worlds) > 1 else ())
        alternatives_here = [name for name, _, _, is_alternative in worlds if is_alternative]
        apart = self._never_together(objects, alternatives_here, homes)
        tried = cache(lambda: tuple(f"{each}/" for each in lessons(self.relative().values()) if each))
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
                entries=entries_of(alone, own),
                alternative_of=DEFAULT if is_alternative else "",
                faults=faults,
            )
            world.apart = apart
            world.are_together = partial(are_together, self.relative)
            if is_alternative:
                world.definitions = self._definitions(self._home(name, world.files), homes)
                world.beside = _beside(
                    each.resources for each in worlds if each.is_one_of_several and each.name != name
                )
            elif tried():
                world.definitions = self._outside(tried())
            simulations.append(simulate(world, self._judged(world, catalog)))
        return simulations

    def _never_together(
        self,
        objects: Sequence[Resource],
        alternatives: Iterable[str] = (),
        homes: Iterable[str] = (),
        others: Callable[[Sequence[ResourceKey]], str] | None = None,
        built: Collection[Collection[str]] = (),
    ) -> Callable[[Iterable[ResourceKey], bool | None, Location | None], str]:
        """Return what tells why objects of plain files stand together at no time, or not as they are written (at a
        place), "" where nothing says so: of rivals, of others, and of the form of one (None), before a cluster has it.

        Args:
            alternatives: directories that exclude each other.
            homes: where these are, each with a slash at its end.
            others: see `shared_by`.
            built: what deployments take in, each a set of files.
        """
        if self.source.named or self.source.root is None:
            return lambda *asked: ""  # noqa: ARG005
        patching, giving, replacing = self._patching(), self._giving(objects), self._replacing(objects)
        tried = [each for each in alternatives if ENVIRONMENTS.isdisjoint(each.split("/")) and each != DEFAULT]
        places = {home[: home.rfind("/", 0, -1) + 1] for home in homes if home}

        @cache
        def known() -> Steps:
            from policylint.render.steps import steps

            return steps(objects, self.relative(), self.scripts())

        def reason(keys: Iterable[ResourceKey], are_rivals: bool | None, place: Location | None) -> str:
            several = tuple(dict.fromkeys(keys))
            apart = ""
            if are_rivals is not None and len(several) > 1 and objects:
                apart = known().reason(several, are_rivals=are_rivals)
                if are_rivals and not apart:
                    apart = known().in_directories(several, tried, places, built)
            if others is not None and are_rivals is False:
                apart = apart or others(several)
            if are_rivals is not None and not apart:
                apart = next((f"{script} patches {key}" for key in several if (script := patching(key))), "")
            return apart or next((why for key in several if (why := giving(key))), "") or replacing(place)

        return reason

    def _applied_into(self, objects: list[Resource], is_deployed: Callable[[Written], bool]) -> list[Resource]:
        """Return objects; those that no deployer applies and that state no namespace are in the one of scripts."""
        unplaced = [each for each in objects if each.key.namespace == "default" and not each.metadata.get("namespace")]
        unplaced = _loose(unplaced, is_deployed)
        if not unplaced or self.source.named or self.source.root is None:
            return objects
        from policylint.render.by_hand import namespaces

        into, relative = namespaces(self.scripts()), self.relative()
        moved: dict[int, Resource] = {}
        for each in unplaced if into else ():
            path = relative.get(each.document.file, "")
            namespace = into.get(path) or into.get(path.rpartition("/")[0])
            if namespace and namespace != "default":
                moved[id(each)] = each.replaced(key=each.key._replace(namespace=namespace))
        return [moved.get(id(each), each) for each in objects]

    def _patching(self) -> Callable[[ResourceKey], str]:
        """Return what tells which script patches an object of Gateway API or of an extension of Kubernetes."""

        @cache
        def known() -> Mapping[tuple[str, str], str]:
            from policylint.render.by_hand import patched

            return patched(self.scripts())

        return lambda key: known().get((key.kind.lower(), key.name), "") if "." in key.group else ""

    def _giving(self, objects: Sequence[Resource]) -> Callable[[ResourceKey], str]:
        """Return what tells which program gives such an object something before it applies it."""

        @cache
        def known() -> tuple[Mapping[ResourceKey, str], Programs]:
            from policylint.render.programs import Programs

            relative = self.relative()
            files = {each.key: relative.get(each.document.file, each.document.file) for each in objects}
            return files, Programs(self.scripts())

        @cache
        def why(key: ResourceKey) -> str:
            files, programs = known()
            program = programs.filling_in(files[key]) if key in files else ""
            return f"{program} gives {key} what its file does not say" if program else ""

        return lambda key: why(key) if "." in key.group else ""

    def _replacing(self, objects: Sequence[Resource]) -> Callable[[Location | None], str]:
        """Return what tells which script replaces a word of what is written at a place, before it applies the file."""

        @cache
        def known() -> tuple[frozenset[str], Mapping[str, Sequence[tuple[str, str]]]]:
            from policylint.render.words_replaced import words_replaced

            return frozenset(each.document.file for each in objects), words_replaced(self.scripts())

        def why(place: Location) -> str:
            files, replaced = known()
            path = self.relative().get(place.file, place.file)
            words = (*replaced.get(path, ()), *replaced.get(path.rpartition("/")[0], ()))
            if not words or place.file not in files:
                return ""
            line, column, *_ = place.at()
            first, *others = self.source.text(place.file)[line - 1 : line + _BELOW] or [""]
            below = takewhile(lambda each: len(each) - len(each.lstrip()) >= column - 1, others)
            written = "\n".join((first, *below))
            return next((f"{script} replaces {word!r} in {path}" for word, script in words if word in written), "")

        return lambda place: "" if place is None else why(place)

    def _labels(self) -> Mapping[str, Mapping[str, str]]:
        """Return the labels that scripts give to namespaces."""
        if self.source.named or self.source.root is None:
            return {}
        from policylint.render.by_hand import labelled

        return labelled(self.scripts())

    def _lone_charts(self, render: str, deployed: Collection[str] = ()) -> list[LoneChart]:
        """Return the charts of the tree, which nothing installs; what that takes is not imported for trees without.

        Args:
            deployed: paths of what something deploys.
        """
        if render == "off" or self.source.named or not self.source.skipped.get(HELM_CHART):
            return []
        from policylint.render.lone_charts import lone_charts
        from policylint.render.tree import Tree

        tree = Tree(self.source, self.loaded, self.cluster_scoped, self.shared)
        return lone_charts(tree, self.groups, by_program=render == "helm", deployed=deployed)

    def _apart(
        self, objects: list[Resource], charts: Iterable[LoneChart]
    ) -> tuple[dict[str, list[Resource]], Mapping[str, str]]:
        """Return the objects of plain files by what they are for, examples by themselves, and the files left out."""
        counting = {resource.document.file for resource in objects}
        counting.update(problem.file for problem in self.loaded.problems)
        if all(NOT_LIVE.isdisjoint(file.split("/")) for file in counting):
            return {DEFAULT: objects}, {}
        from policylint.workspace.examples import apart

        relative = {**self.relative(), **{file: path for chart in charts for file, path in chart.paths.items()}}
        paths = {file: relative[file] for file in counting if file in relative}
        root = (self.source.root or "").rpartition(os.sep)[2]
        return apart(objects, paths, self.source.given, root, lambda: self.scripts().files)

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
                resource.replaced(provisional=_TEMPLATED) if resource.document.file in templates else resource
                for resource in objects
            ]
        objects = self.given.completed(objects)
        catalog = _catalog(objects, self.semantics, self.given, faults)
        return _cluster_scoped_policies(objects, catalog), catalog

    def _judged(self, world: World, catalog: Catalog) -> Catalog:
        """Return the catalog for the releases that are in use in an environment, as far as they are known."""
        is_by_hand = _is_by_hand(world)
        if not self.given.releases and not self.kustomizations and not is_by_hand and not may_tell(world):
            return catalog
        from policylint.workspace.releases import judged

        by_hand = self.by_hand if is_by_hand else tuple
        if (is_by_hand and not world.plain) or world.alternative_of:
            home = self._home(world.name, world.files)
        else:
            home = self._holding(world.files) if is_by_hand else ""
        return judged(world, catalog, self.given.releases, self.kustomizations, by_hand, home)

    def _home(self, name: str, files: Iterable[str]) -> str:
        """Return the directory below the root that an environment of some name is, with a slash at its end; "" where
        its name is that of none. What several environments have is called after each of them (`production/labs/one`).
        """
        paths = [f"/{self.relative().get(file, '')}" for file in files]
        while name:
            marked = f"/{name}/"
            if path := next((each for each in paths if marked in each), ""):
                return path[1 : path.index(marked) + len(marked)]
            name = name.partition("/")[2]
        return ""

    def _holding(self, files: Iterable[str]) -> str:
        """Return the directory below the root that holds some files, with a slash at its end; "" for the root."""
        directories = [self.relative().get(file, file).split("/")[:-1] for file in files] or [[]]
        first, last = min(directories), max(directories)
        steps = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
        return "".join(f"{step}/" for step, _ in steps)

    def _homes(self, alternatives: Iterable[Environment | Alternative]) -> set[str]:
        """Return the directories that several alternatives are, "" for one that is none."""
        files = ((each.name, {resource.document.file for resource in each.resources}) for each in alternatives)
        return {self._home(name, its_files) for name, its_files in files}

    def _definitions(self, home: str, homes: Iterable[str]) -> Callable[[str, str], Sequence[Document]]:
        """Return what finds the CRDs that define a kind for one of several alternatives: none of the other ones'."""
        others = tuple(each for each in homes if each and not home.startswith(each))
        relative = self.relative()

        def found(group: str, kind: str) -> list[Document]:
            paths = ((each, relative.get(each.file, "")) for each in self.definitions(group, kind))
            return [each for each, path in paths if path.startswith(home) or not path.startswith(others)]

        return found if home and others else self.definitions

    def _outside(self, lessons: tuple[str, ...]) -> Callable[[str, str], Sequence[Document]]:
        """Return what finds the CRDs that define a kind for all lessons of a tree: none that one of them brings."""
        relative = self.relative()

        def found(group: str, kind: str) -> list[Document]:
            return [
                each for each in self.definitions(group, kind) if not relative.get(each.file, "").startswith(lessons)
            ]

        return found

    def _policy_groups(self, catalog: Catalog) -> frozenset[str]:
        return self.groups | {kind.group for kind in catalog.kinds()}


def _labelled(objects: list[Resource], labels: Callable[[], Mapping[str, Mapping[str, str]]]) -> list[Resource]:
    """Return objects with the labels that scripts give to namespaces, where no deployer would take them away."""
    of_namespaces = [each for each in objects if each.key[:2] == _NAMESPACE]
    if not of_namespaces or any(each.key.group in _DEPLOYERS for each in objects):
        return objects
    made: dict[int, Resource] = {}
    for each in of_namespaces if labels() else ():
        if more := labels().get(each.key.name, {}):
            metadata = {**each.metadata, "labels": {**more, **each.labels}}
            made[id(each)] = each.replaced(body={**each.body, "metadata": metadata})
    return [made.get(id(each), each) for each in objects] if made else objects


def _beside(alternatives: Iterable[Sequence[Resource]]) -> Callable[[str, str], Sequence[Resource]]:
    """Return what yields the objects of a kind in some environments."""
    several = list(alternatives)

    @cache
    def of_kind(group: str, kind: str) -> Sequence[Resource]:
        return [each for resources in several for each in resources if each.key[:2] == (group, kind)]

    return of_kind


def _is_by_hand(world: World) -> bool:
    """Tell whether people and scripts apply the files of a tree: no deployer is at work in it."""
    return world.partial and (
        world.plain or not world.by_deployer or all(group not in _DEPLOYERS for group, _ in world.kinds())
    )


def _once(objects: Iterable[Resource], shared: Shared | None) -> list[Resource]:
    """Return objects that another environment or the other side of a diff has, too, as it has them."""
    return list(objects) if shared is None else shared.resources(objects)


def _share(environments: Iterable[Sequence[Resource]]) -> None:
    """Have what is found out about an object from itself alone kept where several environments have it."""
    met: set[int] = set()
    for objects in environments:
        for resource in objects:
            if id(resource) not in met:
                met.add(id(resource))
            else:
                resource.keep_answers()


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
    crds = by_kind.get(DEFINITION, [])
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
