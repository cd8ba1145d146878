"""Reads a source: which documents are parsed at once, which only when something refers to their kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from policylint.documents import Document, FileReading, Problem, Unread, loading
from policylint.load.facts import Facts, is_kustomization_path
from policylint.load.objects import places_objects
from policylint.load.shared_facts import FactsReader, SharedFacts
from policylint.sources import Source, SourceError, SourceFile

_WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod", "ReplicaSet"})
_CORE = frozenset({"Namespace", "Service"}) | _WORKLOADS
_GROUPS = frozenset(
    {
        "gateway.networking.k8s.io",
        "gateway.networking.x-k8s.io",
        "multicluster.x-k8s.io",
        "discovery.k8s.io",
        "kustomize.config.k8s.io",
        "kustomize.toolkit.fluxcd.io",
        "helm.toolkit.fluxcd.io",
        "source.toolkit.fluxcd.io",
        "fluxcd.controlplane.io",
        "argoproj.io",
        "helm.cattle.io",
    }
)


class Paths:
    """Every file by its path as shown, with its path below the source's root; looked at only where paths matter."""

    __slots__ = ("_files", "_known")

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self._files = files
        self._known: dict[str, str] | None = None

    def known(self) -> dict[str, str]:
        """Path as shown → path below the root."""
        if self._known is None:
            self._known = {file.path: file.relative for file in self._files}
        return self._known


class Loaded(NamedTuple):
    """Everything read from a source.

    Args:
        documents: parsed, in the order of the files.
        problems: what is wrong with files and documents.
        unread: documents that nothing needed.
        files: how many files were read.
        skipped: how many files were no Kubernetes YAML, by what they are.
        templates: files that hold templates, whose output was not seen.
        cluster_scoped: kinds (group, kind) of CRDs that were not parsed but say `scope: Cluster`.
        paths: every file by its path as shown, with its path below the source's root.
        with_variables: files (as shown) in which `${` stands somewhere.
        mentioning: files (as shown) in which the word `policylint` stands: they may hold suppressions.
        idle: files (as shown) without any object: values, dashboards, patches. They are read again when something
            names them, and not kept until then; `idle_documents` counts what is in them.
        places: whether any document decides what is deployed where (`places_objects`).
    """

    documents: list[Document]
    problems: list[Problem]
    unread: list[Unread]
    files: int
    skipped: dict[str, int]
    templates: list[str]
    cluster_scoped: frozenset[tuple[str, str]]
    paths: Paths
    with_variables: frozenset[str]
    mentioning: frozenset[str] = frozenset()
    idle: frozenset[str] = frozenset()
    idle_documents: int = 0
    places: bool = False


def load(
    source: Source,
    known_groups: frozenset[str],
    *,
    everything: bool = False,
    shared_facts: SharedFacts | None = None,
    rendered: bool = True,
) -> Loaded:
    """Read all files of a source.

    Documents of kinds that no rule reads are recognised by their first lines and left unparsed
    (docs/design/decisions/0009-kinds-nobody-reads-stay-unparsed.md); those of kinds that an object of a read kind
    refers to are parsed in a second pass. CRDs, most of the bytes of real repositories, are parsed only when they look
    like a policy's.

    Args:
        known_groups: groups of the catalog.
        everything: parse every document (`--strict`).
        shared_facts: what is known of contents from another source of the run.
        rendered: whether anything will be rendered; else the values of HelmReleases, much of what real repositories
            hold, are not kept.
    """
    groups = _GROUPS | known_groups

    def wanted(api_version: str, kind: str) -> bool:
        group, slash, _ = api_version.rpartition("/")
        if group == "apiextensions.k8s.io":
            return False
        return group in groups or kind == "List" or (kind in _CORE and (not slash or group in ("apps", "batch")))

    documents: list[Document] = []
    problems = [Problem(each.code, each.message, each.file, 1, 1, None) for each in source.problems]
    unread: list[tuple[SourceFile, Unread, Facts]] = []
    templates: list[str] = []
    skipped = {reason: len(paths) for reason, paths in source.skipped.items()}
    cluster_scoped: set[tuple[str, str]] = set()
    referred: set[tuple[str, str]] = set()
    files = source.files()
    with_variables: set[str] = set()
    mentioning: set[str] = set()
    idle: set[str] = set()
    idle_documents = 0
    variable_maps: set[str] = set()
    kinds = None if everything else wanted
    reader = FactsReader(kinds) if shared_facts is None else shared_facts.reader(groups, everything, kinds)
    reader.announce(source, files)
    with loading():
        for file in files:
            try:
                facts = reader.facts(file)
            except SourceError as error:
                problems.append(Problem(error.code, error.message, error.file, 1, 1, None))
                continue
            if facts.with_variables:
                with_variables.add(file.path)
            if facts.mentioning:
                mentioning.add(file.path)
            variable_maps |= facts.variable_maps
            if facts.form not in ("yaml", "json", "empty"):
                skipped[facts.form] = skipped.get(facts.form, 0) + 1
                templates.append(file.path)
                continue
            cluster_scoped |= facts.cluster_scoped
            referred |= facts.referred
            unread += [(file, each, facts) for each in facts.unread]
            problems += facts.problems
            if facts.idle:
                idle.add(file.path)
                idle_documents += facts.idle
                continue
            if not rendered:
                _forget_values(facts.documents)
            documents += facts.documents
        left = _second_pass(documents, problems, unread, referred, variable_maps, reader.again)
    return Loaded(
        documents,
        problems,
        left,
        len(files),
        skipped,
        templates,
        frozenset(cluster_scoped),
        Paths(files),
        frozenset(with_variables),
        frozenset(mentioning),
        frozenset(idle),
        idle_documents,
        any(map(places_objects, _unlike(documents))),
    )


def _unlike(documents: Iterable[Document]) -> Iterator[Document]:
    """Documents without those that `places_objects` cannot tell from an earlier one."""
    seen: set[tuple[str, str, bool]] = set()
    for document in documents:
        value = document.value
        if isinstance(value, dict):
            told = (str(value.get("apiVersion")), str(value.get("kind")), is_kustomization_path(document.file))
            if told in seen:
                continue
            seen.add(told)
        yield document


def _forget_values(documents: Iterable[Document]) -> None:
    for document in documents:
        value = document.value
        if isinstance(value, dict) and value.get("kind") == "HelmRelease":
            spec = value.get("spec")
            if isinstance(spec, dict) and isinstance(spec.get("values"), dict) and spec["values"]:
                document.forget(("spec", "values"))


def _second_pass(
    documents: list[Document],
    problems: list[Problem],
    unread: list[tuple[SourceFile, Unread, Facts]],
    referred: set[tuple[str, str]],
    variable_maps: set[str],
    again: Callable[[SourceFile, Unread], FileReading],
) -> list[Unread]:
    """Parse what something refers to: the kinds named in references, whatever has a CRD that was parsed, and
    ConfigMaps whose values Flux fills into manifests."""
    left: list[Unread] = []
    kinds: dict[tuple[str, str], bool] = {}
    for file, each, facts in unread:
        kind = (each.api_version, each.kind)
        named = kinds.get(kind)
        if named is None:
            named = kinds[kind] = (each.api_version.rpartition("/")[0], each.kind) in referred
        if not named and (each.kind != "ConfigMap" or variable_maps.isdisjoint(facts.names.get(each.number, ()))):
            left.append(each)
            continue
        try:
            reading = again(file, each)
        except SourceError as error:
            problems.append(Problem(error.code, error.message, error.file, 1, 1, None))
            continue
        documents += reading.documents
        problems += reading.problems
    return left
