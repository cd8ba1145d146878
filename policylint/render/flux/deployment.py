"""What one Flux cluster deploys: from the directory it syncs through the Kustomizations found in it, and theirs.

A Kustomization amends the kustomization of its path (targetNamespace, patches, components…) or writes one for a path
without, builds it, and fills in variables; so does this module.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Container, Iterable, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.flux.resource_sets import expanded
from policylint.render.flux.substitution import DISABLED, filled_in
from policylint.render.journal import Journal
from policylint.render.kustomize.build import Kustomizer, remote
from policylint.render.kustomize.metadata import add_annotations, add_labels
from policylint.render.kustomize.patches import apply_patch, patches
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import Tree, join, metadata

GROUP = "kustomize.toolkit.fluxcd.io"
MAX_KUSTOMIZATIONS = 20_000
_OWN_SOURCES = ("flux-system", "")


class Deployed(NamedTuple):
    """What lands in one cluster.

    Args:
        manifests: the objects, in the order in which they are found.
        journal: notes and gaps.
        reached: files and directories that something deploys.
    """

    manifests: list[Manifest]
    journal: Journal
    reached: set[str]


class Sync(NamedTuple):
    """How a FluxInstance syncs a directory.

    Args:
        kustomization: the Kustomization that the Flux Operator makes for it, in `flux-system`.
        kustomize: the instance's `kustomize`: patches for what the operator makes, that Kustomization included.
        place: where they are written.
    """

    kustomization: Manifest
    kustomize: Any
    place: Trace


def is_kustomization(body: Any) -> bool:
    """Whether an object is a Flux Kustomization."""
    value = mapping(body)
    return value.get("kind") == "Kustomization" and text(value.get("apiVersion")).startswith(f"{GROUP}/")


_NO_SYNCS: Mapping[str, Sync] = {}


class Cluster:
    """The walk through one cluster's Kustomizations.

    Args:
        prefix: where in the tree the artifact that Flux fetches begins, "" for the top (an OCI artifact may hold a
            subdirectory only).
    """

    def __init__(self, tree: Tree, kustomizer: Kustomizer, prefix: str = "") -> None:
        self._tree = tree
        self._kustomizer = kustomizer
        self._prefix = prefix
        self._journal = Journal()
        self._manifests: list[Manifest] = []
        self._reached: set[str] = set()
        self._own_source = ("", "")
        self._seen: dict[tuple[str, str], Manifest] = {}
        self._waiting: deque[Manifest] = deque()

    def deploy(self, directories: Iterable[str], syncs: Mapping[str, Sync] = _NO_SYNCS) -> Deployed:
        """Everything that the synced directories lead to.

        Args:
            syncs: what FluxInstances say of some of them.
        """
        owners = []
        for directory in directories:
            sync = syncs.get(directory)
            owner = self._synced_by(directory) if sync is None else self._patched(sync)
            body, trace = self._kustomization(directory, owner)
            if owner is not None:
                owners.append(owner)
                self._seen[owner.namespace or "flux-system", owner.name] = owner
                body, trace = _amended(body, trace, mapping(owner.body.get("spec")), owner.trace.at(("spec",)))
            self._take(directory, body, trace, "flux-system", owner)
        self._own_source = _most_common_source([*owners, *self._waiting])
        while self._waiting:
            self._follow(self._waiting.popleft())
        self._check_dependencies()
        return Deployed(self._manifests, self._journal, self._reached)

    def _patched(self, sync: Sync) -> Manifest:
        """The Kustomization of a FluxInstance after the instance's patches; the other objects of the operator, which
        they may be for, are not seen."""
        made = [sync.kustomization.copy()]
        for patch in patches(
            "", {"patches": sync.kustomize.get("patches")}, sync.place, ("patches",), self._tree, self._journal
        ):
            made = apply_patch(patch, made, self._journal, unseen=True)
        return made[0] if made else sync.kustomization

    def _synced_by(self, directory: str) -> Manifest | None:
        """The Kustomization in a synced directory that syncs the directory itself, as `flux bootstrap` writes it."""
        for manifest in self._kustomizer.build(directory, self._kustomization(directory, None)).manifests:
            if is_kustomization(manifest.body):
                path = text(mapping(manifest.body.get("spec")).get("path")) or "."
                if join(self._prefix, path.lstrip("/")) == directory:
                    return manifest
        return None

    def _take(
        self, directory: str, body: dict[str, Any], trace: Trace, namespace: str, owner: Manifest | None = None
    ) -> None:
        """Build a directory, add what it holds and queue the Kustomizations in it."""
        built = self._kustomizer.build(directory, (body, trace))
        self._journal.add(built.journal)
        self._reached |= built.reached
        if owner is not None:
            self._post_build(owner, built.manifests)
        found: list[Manifest] = []
        for manifest in built.manifests:
            found.append(manifest)
            found.extend(expanded(manifest, self._journal))
        for manifest in found:
            if is_kustomization(manifest.body):
                key = (manifest.namespace or namespace, manifest.name)
                if key not in self._seen and len(self._seen) < MAX_KUSTOMIZATIONS:
                    self._seen[key] = manifest
                    self._waiting.append(manifest)
        self._manifests += found

    def _follow(self, owner: Manifest) -> None:
        """Deploy what one Kustomization points to."""
        spec = mapping(owner.body.get("spec"))
        place = owner.trace.at(("spec",))
        path = text(spec.get("path")) or "."
        if spec.get("suspend") is True:
            note = f"{owner} is suspended: what it deploys is taken to be deployed still"
            self._journal.note(note, place.child("suspend"), code="suspended")
        directory = self._directory(owner, spec, path)
        if directory is None:
            return
        body, trace = self._kustomization(directory, owner)
        body, trace = _amended(body, trace, spec, place)
        self._take(directory, body, trace, owner.namespace or "default", owner)

    def _directory(self, owner: Manifest, spec: Any, path: str) -> str | None:
        """The directory in this tree that a Kustomization deploys; None, noted, if it is somewhere else."""
        reference = mapping(spec.get("sourceRef"))
        source = (text(reference.get("kind")), text(reference.get("name")))
        own = source == self._own_source or source[1] in _OWN_SOURCES
        place = owner.trace.at(("spec", "path"))
        found = join(self._prefix, path.lstrip("/"))
        if found is not None and (own or found != self._prefix) and self._holds_yaml(found):
            return found
        where = f"path {path} of {owner}"
        namespace = text(spec.get("targetNamespace"))
        if own:
            code, message = ("outside", "is outside of the tree") if found is None else ("missing-path", "is not there")
            self._journal.note(f"{where} {message}", place, code=code)
            self._journal.gap(f"{where} was not seen", namespace)
        else:
            remote(f"path {path} of {' '.join(source)}", place, self._journal, namespace=namespace)
        return None

    def _holds_yaml(self, directory: str) -> bool:
        return self._tree.is_directory(directory)

    def _kustomization(self, directory: str, owner: Manifest | None) -> tuple[dict[str, Any], Trace]:
        """The kustomization of a directory, or the one that Flux writes: every YAML file below, and every directory
        with a kustomization of its own as one."""
        known = self._tree.kustomization(directory)
        if known is not None:
            self._reached.add(self._tree.kustomization_file(directory) or "")
            return known
        resources: list[str] = []
        pending = [""]
        while pending:
            below = pending.pop()
            here = "/".join(each for each in (directory, below) if each)
            if below and self._tree.kustomization_file(here) is not None:
                resources.append(below)
                continue
            steps = [*self._tree.files.get(here, ()), *self._tree.directories.get(here, ())]
            names = [f"{below}/{each}" if below else each for each in steps]
            resources += names[: len(self._tree.files.get(here, ()))]
            pending += names[len(self._tree.files.get(here, ())) :]
        source = owner.trace.at(("spec", "path")) if owner is not None else _first_file(self._tree, directory)
        return {"resources": sorted(resources)}, source

    def _post_build(self, owner: Manifest, manifests: list[Manifest]) -> None:
        """Common metadata, and variables."""
        spec = mapping(owner.body.get("spec"))
        common = mapping(spec.get("commonMetadata"))
        place = owner.trace.at(("spec", "commonMetadata"))
        variables = self._variables(owner, mapping(spec.get("postBuild")))
        complete(manifests, common, place, variables, self._tree.with_variables)

    def _variables(self, owner: Manifest, post_build: Any) -> dict[str, str]:
        """The values of `substitute` over those of the ConfigMaps of `substituteFrom`; Secrets are not seen."""
        found: dict[str, str] = {}
        for reference in sequence(post_build.get("substituteFrom")):
            reference = mapping(reference)
            if reference.get("kind") == "ConfigMap":
                found.update(self._config_map(text(reference.get("name")), owner.namespace))
        for name, value in mapping(post_build.get("substitute")).items():
            found[name] = value if isinstance(value, str) else _as_text(value)
        if not found and post_build.get("substituteFrom"):
            found[""] = ""  # variables come from what was not seen: defaults are filled in all the same
        return found

    def _config_map(self, name: str, namespace: str) -> dict[str, str]:
        candidates = [
            each
            for each in self._manifests
            if each.kind == "ConfigMap" and (name == each.name or any(name == known for _, known in each.names))
        ]
        chosen = next((each for each in candidates if each.namespace == namespace), None)
        body = chosen.body if chosen is not None else self._map_in_tree(name)
        values = mapping(mapping(body).get("data"))
        return {key: value if isinstance(value, str) else _as_text(value) for key, value in values.items()}

    def _map_in_tree(self, name: str) -> Any:
        for path, document in self._tree.all_documents():
            body = mapping(document.value)
            if body.get("kind") == "ConfigMap" and metadata(body).get("name") == name and self._is_below(path):
                return body
        return {}

    def _is_below(self, path: str) -> bool:
        return not self._prefix or path.startswith(f"{self._prefix}/")

    def _check_dependencies(self) -> None:
        """Note Kustomizations that wait for each other: none of them is ever applied."""
        waits = {
            key: [
                (text(mapping(each).get("namespace")) or key[0], text(mapping(each).get("name")))
                for each in sequence(mapping(owner.body.get("spec")).get("dependsOn"))
            ]
            for key, owner in self._seen.items()
        }
        left = {key: {each for each in on if each in waits} for key, on in waits.items()}
        while free := [key for key, on in left.items() if not on]:
            for key in free:
                del left[key]
            gone = set(free)
            for on in left.values():
                on -= gone
        for key in sorted(left):
            if left[key] & left.keys() and self._leads_back(key, left):
                owner = self._seen[key]
                place = owner.trace.at(("spec", "dependsOn"))
                self._journal.note(f"{owner} depends on itself by way of others", place, code="depends-cycle")

    @staticmethod
    def _leads_back(start: tuple[str, str], edges: dict[tuple[str, str], set[tuple[str, str]]]) -> bool:
        seen: set[tuple[str, str]] = set()
        pending = list(edges[start])
        while pending:
            here = pending.pop()
            if here == start:
                return True
            if here not in seen:
                seen.add(here)
                pending += edges.get(here, ())
        return False


def complete(
    manifests: list[Manifest], common: Any, place: Trace, variables: Mapping[str, str], with_variables: Container[str]
) -> None:
    """Put the common metadata written at a place into manifests, and the values of variables.

    Args:
        with_variables: files, as shown, that hold `${`.
    """
    if common:
        labels = {"labels": [{"pairs": mapping(common.get("labels"))}]}
        at = Trace(place.document, place.pointer, {"pairs": place.child("labels")})
        add_labels(manifests, labels, Trace(place.document, (), {"labels": at.with_items([at])}))
        add_annotations(manifests, mapping(common.get("annotations")), place.child("annotations"))
    if not variables:
        return
    for each in manifests:
        if not each.trace.children and each.file not in with_variables:
            continue
        metadata_ = metadata(each.body)
        marks = (mapping(metadata_.get("annotations")), mapping(metadata_.get("labels")))
        if any(mark.get(DISABLED) == "disabled" for mark in marks):
            continue
        each.body = filled_in(each.body, variables)


def _amended(body: dict[str, Any], trace: Trace, spec: Any, place: Trace) -> tuple[dict[str, Any], Trace]:
    """The kustomization as Flux rewrites it before building."""
    for field, name in (("targetNamespace", "namespace"), ("namePrefix", "namePrefix"), ("nameSuffix", "nameSuffix")):
        if text(spec.get(field)):
            body = {**body, name: spec[field]}
            trace = trace.with_child(name, place.child(field))
    for field in ("patches", "components"):
        added = sequence(spec.get(field))
        if added:
            body, trace = extended(body, trace, field, added, place.child(field))
    return body, trace


def extended(
    body: dict[str, Any], trace: Trace, field: str, added: list[Any], source: Trace
) -> tuple[dict[str, Any], Trace]:
    """A kustomization with more entries in one of its lists."""
    known = sequence(body.get(field))
    own = trace.child(field)
    items = [own.child(index) for index in range(len(known))] + [source.child(index) for index in range(len(added))]
    return {**body, field: [*known, *added]}, trace.with_child(field, own.with_items(items))


def _most_common_source(owners: Iterable[Manifest]) -> tuple[str, str]:
    """The source that is this tree: what most of the first Kustomizations name, `flux-system` where one does."""
    counted: Counter[tuple[str, str]] = Counter()
    for owner in owners:
        reference = mapping(mapping(owner.body.get("spec")).get("sourceRef"))
        counted[text(reference.get("kind")), text(reference.get("name"))] += 1
    return max(counted, key=lambda each: (each[1] in _OWN_SOURCES, counted[each], each), default=("", ""))


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _first_file(tree: Tree, directory: str) -> Trace:
    """Somewhere to point at when a root has no kustomization."""
    from policylint.model import Spot

    nothing: Pointer = ()
    name = next(iter(tree.files.get(directory, ())), "")
    for document in tree.documents(f"{directory}/{name}" if directory else name) or ():
        return Trace(document, nothing)
    return Trace(Spot(directory), nothing)
