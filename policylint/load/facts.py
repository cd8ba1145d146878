"""The facts of one file that `load` needs, made from its bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from policylint.catalog.content import Kinds, ReadSet
from policylint.documents import MAX_ALIASED, Document, Problem, Unread, read, read_unread
from policylint.documents.problem import YAML_SYNTAX
from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

if TYPE_CHECKING:
    from policylint.documents.reading import KindFilter

KUSTOMIZATION_FILES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_TELLING: Final = frozenset({"apiVersion", "kind", "instance"})
_CONTROLLER = Pattern(
    rb"kind[\\\"']*: *[\\\"']*EnvoyGateway\b|\bmesh[\"']?: *[|>\"']|\bresource\.(?:ex|in)clusions[\"']?: "
    rb"|\bname[\"']?: *[\"']?cilium-config\b"
)
"""A ConfigMap with the configuration of a controller, which says where its proxies run (`dataPlane` of the catalog), of
a mesh (MeshConfig of Istio), of Argo CD, which leaves some kinds alone, or of Cilium: what addresses mean."""
_POLICY_CRD = Pattern(rb"gateway\.networking\.k8s\.io/policy|\bkind[\"']?: *[\"']?\w*Policy\b")
_CRD_FACT = Pattern(rb"^  (?:group: *[\"']?([\w.-]+)|scope: *[\"']?(\w+))|^    kind: *[\"']?(\w+)", re.MULTILINE)
_YTT = Pattern(rb"(?:^|[ \t])#@(?:[ \t/]|[a-z]+/)", re.M)
"""A directive of ytt: code in a comment, which yields or changes the value beside or below it."""
_VARIABLES = Pattern(rb"(?:substituteFrom|valuesFrom)[\"']?:(?:\s*(?:- |#)?[^\n]*(?:\n|\Z)){1,12}")
_NAME = Pattern(rb"name[\"']?: *[\"']?([\w.-]+)")
_OWN_NAME = Pattern(rb"^metadata: *\n(?P<indent> +)(?:.*\n(?P=indent))*?name: *[\"']?([^\s\"']+)", re.M)
_WORD, _PLAIN_WORD = Pattern(rb"[^\s\"',\[\]]+"), Pattern(rb"[\w.-]+")
_MOST_NAMES = 1_000
_DECIDER = Pattern(rb"\b(?:image|name)[\"']?: *[\"']?[\w./-]*(?:auth|\bopa\b|oidc|sso|waf|envoy)")
"""A workload that may be one whom policies ask."""
_MOUNTED = Pattern(rb"configMap(?:Ref|KeyRef)?[\"']?: *(?:\{\s*|\n)[^\n]*?\bname[\"']?: *[\"']?([\w.-]+)")
_NONE: Kinds = frozenset()
_NO_NAMES: frozenset[str] = frozenset()


class Facts(NamedTuple):
    """One file.

    Args:
        form: see `documents.FileReading`; of a template nothing else is known.
        documents: those that were parsed, if any of them means something without being named.
        idle: how many documents there are that mean nothing unless something names the file: values, dashboards,
            patches. They are not kept.
        problems: what is wrong with the file.
        unread: documents whose kinds were not wanted, policies' CRDs left out: those are parsed.
        with_variables: whether `${` or `$$` stands in it.
        mentioning: whether `policylint` stands in it.
        templated: whether ytt fills it in: YAML that is valid as it stands, and not what is deployed.
        variable_maps: names of what values and variables are taken from, and of what workloads go by whom policies
            may ask.
        cluster_scoped: kinds of CRDs that were not parsed but say `scope: Cluster`.
        referred: kinds that the documents refer to or define.
        names: by the number of an unread ConfigMap the names in it, and of an object whose kind a change touches its
            own.
    """

    form: str
    documents: Sequence[Document] = ()
    idle: int = 0
    problems: Sequence[Problem] = ()
    unread: Sequence[Unread] = ()
    with_variables: bool = False
    mentioning: bool = False
    templated: bool = False
    variable_maps: frozenset[str] = _NO_NAMES
    cluster_scoped: Kinds = _NONE
    referred: Kinds = _NONE
    names: Mapping[int, frozenset[str]] = MappingProxyType({})


def facts_of(data: bytes, file: str, wanted: KindFilter | None, read_set: ReadSet) -> Facts:
    """Return the facts of a file; `wanted` as for `documents.read`."""
    # One byte is found much faster than two, and most files have none of it.
    with_variables = b"$" in data and (b"${" in data or b"$$" in data)
    mentioning = b"policylint" in data
    templated = b"#" in data and b"#@" in data and _YTT.search(data) is not None
    variable_maps = _NO_NAMES
    if b"substituteFrom" in data or b"valuesFrom" in data:
        variable_maps = frozenset(name for match in _VARIABLES.finditer(data) for name in names_in(match[0]))
    if b"configMap" in data and _DECIDER.search(data):
        variable_maps |= {name.decode() for name in _MOUNTED.findall(data)}
    reading = read(data, file, wanted=wanted)
    if reading.form not in ("yaml", "json", "empty"):
        return Facts(reading.form, (), 0, (), (), with_variables, mentioning, templated, variable_maps)
    documents, unread = reading.documents, reading.unread
    templated = templated or reading.templated
    # What ytt fills in may be no YAML before: `{{{ .ip }}}`, of whatever runs after it.
    problems = [problem for problem in reading.problems if not (templated and problem.code == YAML_SYNTAX)]
    cluster_scoped: set[tuple[str, str]] = set()
    names: dict[int, frozenset[str]] = {}
    touched = read_set.edited.kinds
    if unread:
        unread = []
        for document in reading.unread:
            chunk = data[document.start : document.end]
            if document.kind == "CustomResourceDefinition":
                if _POLICY_CRD.search(chunk):
                    again = read_unread(data, document)
                    documents += again.documents
                    problems += again.problems
                    continue
                cluster_scoped |= _cluster_scoped(chunk)
            elif document.kind.endswith("Policy") and (
                b"targetRef" in chunk  # perhaps a kind whose CRD is elsewhere
                or (b"NetworkPolicy" in chunk and b"generate:" in chunk)  # of Kyverno (network.kinds.GENERATING)
                # changes labels of Namespaces as they are admitted (model.kinds.RELABELLING)
                or (b"amespace" in chunk and b"labels" in chunk and (b"mutate:" in chunk or b"mutations:" in chunk))
            ):
                again = read_unread(data, document)
                documents += again.documents
                problems += again.problems
                continue
            elif document.kind == "ConfigMap":
                if _CONTROLLER.search(chunk):
                    again = read_unread(data, document)
                    documents += again.documents
                    problems += again.problems
                    continue
                names[document.number] = names_in(chunk)
            elif touched and (document.api_version.rpartition("/")[0], document.kind) in touched:
                names[document.number] = own_name(chunk)
            unread.append(document)
    idle = 0
    if documents and not _is_kept(file, documents):
        documents, idle = [], len(documents)
    referred = _referred_kinds(documents, read_set)
    return Facts(
        reading.form, documents, idle, problems, unread, with_variables, mentioning, templated, variable_maps,
        frozenset(cluster_scoped) if cluster_scoped else _NONE, referred, names,
    )  # fmt: skip


def _is_kept(path: str, documents: Iterable[Document]) -> bool:
    """Return whether a file holds what means something without being named: objects, kustomizations, and values of the
    chart that makes a FluxInstance."""
    if is_kustomization_path(path):
        return True
    for document in documents:
        value = document.value
        items = value if isinstance(value, list) else [value]
        if any(isinstance(item, dict) and not item.keys().isdisjoint(_TELLING) for item in items):
            return True
    return False


def names_in(chunk: bytes) -> frozenset[str]:
    """Return what stands behind `name:` in the text of a document."""
    return frozenset(name.decode() for name in _NAME.findall(chunk)[:_MOST_NAMES])


def own_name(chunk: bytes) -> frozenset[str]:
    """Return the name of an object, by its text; where that is not plain to see, no word that may be it is missing."""
    found = _OWN_NAME.search(chunk)
    names = {found[2]} if found is not None else {*_WORD.findall(chunk), *_PLAIN_WORD.findall(chunk)}
    return frozenset(name.decode("utf-8", "replace") for name in names)


def is_kustomization_path(path: str) -> bool:
    """Return whether the name of a file makes it a kustomization."""
    return path.endswith(KUSTOMIZATION_FILES) and path.rpartition("/")[2] in KUSTOMIZATION_FILES


def defined_by(chunk: bytes) -> tuple[str, str, str]:
    """Return what a CRD defines, by its text: group, kind and scope. One in another layout than generators
    have (JSON, flow style, other indentation) is parsed for that."""
    group = kind = scope = ""
    for match in _CRD_FACT.finditer(chunk):
        group = group or (match[1] or b"").decode()
        scope = scope or (match[2] or b"").decode()
        kind = kind or (match[3] or b"").decode()
        if group and kind and scope:
            return group, kind, scope
    for document in read(chunk, "").documents[:1]:
        spec = mapping(mapping(document.value).get("spec"))
        names = mapping(spec.get("names"))
        return text(spec.get("group")), text(names.get("kind")), text(spec.get("scope"))
    return group, kind, scope


def _cluster_scoped(chunk: bytes) -> set[tuple[str, str]]:
    group, kind, scope = defined_by(chunk)
    return {(group, kind)} if scope == "Cluster" and group and kind else set()


def _referred_kinds(documents: Iterable[Document], read_set: ReadSet) -> Kinds:
    """Return the kinds (group, kind) that objects of Gateway API and policies refer to, and that parsed CRDs define."""
    kinds: set[tuple[str, str]] = set()
    for document in documents:
        for body in _objects(document.value) if document.aliased <= MAX_ALIASED else ():
            api_version, kind = body.get("apiVersion"), body.get("kind")
            if "replacements" in body:
                kinds.update(_copied_from(body))
            if not isinstance(api_version, str) or not isinstance(kind, str):
                continue
            spec = mapping(body.get("spec"))
            if kind == "CustomResourceDefinition":
                kinds.add((str(spec.get("group")), str(mapping(spec.get("names")).get("kind"))))
            elif "/" in api_version and not api_version.startswith(("apps/", "batch/", "helm.", "kustomize.")):
                named = read_set.named(api_version.rpartition("/")[0], kind)
                _collect(spec or body, named, kinds, is_shared=document.aliased > 0)
                for name in mapping(mapping(body.get("metadata")).get("annotations")) if named and spec else ():
                    kinds |= named.get(str(name).rpartition("/")[2], frozenset())
    return frozenset(kinds) if kinds else _NONE  # each empty set is one of its own


def _copied_from(kustomization: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the kinds from whose objects the replacements of a kustomization take values."""
    for replacement in sequence(kustomization.get("replacements")):
        source = mapping(mapping(replacement).get("source"))
        if isinstance(source.get("kind"), str):
            yield str(source.get("group", "")), source["kind"]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("kind") == "List" and isinstance(value.get("items"), list):
            for item in value["items"]:
                yield from _objects(item)
        else:
            yield value


def _collect(spec: Any, named: Mapping[str, Kinds], kinds: set[tuple[str, str]], *, is_shared: bool) -> None:
    """Add the kinds that are named anywhere in a spec.

    Args:
        named: the kinds that fields of this name stand for, as the catalog declares them.
        is_shared: whether aliases make one container stand in many places, of which one is enough to look at.
    """
    pending = [spec]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if is_shared:
            if id(value) in seen:
                continue
            seen.add(id(value))
        if isinstance(value, dict):
            if "kind" in value:
                kind, group = value["kind"], value.get("group", "")
                if isinstance(kind, str) and isinstance(group, str):
                    kinds.add((group, kind))
            for name, inner in value.items():
                if name in named and inner:
                    kinds |= named[name]
                if inner.__class__ is dict or inner.__class__ is list:
                    pending.append(inner)
        else:
            pending += [item for item in value if item.__class__ is dict or item.__class__ is list]
