"""Paths and settings in, the simulations of their environments out, with coverage: every command starts here."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from policylint.boundary import belongs
from policylint.catalog.kinds import Catalog, CatalogError, load_catalog
from policylint.config import PROGRAMS
from policylint.documents import Document, Problem
from policylint.errors import UsageError
from policylint.load.definitions import Definitions
from policylint.load.objects import cluster_scoped_kinds, patch_files, resources
from policylint.load.reading import Loaded, load
from policylint.load.shared_facts import SharedFacts
from policylint.model import Finding, Resource, ResourceKey, World
from policylint.model.coverage import Coverage
from policylint.model.world import Unseen
from policylint.render.unseen import operated, unseen
from policylint.simulation import Simulation, simulate
from policylint.sources import Source, SourceError, open_source
from policylint.workspace.assumptions import Assumptions

if TYPE_CHECKING:
    from policylint.render.shared import Shared

SEMANTICS = ("gep-713", "gep-713-2023")
RENDERERS = ("builtin", "external", "helm", "off", "auto", "kubectl")
"""Ways to find out what is deployed; the last two are older names of the first two."""
_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
_ORIGIN = "config.kubernetes.io/origin"
_NOTHING_GIVEN = Assumptions()


class Workspace:
    """The simulated environments of some paths.

    Attributes:
        simulations: one per environment, sorted by name.
        coverage: what was and was not seen.
        root: the git root, or the directory given; None for stdin.
        mentioning: files (as shown) with the word `policylint` in them: they may hold suppressions.
    """

    def __init__(
        self,
        source: Source,
        simulations: list[Simulation],
        coverage: Coverage,
        mentioning: frozenset[str] = frozenset(),
    ) -> None:
        self._source = source
        self.simulations = simulations
        self.coverage = coverage
        self.mentioning = mentioning

    @property
    def root(self) -> str | None:
        return self._source.root

    def source_lines(self, file: str) -> list[str]:
        """The lines of a file for snippets; empty when it cannot be read any more."""
        return self._source.text(file)

    def findings(self, select: set[str] | None = None, *, spent: dict[str, float] | None = None) -> list[Finding]:
        """All findings, worst places first by file; the same finding of several environments once, with their names.

        `spent` takes the seconds that each rule took, over all environments.
        """
        from policylint.checks import run

        folded: dict[Finding, list[str]] = {}
        for simulation in self.simulations:
            for finding in run(simulation, select=select, spent=spent):
                folded.setdefault(finding, []).append(simulation.world.name)
        named = [finding._replace(environments=tuple(sorted(set(names)))) for finding, names in folded.items()]
        return sorted(named, key=lambda each: (each.location.sort_key(), each.rule, each.message))


def open_workspace(
    paths: Sequence[str] = (),
    *,
    semantics: str = "gep-713",
    snapshot: str | None = None,
    strict: bool = False,
    given: Assumptions = _NOTHING_GIVEN,
    source: Source | None = None,
    env: Sequence[str] = (),
    render: str = "builtin",
    stated: Mapping[str, Sequence[str]] | None = None,
    shared_facts: SharedFacts | None = None,
    shared: Shared | None = None,
    settings: Mapping[str, Mapping[str, object]] | None = None,
) -> Workspace:
    """Read, place and simulate what is below some paths.

    Args:
        paths: files, directories, or `-` for stdin; none means the current directory.
        semantics: the edition of the pattern for kinds that do not say (docs/design/interfaces.md).
        snapshot: a `kubectl get -o yaml` dump: real creation timestamps, and objects that are not in git.
        strict: parse every document, also those that no rule reads.
        given: what the configuration says of the world.
        source: where the files are, if not in the work tree below `paths`.
        env: only these environments, by name; none means all.
        stated: environments of the configuration: name → directories at which it begins.
        render: how to find out what is deployed where (RENDERERS); `off` takes the files as they are.
        shared_facts: what is known of contents from another workspace of the run.
        shared: what was read and rendered for another workspace, taken over where it is the same.
        settings: of controllers that stand in no manifest, by implementation and name (docs/implementations.md); they
            win over those of `given`.

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
    loaded = load(source, groups, everything=strict, shared_facts=shared_facts, rendered=render != "off")
    simulations = (
        []
        if render == "off"
        else _rendered(source, loaded, groups, given, semantics, snapshot, env, stated, render, shared)
    )
    if not simulations:
        _check_names(env, ["default"])
        simulations = [_environment("default", source, loaded, groups, given, semantics, snapshot, shared)]
    definitions = Definitions(source, loaded)
    for each in simulations:
        each.world.definitions, each.world.lines = definitions, source.text
    return Workspace(source, simulations, _coverage(loaded, simulations), loaded.mentioning)


