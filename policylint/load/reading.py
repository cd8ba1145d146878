"""Loading of a source: which documents are parsed at once, which only when something refers to their kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from policylint.catalog.content import Edited, ReadSet
from policylint.documents import ALIAS_BOMB, ENCRYPTED, MAX_ALIASED, Document, FileReading, Problem, Unread, loading
from policylint.documents.problem import DUPLICATE_KEY, TEMPLATE_BELOW
from policylint.load.facts import Facts, is_kustomization_path
from policylint.load.objects import places_objects
from policylint.load.shared_facts import FactsReader, SharedFacts
from policylint.model.faults import NOT_OURS, Fault, fault_of
from policylint.model.kinds import READ_GROUPS, SETTLED
from policylint.model.resource import mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.sources import Source, SourceError, SourceFile, SourceProblem
from policylint.sources.skipping import HELM_CHART

_WORKLOADS = frozenset(
    {"CronJob", "DaemonSet", "Deployment", "Job", "Pod", "ReplicaSet", "ReplicationController", "StatefulSet"}
)
_CORE = frozenset({"Namespace", "Service"}) | _WORKLOADS
_PATCHES = ("patches", "patchesJson6902")
_CALLING = frozenset(
    {
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
        "APIService",
        "ClusterRole",
        "ClusterRoleBinding",
        "RoleBinding",
        "Role",
    }
)
"""Kinds that say whom the API server calls, or who may call it, which network policies may keep from it."""


class Loaded(NamedTuple):
    """Everything read from a source.

    Args:
        documents: parsed, in the order of the files.
        problems: what is wrong with files and documents.
        unread: documents that nothing needed.
        files: those that were read.
        skipped: how many files were no Kubernetes YAML, by their form.
        templates: files (as shown) that hold templates, whose output was not seen; those of ytt have documents as well.
        encrypted: files (as shown) that are encrypted whole.
        cluster_scoped: kinds (group, kind) of CRDs that were not parsed but say `scope: Cluster`.
        with_variables: files (as shown) that hold `${`.
        mentioning: files (as shown) that hold the word `policylint`, and so perhaps suppressions.
        idle: files (as shown) without any object: values, dashboards, patches. They are read again when something
            names them, and not kept until then; `idle_documents` counts what is in them.
        places: whether any document decides what is deployed where (`places_objects`).
        faults: errors of our own, each of which left a file unread.
    """

    documents: list[Document]
    problems: list[Problem]
    unread: list[Unread]
    files: Sequence[SourceFile]
    skipped: dict[str, int]
    templates: list[str]
    encrypted: list[str]
    cluster_scoped: frozenset[tuple[str, str]]
    with_variables: frozenset[str]
    mentioning: frozenset[str]
    idle: frozenset[str]
    idle_documents: int
    places: bool
    faults: tuple[Fault, ...] = ()


def load(
    source: Source,
    known_groups: frozenset[str],
    *,
    everything: bool = False,
    shared_facts: SharedFacts | None = None,
    read_set: ReadSet | None = None,
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
        shared_facts: known contents of another source of the run.
        read_set: the kinds that objects name; by default those of the shipped catalog.
        rendered: whether anything will be rendered; else the values of HelmReleases, much of the bytes of real
            repositories, are not kept.
    """
    groups = READ_GROUPS | known_groups

    @cache  # of this call: there are a thousand documents of a kind
    def wanted(api_version: str, kind: str) -> bool:
        group, slash, _ = api_version.rpartition("/")
        if group == "apiextensions.k8s.io":
            return False
        if group in groups or kind == "List" or (kind in _CORE and (not slash or group in ("apps", "batch"))):
            return True
        from policylint.catalog.former import former_kinds
        from policylint.catalog.naming import meant
        from policylint.catalog.weakenings import may_decide

        return may_decide(group, kind) or meant(group, kind) is not None or bool(former_kinds([(group, kind)]))

    documents: list[Document] = []
    problems = [_problem(error) for error in source.problems]
    unread: list[tuple[SourceFile, Unread, Facts]] = []
    templates: list[str] = []
    encrypted: list[str] = []
    skipped = {reason: len(paths) for reason, paths in source.skipped.items()}
    cluster_scoped: set[tuple[str, str]] = set()
    referred: set[tuple[str, str]] = set()
    files = source.files()
    with_variables: set[str] = set()
    mentioning: set[str] = set()
    idle: set[str] = set()
    idle_documents = 0
    variable_maps: set[str] = set()
    aliased = 0
    faults: list[Fault] = []
    kinds = None if everything else wanted
    charts = tuple(path[: path.rfind("/") + 1] for path in source.skipped.get(HELM_CHART, ()))
    named = read_set or ReadSet()
    reader = (
        FactsReader(kinds, named) if shared_facts is None else shared_facts.reader(groups, everything, kinds, named)
    )
    reader.announce(source, files)
    with loading():
        for file in files:
            try:
                facts = reader.facts(file)
            except SourceError as error:
                problems.append(_problem(error))
                continue
            except NOT_OURS:
                raise
            except Exception as error:
                faults.append(fault_of(error, "reading", file=file.path))
                continue
            if facts.with_variables:
                with_variables.add(file.path)
            if facts.mentioning:
                mentioning.add(file.path)
            variable_maps |= facts.variable_maps
            if facts.form not in ("yaml", "json", "empty"):
                skipped[facts.form] = skipped.get(facts.form, 0) + 1
                (encrypted if facts.form == ENCRYPTED else templates).append(file.path)
                continue
            of_file = facts.problems
            if of_file and file.path.startswith(charts) and any(each.message == TEMPLATE_BELOW for each in of_file):
                templates.append(file.path)  # a chart reads it with `tpl`, wherever it lies in it
                of_file = [each for each in of_file if each.message != TEMPLATE_BELOW]
            elif facts.templated:
                templates.append(file.path)
                of_file = [each for each in of_file if each.code != DUPLICATE_KEY]  # one key in each of two branches
            cluster_scoped |= facts.cluster_scoped
            referred |= facts.referred
            unread += [(file, document, facts) for document in facts.unread]
            problems += of_file
            if facts.idle:
                idle.add(file.path)
                idle_documents += facts.idle
                continue
            made_of_aliases = sum(document.aliased for document in facts.documents)
            if made_of_aliases and aliased + made_of_aliases > MAX_ALIASED:
                problems.append(_aliased(facts.documents))
                continue
            aliased += made_of_aliases
            if not rendered:
                _forget_values(facts.documents)
            documents += facts.documents
        variable_maps |= named.edited.maps
        still_unread = _second_pass(documents, problems, unread, referred, variable_maps, reader.again, named.edited)
    return Loaded(
        documents,
        problems,
        still_unread,
        files,
        skipped,
        templates,
        encrypted,
        frozenset(cluster_scoped),
        frozenset(with_variables),
        frozenset(mentioning),
        frozenset(idle),
        idle_documents,
        any(map(places_objects, _distinct(documents))),
        tuple(faults),
    )


