"""Reads a source: which documents are parsed at once, which only when something refers to their kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from policylint.documents import Document, Problem, Reading, Unread, loading, read, read_unread
from policylint.documents.memo import Readings
from policylint.model import mapping
from policylint.sources import Source, SourceError, SourceFile

_WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod", "ReplicaSet"})
_CORE = frozenset({"Namespace", "Service"}) | _WORKLOADS
_GROUPS = frozenset(
    {
        "gateway.networking.k8s.io",
        "gateway.networking.x-k8s.io",
        "multicluster.x-k8s.io",
        "kustomize.config.k8s.io",
        "kustomize.toolkit.fluxcd.io",
        "helm.toolkit.fluxcd.io",
        "source.toolkit.fluxcd.io",
        "fluxcd.controlplane.io",
        "argoproj.io",
        "helm.cattle.io",
    }
)
_POLICY_CRD = re.compile(rb"gateway\.networking\.k8s\.io/policy|\bkind[\"']?: *[\"']?\w*Policy\b")
_CRD_FACT = re.compile(rb"^  (?:group: *[\"']?([\w.-]+)|scope: *[\"']?(\w+))|^    kind: *[\"']?(\w+)", re.MULTILINE)

_VARIABLES = re.compile(rb"(?:substituteFrom|valuesFrom):(?:\s*(?:- |#)?[^\n]*\n){1,12}")
_NAME = re.compile(rb"name: *[\"']?([\w.-]+)")


KUSTOMIZATION_FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_TELLING = frozenset({"apiVersion", "kind", "instance"})


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


def load(
    source: Source,
    known_groups: frozenset[str],
    *,
    everything: bool = False,
    readings: Readings | None = None,
    rendered: bool = True,
) -> Loaded:
    """Read all files of a source.

    Documents of kinds that no rule reads are recognised by their first lines and left unparsed (architecture.md,
    decision 9);
    those of kinds that an object of a read kind refers to are parsed in a second pass. CRDs, most of the bytes of real
    repositories, are parsed only when they look like a policy's.

    Args:
        known_groups: groups of the catalog.
        everything: parse every document (`--strict`).
        readings: what was parsed for another source, to be shared with this one.
        rendered: whether anything will be rendered; else the values of HelmReleases, much of what real repositories
            hold, are not kept.
    """
    # Only what two sources share is worth keeping by content: it holds on to every file that was read.
    parse = read if readings is None else readings.read
    parse_unread = read_unread if readings is None else readings.read_unread
    groups = _GROUPS | known_groups

    def wanted(api_version: str, kind: str) -> bool:
        group, slash, _ = api_version.rpartition("/")
        if group == "apiextensions.k8s.io":
            return False
        return group in groups or kind == "List" or (kind in _CORE and (not slash or group in ("apps", "batch")))

    documents: list[Document] = []
    problems = [Problem(each.code, each.message, each.file, 1, 1, None) for each in source.problems]
    unread: list[tuple[SourceFile, Unread]] = []
    templates: list[str] = []
    skipped = {reason: len(paths) for reason, paths in source.skipped.items()}
    cluster_scoped: set[tuple[str, str]] = set()
    files = source.files()
    with_variables: set[str] = set()
    mentioning: set[str] = set()
    idle: set[str] = set()
    idle_documents = 0
    variable_maps: set[bytes] = set()
    with loading():
        for file in files:
            try:
                data = file.read()
            except SourceError as error:
                problems.append(Problem(error.code, error.message, error.file, 1, 1, None))
                continue
            if b"${" in data:
                with_variables.add(file.path)
            if b"policylint" in data:
                mentioning.add(file.path)
            if b"substituteFrom" in data or b"valuesFrom" in data:
                variable_maps.update(name for match in _VARIABLES.finditer(data) for name in _NAME.findall(match[0]))
            reading = parse(data, file.path, wanted=None if everything else wanted)
            if reading.form not in ("yaml", "json", "empty"):
                skipped[reading.form] = skipped.get(reading.form, 0) + 1
                templates.append(file.path)
                continue
            for each in reading.unread:
                if each.kind == "CustomResourceDefinition":
                    chunk = data[each.start : each.end]
                    if _POLICY_CRD.search(chunk):
                        again = parse_unread(data, each)
                        reading.documents += again.documents
                        reading.problems += again.problems
                        continue
                    cluster_scoped |= _cluster_scoped(chunk)
                unread.append((file, each))
            problems += reading.problems
            if reading.documents and not _is_kept(file.path, reading.documents):
                idle.add(file.path)
                idle_documents += len(reading.documents)
                continue
            if not rendered:
                _forget_values(reading.documents)
            documents += reading.documents
        left = _second_pass(documents, problems, unread, frozenset(variable_maps), parse_unread)
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
    )


def _forget_values(documents: Iterable[Document]) -> None:
    for document in documents:
        value = document.value
        if isinstance(value, dict) and value.get("kind") == "HelmRelease":
            spec = value.get("spec")
            if isinstance(spec, dict) and isinstance(spec.get("values"), dict) and spec["values"]:
                document.forget(("spec", "values"))


def _is_kept(path: str, documents: Iterable[Document]) -> bool:
    """Whether a file holds anything that means something without being named: objects, kustomizations, and values of
    the chart that makes a FluxInstance."""
    if path.rpartition("/")[2] in KUSTOMIZATION_FILES:
        return True
    for document in documents:
        value = document.value
        items = value if isinstance(value, list) else [value]
        if any(isinstance(each, dict) and not each.keys().isdisjoint(_TELLING) for each in items):
            return True
    return False


def _cluster_scoped(chunk: bytes) -> set[tuple[str, str]]:
    group = kind = scope = ""
    for match in _CRD_FACT.finditer(chunk):
        group = group or (match[1] or b"").decode()
        scope = scope or (match[2] or b"").decode()
        kind = kind or (match[3] or b"").decode()
    return {(group, kind)} if scope == "Cluster" and group and kind else set()


def _second_pass(
    documents: list[Document],
    problems: list[Problem],
    unread: list[tuple[SourceFile, Unread]],
    variable_maps: frozenset[bytes],
    parse_unread: Callable[[bytes, Unread], Reading],
) -> list[Unread]:
    """Parse what something refers to: the kinds named in references, whatever has a CRD that was parsed, and
    ConfigMaps whose values Flux fills into manifests."""
    if not unread:
        return []
    referred = _referred_kinds(document.value for document in documents)
    left: list[Unread] = []
    cache: tuple[str, bytes] = ("", b"")
    for file, each in unread:
        group = each.api_version.rpartition("/")[0]
        if (group, each.kind) not in referred and (each.kind != "ConfigMap" or not variable_maps):
            left.append(each)
            continue
        if cache[0] != file.path:
            try:
                cache = (file.path, file.read())
            except SourceError as error:
                problems.append(Problem(error.code, error.message, error.file, 1, 1, None))
                continue
        if (group, each.kind) not in referred:
            names = _NAME.findall(cache[1][each.start : each.end])
            if not variable_maps.intersection(names):
                left.append(each)
                continue
        again = parse_unread(cache[1], each)
        documents += again.documents
        problems += again.problems
    return left


def _referred_kinds(values: Iterable[Any]) -> set[tuple[str, str]]:
    """Kinds (group, kind) that objects of Gateway API and policy groups refer to, and those that parsed CRDs define."""
    found: set[tuple[str, str]] = set()
    for value in values:
        for item in _objects(value):
            api_version, kind = item.get("apiVersion"), item.get("kind")
            if not isinstance(api_version, str) or not isinstance(kind, str):
                continue
            spec = mapping(item.get("spec"))
            if kind == "CustomResourceDefinition":
                found.add((str(spec.get("group")), str(mapping(spec.get("names")).get("kind"))))
            elif "/" in api_version and not api_version.startswith(("apps/", "batch/", "helm.", "kustomize.")):
                _collect(spec, found)
    return found


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("kind") == "List" and isinstance(value.get("items"), list):
            for each in value["items"]:
                yield from _objects(each)
        else:
            yield value


def _collect(value: Any, found: set[tuple[str, str]]) -> None:
    pending = [value]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            kind, group = here.get("kind"), here.get("group", "")
            if isinstance(kind, str) and isinstance(group, str):
                found.add((group, kind))
            for name, inner in here.items():
                if isinstance(inner, (dict, list)):
                    pending.append(inner)
                    if "ecret" in name or "ertificateRef" in name:
                        found.add(("", "Secret"))
                    if "onfigMap" in name or "aCertificateRef" in name:
                        found.add(("", "ConfigMap"))
        elif isinstance(here, list):
            pending.extend(each for each in here if isinstance(each, (dict, list)))