def known_groups() -> frozenset[str]:
    """The API groups of the shipped catalog, without parsing it."""
    from policylint.catalog.kinds import shipped_groups

    return shipped_groups()


def _rendered(
    source: Source,
    loaded: Loaded,
    groups: frozenset[str],
    given: Assumptions,
    semantics: str,
    snapshot: str | None,
    env: Sequence[str],
    stated: Mapping[str, Sequence[str]] | None,
    render: str,
    shared: Shared | None,
) -> list[Simulation]:
    """One simulation per environment that Flux, Argo CD or kustomize make of the tree; none where none of them does."""
    if not stated and render != "helm" and not loaded.places:
        return []
    from policylint.render.environments import environments, without_repeats

    cluster_scoped = loaded.cluster_scoped | cluster_scoped_kinds(loaded.documents)
    found = environments(
        source,
        loaded,
        cluster_scoped,
        groups,
        stated,
        programs=render in PROGRAMS,
        helm=render == "helm",
        shared=shared,
    )
    if found:
        _check_names(env, [each.name for each in found])
    simulations = []
    for each in found:
        if env and each.name not in env:
            continue
        objects = each.resources if snapshot is None else _with_snapshot(each.resources, snapshot, cluster_scoped)
        objects = given.completed(objects)
        catalog = _catalog(objects, semantics, given)
        objects = list(without_repeats(_cluster_scoped_policies(objects, catalog)))
        if shared is not None:
            objects = shared.resources(objects)
        made_elsewhere = Unseen()
        for gap in each.gaps:
            made_elsewhere.add(gap.reason, gap.namespace or None, gateway_api=gap.gateway_api)
        operated(made_elsewhere, objects, loaded.unread, groups | {kind.group for kind in catalog.kinds()})
        world = World(
            each.name,
            objects,
            unseen=made_elsewhere,
            assumed=given.assumed(),
            problems=each.problems,
            cluster_scoped=cluster_scoped,
            not_rendered=each.not_rendered,
            orphans=each.orphans,
            notes=each.notes,
            partial=not source.named,
        )
        simulations.append(simulate(world, catalog))
    return simulations


def _check_names(env: Sequence[str], known: Sequence[str]) -> None:
    for name in env:
        if name not in known:
            raise UsageError(f"no environment {name!r} (there is: {', '.join(known)})")


def _environment(
    name: str,
    source: Source,
    loaded: Loaded,
    groups: frozenset[str],
    given: Assumptions,
    semantics: str,
    snapshot: str | None,
    shared: Shared | None,
) -> Simulation:
    documents = loaded.documents
    movable = loaded.places
    cluster_scoped = loaded.cluster_scoped | cluster_scoped_kinds(documents)
    objects = resources(
        documents,
        cluster_scoped=cluster_scoped,
        movable=movable,
        left_out=patch_files(documents) if movable else frozenset(),
        known=None if shared is None else shared.of_documents(cluster_scoped, movable),
    )
    objects = _at_origins(objects, source)
    if snapshot is not None:
        objects = _with_snapshot(objects, snapshot, cluster_scoped)
    objects = given.completed(objects)
    catalog = _catalog(objects, semantics, given)
    objects = _cluster_scoped_policies(objects, catalog)
    if shared is not None:
        objects = shared.resources(objects)
    policy_groups = groups | {each.group for each in catalog.kinds()}
    made_elsewhere, not_rendered = unseen(objects, loaded.unread, loaded.templates, policy_groups)
    world = World(
        name,
        objects,
        unseen=made_elsewhere,
        assumed=given.assumed(),
        problems=loaded.problems,
        cluster_scoped=cluster_scoped,
        movable=movable,
        not_rendered=not_rendered,
        partial=not source.named,
    )
    return simulate(world, catalog)