def _distinct(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield one document for each answer that `places_objects` can have."""
    seen: set[tuple[str, str, bool]] = set()
    for document in documents:
        value = document.value
        if isinstance(value, dict):
            key = (str(value.get("apiVersion")), str(value.get("kind")), is_kustomization_path(document.file))
            if key in seen:
                continue
            seen.add(key)
        yield document


def _aliased(documents: Sequence[Document]) -> Problem:
    """Return what is wrong with the documents of a file with whose aliases a tree becomes too large."""
    document = next(document for document in documents if document.aliased)
    message = f"the aliases of all files together expand to more than {MAX_ALIASED:,} nodes"
    return Problem(ALIAS_BOMB, message, document.file, document.line, 1, None)


def _problem(error: SourceError | SourceProblem) -> Problem:
    return Problem(error.code, error.message, error.file, 1, 1, None)


def _forget_values(documents: Iterable[Document]) -> None:
    for document in documents:
        value = document.value
        if isinstance(value, dict) and value.get("kind") == "HelmRelease":
            spec = value.get("spec")
            if isinstance(spec, dict) and isinstance(spec.get("values"), dict) and spec["values"]:
                document.forget(("spec", "values"))


def _is_network_policy(document: Document) -> bool:
    return isinstance(document.value, dict) and str(document.value.get("kind")).endswith("NetworkPolicy")


def _is_settled(document: Document) -> bool:
    """Return whether an object is of a kind whose controllers have their settings in ConfigMaps."""
    return isinstance(document.value, dict) and str(document.value.get("kind")) in SETTLED


def _second_pass(
    documents: list[Document],
    problems: list[Problem],
    unread: list[tuple[SourceFile, Unread, Facts]],
    referred: set[tuple[str, str]],
    variable_maps: set[str],
    again: Callable[[SourceFile, Unread], FileReading],
    edited: Edited,
) -> list[Unread]:
    """Parse what something refers to and return the rest: the kinds named in references, whatever has a CRD that was
    parsed, what a change touches, ConfigMaps whose values Flux fills into manifests; beside network policies, whom the
    API server calls; beside Ingresses and their like the ConfigMaps, which may hold what is asked at all of them."""
    rest: list[Unread] = []
    targets = _targets(documents) if edited.kinds else frozenset()
    kinds: dict[tuple[str, str], bool] = {}
    for file, document, facts in unread:
        kind = (document.api_version, document.kind)
        is_referred = kinds.get(kind)
        if is_referred is None:
            is_referred = kinds[kind] = (
                (document.api_version.rpartition("/")[0], document.kind) in referred
                or edited.touches(document.api_version.rpartition("/")[0], document.kind, targets)
                or (document.kind in _CALLING and any(map(_is_network_policy, documents)))
                or (document.kind == "ConfigMap" and any(map(_is_settled, documents)))
            )
        named = variable_maps if document.kind == "ConfigMap" else edited.names
        if not is_referred and named.isdisjoint(facts.names.get(document.number, ())):
            rest.append(document)
            continue
        try:
            reading = again(file, document)
        except SourceError as error:
            problems.append(_problem(error))
            continue
        documents += reading.documents
        problems += reading.problems
    return rest


def _targets(documents: Iterable[Document]) -> frozenset[str]:
    """Return the kinds, as regular expressions, that patches of kustomizations are for whatever they are called."""
    bodies = [mapping(document.value) for document in documents if is_kustomization_path(document.file)]
    patches = [patch for body in bodies for field in _PATCHES for patch in sequence(body.get(field))]
    targets = [mapping(patch).get("target") for patch in patches]
    return frozenset(str(target.get("kind", "")) for target in targets if isinstance(target, dict))
