"""What `load` needs to know of one file, found out from its bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from policylint.documents import Document, Problem, Unread, read, read_unread
from policylint.model import mapping
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.documents.reading import KindFilter

KUSTOMIZATION_FILES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
TELLING: Final = frozenset({"apiVersion", "kind", "instance"})
Kinds = frozenset[tuple[str, str]]
_POLICY_CRD = re.compile(rb"gateway\.networking\.k8s\.io/policy|\bkind[\"']?: *[\"']?\w*Policy\b")
_CRD_FACT = re.compile(rb"^  (?:group: *[\"']?([\w.-]+)|scope: *[\"']?(\w+))|^    kind: *[\"']?(\w+)", re.MULTILINE)
_VARIABLES = re.compile(rb"(?:substituteFrom|valuesFrom):(?:\s*(?:- |#)?[^\n]*\n){1,12}")
_NAME = re.compile(rb"name: *[\"']?([\w.-]+)")
_NONE: Kinds = frozenset()


class Facts(NamedTuple):
    """One file.

    Args:
        form: see `documents.FileReading`; of a template nothing else is known.
        documents: those that were parsed, if any of them means something without being named.
        idle: how many documents there are that mean nothing unless something names the file: values, dashboards,
            patches. They are not kept.
        problems: what is wrong with the file.
        unread: documents whose kinds were not wanted, policies' CRDs left out: those are parsed.
        with_variables: whether `${` stands in it.
        mentioning: whether `policylint` stands in it.
        variable_maps: names of what values and variables are taken from.
        cluster_scoped: kinds of CRDs that were not parsed but say `scope: Cluster`.
        referred: kinds that the documents refer to or define.
        names: by the number of an unread ConfigMap the names in it.
    """

    form: str
    documents: Sequence[Document] = ()
    idle: int = 0
    problems: Sequence[Problem] = ()
    unread: Sequence[Unread] = ()
    with_variables: bool = False
    mentioning: bool = False
    variable_maps: frozenset[str] = frozenset()
    cluster_scoped: Kinds = _NONE
    referred: Kinds = _NONE
    names: Mapping[int, frozenset[str]] = MappingProxyType({})


def facts_of(data: bytes, file: str, wanted: KindFilter | None) -> Facts:
    """The facts of a file; `wanted` as for `documents.read`."""
    with_variables, mentioning = b"${" in data, b"policylint" in data
    variable_maps: frozenset[str] = frozenset()
    if b"substituteFrom" in data or b"valuesFrom" in data:
        variable_maps = frozenset(
            name.decode() for match in _VARIABLES.finditer(data) for name in _NAME.findall(match[0])
        )
    reading = read(data, file, wanted=wanted)
    if reading.form not in ("yaml", "json", "empty"):
        return Facts(reading.form, (), 0, (), (), with_variables, mentioning, variable_maps)
    documents, problems, unread = reading.documents, reading.problems, reading.unread
    cluster_scoped: set[tuple[str, str]] = set()
    names: dict[int, frozenset[str]] = {}
    if unread:
        unread = []
        for each in reading.unread:
            if each.kind == "CustomResourceDefinition":
                chunk = data[each.start : each.end]
                if _POLICY_CRD.search(chunk):
                    again = read_unread(data, each)
                    documents += again.documents
                    problems += again.problems
                    continue
                cluster_scoped |= _cluster_scoped(chunk)
            elif each.kind == "ConfigMap":
                names[each.number] = frozenset(
                    name.decode() for name in _NAME.findall(data[each.start : each.end])[:1000]
                )
            unread.append(each)
    idle = 0
    if documents and not _is_kept(file, documents):
        documents, idle = [], len(documents)
    referred = referred_kinds(each.value for each in documents) if documents else _NONE
    return Facts(
        reading.form, documents, idle, problems, unread, with_variables, mentioning, variable_maps,
        frozenset(cluster_scoped) if cluster_scoped else _NONE, referred, names,
    )  # fmt: skip


def _is_kept(path: str, documents: Iterable[Document]) -> bool:
    """Whether a file holds anything that means something without being named: objects, kustomizations, and values of
    the chart that makes a FluxInstance."""
    if is_kustomization_path(path):
        return True
    for document in documents:
        value = document.value
        items = value if isinstance(value, list) else [value]
        if any(isinstance(each, dict) and not each.keys().isdisjoint(TELLING) for each in items):
            return True
    return False


def is_kustomization_path(path: str) -> bool:
    """Whether the name of a file makes it a kustomization."""
    return path.endswith(KUSTOMIZATION_FILES) and path.rpartition("/")[2] in KUSTOMIZATION_FILES


def _cluster_scoped(chunk: bytes) -> set[tuple[str, str]]:
    group = kind = scope = ""
    for match in _CRD_FACT.finditer(chunk):
        group = group or (match[1] or b"").decode()
        scope = scope or (match[2] or b"").decode()
        kind = kind or (match[3] or b"").decode()
    return {(group, kind)} if scope == "Cluster" and group and kind else set()


def referred_kinds(values: Iterable[Any]) -> Kinds:
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
    return frozenset(found) if found else _NONE


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