def _at_origins(objects: list[Resource], source: Source) -> list[Resource]:
    """Rendered objects that say which files they come from (kustomize's origin annotation), located there."""
    if not any(_ORIGIN in each.annotations for each in objects):
        return objects
    from policylint.documents import read
    from policylint.render.origins import located

    def reading(path: str) -> list[Document]:
        if not belongs(os.path.realpath(path), os.path.realpath(source.root or os.curdir)):
            return []  # what the annotation names is anybody's to say
        try:
            return read(source.file(path).read(), path).documents
        except SourceError:
            return []

    return located(objects, reading)


def _catalog(objects: Iterable[Resource], semantics: str, given: Assumptions) -> Catalog:
    by_kind: dict[tuple[str, str], list[Resource]] = defaultdict(list)
    for each in objects:
        by_kind[each.key.group, each.key.kind].append(each)
    groups = {group for group, _ in by_kind}
    crds = by_kind.get(_CRD, [])
    try:
        return load_catalog(
            groups, crds=crds, objects=by_kind, configured=given.kinds, semantics=semantics, settings=given.settings
        )
    except CatalogError as error:
        raise UsageError(str(error)) from error


def _cluster_scoped_policies(objects: list[Resource], catalog: Catalog) -> list[Resource]:
    """Objects of kinds that the catalog, not a CRD of the input, knows to be cluster-scoped lose their default
    namespace."""
    placed = []
    for each in objects:
        kind = catalog.get(each.key.group, each.key.kind) if each.key.namespace and "." in each.key.group else None
        if kind is not None and kind.cluster_scoped and kind.origin == "catalog":
            key = each.key._replace(namespace="")
            each = Resource(key, each.version, each.body, each.document, each.root, each.sources)
        placed.append(each)
    return placed


def _with_snapshot(objects: list[Resource], path: str, cluster_scoped: frozenset[tuple[str, str]]) -> list[Resource]:
    """Objects with the creation timestamps of a cluster dump, and the dump's objects that are not in git."""
    from policylint.documents import read

    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is not imported for this
            data = file.read()
    except OSError as error:
        raise UsageError(f"cannot read snapshot {path!r}: {error.strerror or error}") from error
    reading = read(data, path)
    for problem in reading.problems:
        if problem.code != "duplicate-key":
            raise UsageError(f"snapshot {problem.file}:{problem.line}: {problem.message}")
    live = {each.key: each for each in resources(reading.documents, cluster_scoped=cluster_scoped, movable=False)}
    dated = []
    for each in objects:
        seen = live.pop(each.key, None)
        if seen is not None and seen.created and not each.created:
            metadata = {**each.metadata, "creationTimestamp": seen.created}
            body = {**each.body, "metadata": metadata}
            each = Resource(each.key, each.version, body, each.document, each.root, each.sources)
        dated.append(each)
    return [*dated, *live.values()]


def _coverage(loaded: Loaded, simulations: Sequence[Simulation]) -> Coverage:
    return Coverage(
        files=loaded.files,
        documents=len(loaded.documents) + len(loaded.unread) + loaded.idle_documents,
        unread=len(loaded.unread),
        skipped=dict(sorted(loaded.skipped.items())),
        not_rendered=tuple(dict.fromkeys(each for simulation in simulations for each in simulation.world.not_rendered)),
        resources=sum(len(each.world.resources) for each in simulations),
        policies=sum(len(each.policies) for each in simulations),
        routes=sum(len(each.topology.routes) for each in simulations),
        gateways=sum(len(each.topology.gateways) for each in simulations),
    )


__all__ = [
    "RENDERERS",
    "SEMANTICS",
    "Coverage",
    "Document",
    "Problem",
    "ResourceKey",
    "Unseen",
    "UsageError",
    "Workspace",
    "open_workspace",
]
