"""From documents to resources: lists taken apart, identities worked out, each in the namespace it lands in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.documents import Document, Pointer
from policylint.load.facts import is_kustomization_path
from policylint.model import UNKNOWN_NAMESPACE, Resource, ResourceKey, mapping, sequence, text
from policylint.model.keys import CLUSTER_SCOPED

KUSTOMIZE_GROUP = "kustomize.config.k8s.io"
_INSTANCE = ("fluxcd.controlplane.io", "FluxInstance")
_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")


def resources(
    documents: Iterable[Document],
    *,
    cluster_scoped: frozenset[tuple[str, str]],
    movable: bool,
    left_out: frozenset[str] = frozenset(),
    known: dict[Document, list[Resource]] | None = None,
) -> list[Resource]:
    """Every Kubernetes object of the documents, in their order.

    Args:
        cluster_scoped: kinds beside the well-known ones that have no namespace.
        movable: whether kustomizations or the like place the objects: one without a namespace is then in an unknown
            one, the same for all objects of its directory. Otherwise it lands in `default`, as `kubectl apply` does it.
        left_out: files that hold patches, not objects.
        known: the objects of documents that another side has, with the same kinds and as movable as here; what is made
            here is added.
    """
    without = CLUSTER_SCOPED | cluster_scoped
    found = []
    for document in documents:
        if document.file in left_out:
            continue
        of_document = None if known is None else known.get(document)
        if of_document is None:
            made = (_resource(body, document, root, without, movable) for body, root in objects_of(document.value, ()))
            of_document = [each for each in made if each is not None]
            if known is not None:
                known[document] = of_document
        found += of_document
    return found


def objects_of(value: Any, root: Pointer = ()) -> Iterator[tuple[dict[str, Any], Pointer]]:
    """Yield the object itself, or the items of a list, however deep, each with the pointer to it.

    A list is a `kind: …List` that carries objects, and, as kubectl sees it, any object with items that are objects.
    """
    if not isinstance(value, dict):
        if isinstance(value, list):  # a JSON file may hold a bare list of objects
            for index, each in enumerate(value):
                if isinstance(each, dict) and "apiVersion" in each and "kind" in each:
                    yield each, (*root, index)
        return
    kind = value.get("kind")
    items = value.get("items")
    is_list = isinstance(kind, str) and kind.endswith("List")
    if isinstance(items, list) and (is_list or any(isinstance(item, dict) and "kind" in item for item in items)):
        for index, item in enumerate(items):
            if isinstance(item, dict):
                if (
                    "kind" not in item and isinstance(kind, str) and is_list and kind != "List"
                ):  # `HTTPRouteList` items may leave their kind out
                    item = {"apiVersion": value.get("apiVersion"), "kind": kind[:-4], **item}
                yield from objects_of(item, (*root, "items", index))
    else:
        yield value, root


def _resource(
    body: dict[str, Any],
    document: Document,
    root: Pointer,
    cluster_scoped: frozenset[tuple[str, str]],
    movable: bool,
) -> Resource | None:
    api_version, kind = body.get("apiVersion"), body.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str) or not kind:
        return None
    group, _, version = api_version.rpartition("/")
    metadata = mapping(body.get("metadata"))
    name = text(metadata.get("name")) or text(metadata.get("generateName"))
    if not name and group != KUSTOMIZE_GROUP:
        return None
    if (group, kind) in cluster_scoped:
        namespace = ""
    else:
        unplaced = f"{UNKNOWN_NAMESPACE}{document.file.rpartition('/')[0]}"
        namespace = text(metadata.get("namespace")) or (unplaced if movable else "default")
    return Resource(ResourceKey(group, kind, namespace, name), version, body, document, root)


def cluster_scoped_kinds(documents: Iterable[Document]) -> frozenset[tuple[str, str]]:
    """Kinds that parsed CRDs declare cluster-scoped."""
    found = set()
    for document in documents:
        kind = document.value.get("kind") if isinstance(document.value, dict) else None
        if isinstance(kind, str) and kind != _CRD[1] and not kind.endswith("List"):
            continue
        for body, _ in objects_of(document.value, ()):
            spec = mapping(body.get("spec"))
            if body.get("kind") == _CRD[1] and spec.get("scope") == "Cluster":
                found.add((text(spec.get("group")), text(mapping(spec.get("names")).get("kind"))))
    return frozenset(found)


_KUSTOMIZE = f"{KUSTOMIZE_GROUP}/"


def patch_files(documents: Iterable[Document]) -> frozenset[str]:
    """Files that kustomizations use as patches: they look like objects and are none."""
    found: set[str] = set()
    for document in documents:
        value = mapping(document.value)
        if not is_kustomization_file(document):
            continue
        directory = document.file.rpartition("/")[0]
        entries = [
            *(mapping(each).get("path") for each in sequence(value.get("patches"))),
            *(mapping(each).get("path") for each in sequence(value.get("patchesJson6902"))),
            *sequence(value.get("patchesStrategicMerge")),
        ]
        found.update(_join(directory, each) for each in entries if isinstance(each, str) and "\n" not in each)
    return frozenset(found)


def is_kustomization_file(document: Document) -> bool:
    """Whether a document is a kustomization, by its file's name or its apiVersion."""
    if is_kustomization_path(document.file):
        return True
    return text(mapping(document.value).get("apiVersion")).startswith(_KUSTOMIZE)


def places_objects(document: Document) -> bool:
    """Whether a document decides what is deployed where: a kustomization, a Flux Kustomization, a FluxInstance, an
    Argo CD Application."""
    value = mapping(document.value)
    group = text(value.get("apiVersion")).partition("/")[0]
    if group == "argoproj.io":
        return value.get("kind") in ("Application", "ApplicationSet")
    if group == "kustomize.toolkit.fluxcd.io" or (group == _INSTANCE[0] and value.get("kind") == _INSTANCE[1]):
        return True
    return is_kustomization_file(document)


def _join(directory: str, relative: str) -> str:
    steps: list[str] = directory.split("/") if directory else []
    for step in relative.split("/"):
        if step == ".." and steps and steps[-1] != "..":
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)
