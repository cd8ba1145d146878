"""`kustomize build`, for everything that decides identity, references and the content of Gateway API and policies.

A directory in, its objects out, each value with its trace; what cannot be done is noted and the rest goes on, where the
real kustomize would stop: a finding each, and as much of the picture as there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from policylint.documents import Document, read
from policylint.load.objects import objects_of
from policylint.model import mapping, sequence, text
from policylint.render.journal import Journal
from policylint.render.kustomize.charts import inflated
from policylint.render.kustomize.external import External
from policylint.render.kustomize.generators import add_hash, generated
from policylint.render.kustomize.metadata import add_annotations, add_labels, add_to_names, set_namespace
from policylint.render.kustomize.name_references import BUILT_IN, NameReference, configured, follow
from policylint.render.kustomize.patches import apply_patch, patches
from policylint.render.kustomize.replacements import ReplacementError, replace
from policylint.render.origins import rendered
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import Tree, join, metadata

if TYPE_CHECKING:
    from policylint.render.helm.charts import Charts

MAX_DEPTH = 60
"""Kustomizations inside kustomizations; deeper ones are noted, not followed."""
MAX_OBJECTS = 200_000
"""Objects of one build: bases that double at every level are cut off."""
MAX_RUNS = 20_000
"""Kustomizations built inside others in one tree: components that include each other twice multiply."""
_REMOTE = re.compile(
    r"^(?:[a-z+]+://|git@|git::|github\.com/|gitlab\.com/|bitbucket\.org/)|[?&]ref=|^[\w-]+\.[\w.-]+/.+//"
)
_NOT_BUILT_IN = ("transformers", "generators", "validators", "vars", "helmChartInflationGenerator")
_ONLY_CRDS = re.compile(r"crds?\b|standard-install|experimental-install", re.IGNORECASE)


class Built(NamedTuple):
    """What a kustomization makes, and what it had to say.

    Args:
        manifests: the objects; to be copied before they are changed.
        journal: notes and gaps.
        reached: files and directories that were read for it.
    """

    manifests: list[Manifest]
    journal: Journal
    reached: set[str]


class Kustomizer:
    """Builds the kustomizations of one tree; what is built twice is built once.

    Args:
        cluster_scoped: kinds (group, kind) of the tree's CRDs that have no namespace.
        unread: kinds whose objects were not parsed: a patch for one of them has its target unseen.
        external: renders a directory with the user's own kustomize, for what is not covered here.
        charts: renders charts of the tree with the user's own helm.
    """

    def __init__(
        self,
        tree: Tree,
        cluster_scoped: frozenset[tuple[str, str]] = frozenset(),
        unread: frozenset[tuple[str, str]] = frozenset(),
        external: External | None = None,
        charts: Charts | None = None,
    ) -> None:
        self.tree = tree
        self._external = external
        self._charts = charts
        self._runs = 0
        self.cluster_scoped = cluster_scoped
        self._unread = unread
        self._built: dict[str, Built] = {}
        self._references: dict[str, list[NameReference]] = {}

    def build(self, directory: str, kustomization: tuple[dict[str, Any], Trace] | None = None) -> Built:
        """The finished output of a directory, as `kustomize build` prints it.

        Args:
            kustomization: what to build instead of the directory's own one: an amended one, or one made for a directory
                that has none.
        """
        own = self.tree.kustomization(directory)
        if kustomization is None or (own is not None and own[0] is kustomization[0]):
            base = self._base(directory, ())
        else:
            base = self._run(directory, *kustomization, [], ())
        manifests = [each.copy() for each in base.manifests]
        return Built(self._finished(manifests, base.reached), base.journal, base.reached)

    def _finished(self, manifests: list[Manifest], reached: set[str]) -> list[Manifest]:
        """Hashes of generated names, references to changed names, and no local configuration."""
        kept = []
        for each in manifests:
            annotations = metadata(each.body).get("annotations")
            if mapping(annotations).get("config.kubernetes.io/local-config") == "true":
                continue
            if annotations == {}:  # kustomize drops them, whoever emptied them
                bare = {name: value for name, value in metadata(each.body).items() if name != "annotations"}
                each.body = {**each.body, "metadata": bare}
            if each.hashed:
                add_hash(each)
            kept.append(each)
        extra = [reference for path in sorted(reached) for reference in self._references.get(path, ())]
        if any(each.names for each in kept):
            follow(kept, (*BUILT_IN, *extra))
        return kept

    def _base(self, directory: str, above: tuple[str, ...]) -> Built:
        """A directory's objects before they are finished, built once."""
        known = self._built.get(directory)
        if known is None:
            kustomization = self.tree.kustomization(directory)
            body, trace = kustomization if kustomization is not None else ({}, Trace(_nowhere(directory)))
            known = self._covered(directory, body, trace, self._run(directory, body, trace, [], above))
            if not above or not any(each.code in ("cycle", "too-deep") for each in known.journal.notes):
                self._built[directory] = known
        return known

    def _covered(self, directory: str, body: dict[str, Any], trace: Trace, built: Built) -> Built:
        """What was built, or what the user's own kustomize makes of a kustomization that is not covered here.

        Its output says nothing of where a value comes from: one that the object has here, too, is located as it is
        here, and a new one at the field that asks for what made it.
        """
        field = next((each for each in _NOT_BUILT_IN if body.get(each)), None)
        output = self._external(directory) if self._external is not None and field is not None else None
        if output is None or field is None:
            return built
        documents = read(output, f"{directory}/").documents
        place = trace.child(field)
        made = [Manifest(value, place) for each in documents for value, _ in objects_of(each.value)]
        built.journal.forget("not-covered")
        return Built(rendered(made, built.manifests, place), built.journal, built.reached)

    def _run(
        self, directory: str, body: dict[str, Any], trace: Trace, manifests: list[Manifest], above: tuple[str, ...]
    ) -> Built:
        """One kustomization over the objects that its parent has so far (none, unless it is a component)."""
        journal = Journal()
        reached = {directory}
        here = (*above, directory)
        unseen = False
        for field in ("resources", "bases"):
            for index, entry in enumerate(sequence(body.get(field))):
                place = trace.child(field).child(index)
                unseen |= self._resource(directory, text(entry), place, here, manifests, journal, reached)
        for index, entry in enumerate(sequence(body.get("components"))):
            place = trace.child("components").child(index)
            manifests = self._component(directory, text(entry), place, here, manifests, journal, reached)
        self._generate(directory, body, trace, manifests, journal)
        self._configurations(directory, body, trace, journal)
        manifests = [*manifests, *inflated(directory, body, trace, self._charts, journal)]
        for name in _NOT_BUILT_IN:
            if body.get(name):
                journal.note(f"`{name}` are not rendered by policylint itself", trace.child(name), code="not-covered")
                self._remote_entries(body[name], trace.child(name), journal)
                unseen = True
        unseen = unseen or bool(journal.gaps)
        manifests = self._transform(directory, body, trace, manifests, journal, unseen)
        return Built(manifests, journal, reached)

    def _transform(
        self,
        directory: str,
        body: dict[str, Any],
        trace: Trace,
        manifests: list[Manifest],
        journal: Journal,
        unseen: bool,
    ) -> list[Manifest]:
        """The transformers, in kustomize's order."""
        manifests = self._patch(
            directory, body, trace, ("patchesStrategicMerge", "patches"), manifests, journal, unseen
        )
        namespace = text(body.get("namespace"))
        if namespace:
            set_namespace(manifests, namespace, trace.child("namespace"), self.cluster_scoped)
            journal.move(namespace)
        prefix, suffix = text(body.get("namePrefix")), text(body.get("nameSuffix"))
        if prefix or suffix:
            add_to_names(manifests, prefix, suffix)
        if body.get("labels") or body.get("commonLabels"):
            add_labels(manifests, body, trace)
        add_annotations(manifests, mapping(body.get("commonAnnotations")), trace.child("commonAnnotations"))
        manifests = self._patch(directory, body, trace, ("patchesJson6902",), manifests, journal, unseen)
        for index, entry in enumerate(sequence(body.get("replacements"))):
            self._replace(directory, mapping(entry), trace.child("replacements").child(index), manifests, journal)
        return manifests

    def _resource(
        self,
        directory: str,
        entry: str,
        place: Trace,
        above: tuple[str, ...],
        manifests: list[Manifest],
        journal: Journal,
        reached: set[str],
    ) -> bool:
        """Add what one entry of `resources:` stands for; True if there was something that could not be seen."""
        path = join(directory, entry)
        if path is not None and entry:
            documents = self.tree.documents(path) if not self.tree.is_directory(path) else None
            if documents is not None:
                manifests.extend(manifests_of(documents))
                reached.add(path)
                return not documents
            if self.tree.is_directory(path):
                return self._directory(entry, path, place, above, manifests, journal, reached)
        if _REMOTE.search(entry):
            remote(entry, place, journal)
        elif path is None:
            journal.note(f"resource {entry!r} is outside of the tree", place, code="outside")
        else:
            journal.note(f"resource {entry!r} is not there", place, code="missing-file")
            # Encrypted Secrets are often kept out of the tree; were it a route, nothing here could be built.
            journal.gap(f"{entry}, which is not there, may hold it", gateway_api=False)
        return True

    @staticmethod
    def _remote_entries(entries: Any, place: Trace, journal: Journal) -> None:
        """Note what the configuration of transformers and generators takes from elsewhere."""
        for index, entry in enumerate(sequence(entries)):
            if "\n" not in text(entry) and _REMOTE.search(text(entry)):
                remote(text(entry), place.child(index), journal)

    def _directory(
        self,
        entry: str,
        path: str,
        place: Trace,
        above: tuple[str, ...],
        manifests: list[Manifest],
        journal: Journal,
        reached: set[str],
    ) -> bool:
        if self._is_hostile(entry, path, place, above, journal):
            return True
        if self.tree.kustomization_file(path) is None:
            journal.note(f"directory {entry!r} has no kustomization", place, code="missing-file")
            return True
        base = self._base(path, above)
        journal.add(base.journal)
        reached |= base.reached
        if len(manifests) + len(base.manifests) > MAX_OBJECTS:
            journal.note(f"more than {MAX_OBJECTS:,} objects: not rendered", place, code="too-many")
            return True
        manifests.extend(each.copy() for each in base.manifests)
        return bool(base.journal.notes)

    def _component(
        self,
        directory: str,
        entry: str,
        place: Trace,
        above: tuple[str, ...],
        manifests: list[Manifest],
        journal: Journal,
        reached: set[str],
    ) -> list[Manifest]:
        """Run a component over what there is so far."""
        path = join(directory, entry)
        if path is not None and self._is_hostile(entry, path, place, above, journal):
            return manifests
        kustomization = None if path is None or not entry else self.tree.kustomization(path)
        if path is None or kustomization is None:
            if _REMOTE.search(entry):
                remote(entry, place, journal)
            else:
                journal.note(f"component {entry!r} is not there", place, code="missing-file")
            return manifests
        built = self._run(path, *kustomization, manifests, above)
        journal.add(built.journal)
        reached |= built.reached
        return built.manifests

    def _is_hostile(self, entry: str, path: str, place: Trace, above: tuple[str, ...], journal: Journal) -> bool:
        """Whether following an entry would never end; noted."""
        if path in above:
            journal.note(f"{entry!r} leads back to {path or 'the top'}: a cycle", place, code="cycle")
            return True
        self._runs += 1
        if self._runs > MAX_RUNS:
            journal.note(f"more than {MAX_RUNS:,} kustomizations inside each other", place, code="too-many")
            return True
        if len(above) >= MAX_DEPTH:
            journal.note(f"kustomizations nested deeper than {MAX_DEPTH} levels", place, code="too-deep")
            return True
        return False

    def _patch(
        self,
        directory: str,
        body: dict[str, Any],
        trace: Trace,
        fields: tuple[str, ...],
        manifests: list[Manifest],
        journal: Journal,
        unseen: bool,
    ) -> list[Manifest]:
        if not any(body.get(field) for field in fields):
            return manifests
        for patch in patches(directory, body, trace, fields, self.tree, journal):
            content = mapping(patch.content)
            group = text(content.get("apiVersion")).rpartition("/")[0]
            hidden = unseen or (group, text(content.get("kind"))) in self._unread
            manifests = apply_patch(patch, manifests, journal, unseen=hidden)
        return manifests

    def _generate(
        self, directory: str, body: dict[str, Any], trace: Trace, manifests: list[Manifest], journal: Journal
    ) -> None:
        if not (body.get("configMapGenerator") or body.get("secretGenerator")):
            return

        def missing(path: str, place: Trace) -> None:
            journal.note(f"generator file {path!r} is not there", place, code="missing-file")

        for manifest, behaviour in generated(directory, body, trace, self.tree, missing):
            same = next((each for each in manifests if _same_map(each, manifest)), None)
            if behaviour == "create" or same is None:
                manifests.append(manifest)
            elif behaviour in ("merge", "replace"):
                data = mapping(same.body.get("data")) if behaviour == "merge" else {}
                new = {**data, **mapping(manifest.body.get("data"))}
                same.put(("data",), new, manifest.trace)
                same.hashed = same.hashed and (manifest.hashed or same.hashed)

    def _configurations(self, directory: str, body: dict[str, Any], trace: Trace, journal: Journal) -> None:
        found: list[NameReference] = []
        for index, entry in enumerate(sequence(body.get("configurations"))):
            path = join(directory, text(entry))
            values = [] if path is None else self.tree.values(path)
            if not values:
                place = trace.child("configurations").child(index)
                journal.note(f"configuration {text(entry)!r} is not there", place, code="missing-file")
            for value, _ in values:
                found.extend(configured(value))
        if found:
            self._references[directory] = found

    def _replace(self, directory: str, entry: Any, place: Trace, manifests: list[Manifest], journal: Journal) -> None:
        found = [entry]
        if text(entry.get("path")):
            path = join(directory, entry["path"])
            values = [] if path is None else [value for value, _ in self.tree.values(path)]
            if not values:
                journal.note(f"replacement file {entry['path']!r} is not there", place, code="missing-file")
            found = [each for value in values for each in (value if isinstance(value, list) else [value])]
        for each in found:
            try:
                replace(manifests, dict(mapping(each)))
            except ReplacementError as error:
                journal.note(f"this replacement does not apply: {error}", place, code="replacement-not-applied")


def manifests_of(documents: Iterable[Document]) -> list[Manifest]:
    """The objects in some documents."""
    return [
        Manifest(body, Trace(document, root)) for document in documents for body, root in objects_of(document.value)
    ]


def remote(entry: str, place: Trace, journal: Journal, *, namespace: str = "") -> None:
    """Note a base that lies elsewhere; it may hold anything, unless its address says that it holds CRDs."""
    journal.note(f"{entry} lies in another repository: not seen", place, code="remote-base")
    journal.gap(f"{entry}, which was not seen, may hold it", namespace, gateway_api=not _ONLY_CRDS.search(entry))


def _same_map(one: Manifest, other: Manifest) -> bool:
    return one.kind == other.kind and other.name in (one.name, *(name for _, name in one.names))


def _nowhere(directory: str) -> Any:
    from policylint.model import Spot

    return Spot(directory)
