"""From documents to resources: the items of lists, their identities, and the namespace that each lands in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.documents import Document, Pointer
from policylint.load.facts import is_kustomization_path
from policylint.model import UNKNOWN_NAMESPACE, Resource, ResourceKey, mapping, sequence, text
from policylint.model.kinds import CLUSTER_SCOPED, CLUSTER_SCOPED_GROUPS

KUSTOMIZE_GROUP = "kustomize.config.k8s.io"
CRD = "CustomResourceDefinition"


def resources(
    documents: Iterable[Document],
    *,
    cluster_scoped: frozenset[tuple[str, str]],
    movable: bool,
    left_out: frozenset[str] = frozenset(),
    known: dict[Document, list[Resource]] | None = None,
) -> list[Resource]:
    """Return every Kubernetes object of the documents, in their order.

    Args:
        cluster_scoped: kinds beside the well-known ones that have no namespace.
        movable: whether kustomizations or the like place the objects: one without a namespace is then in an unknown
            one, the same for all objects of its directory. Otherwise it lands in `default`, as `kubectl apply` does it.
        left_out: files that hold patches, not objects.
        known: the objects of documents that the other side of a diff has, made with the same arguments; objects made
            here are added.
    """
    cluster_scoped = CLUSTER_SCOPED | cluster_scoped
    all_resources = []
    for document in documents:
        if document.file in left_out:
            continue
        of_document = None if known is None else known.get(document)
        if of_document is None:
            made = (
                _resource(body, document, root, cluster_scoped, movable) for body, root in objects_of(document.value)
            )
            of_document = [resource for resource in made if resource is not None]
            if known is not None:
                known[document] = of_document
        all_resources += of_document
    return all_resources


def objects_of(value: Any, root: Pointer = ()) -> Iterator[tuple[dict[str, Any], Pointer]]:
    """Yield the object itself, or the items of a list, however deep, each with the pointer to it.

    A list is a `kind: …List` that carries objects, and, as kubectl sees it, any object with items that are objects.
    """
    if not isinstance(value, dict):
        if isinstance(value, list):  # a JSON file may hold a bare list of objects
            for index, item in enumerate(value):
                if isinstance(item, dict) and "apiVersion" in item and "kind" in item:
                    yield item, (*root, index)
        return
    kind, items = text(value.get("kind")), value.get("items")
    is_list = kind.endswith("List")
    if isinstance(items, list) and (is_list or any(isinstance(item, dict) and "kind" in item for item in items)):
        for index, item in enumerate(items):
            if isinstance(item, dict):
                if "kind" not in item and is_list and kind != "List":  # `HTTPRouteList` items may leave their kind out
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
    name = called(metadata.get("name")) or called(metadata.get("generateName"))
    if not name and group != KUSTOMIZE_GROUP:
        return None
    if (group, kind) in cluster_scoped:
        namespace = ""
    else:
        unplaced = f"{UNKNOWN_NAMESPACE}{document.file.rpartition('/')[0]}"
        namespace = called(metadata.get("namespace")) or (unplaced if movable else "default")
    return Resource(ResourceKey(group, kind, namespace, name), version, body, document, root)


def called(value: object) -> str:
    """Return a name; of what is none, which the API server refuses, how it is called where that is said."""
    return str(value).lower() if isinstance(value, (bool, int, float)) else text(value)


def cluster_scoped_kinds(documents: Iterable[Document]) -> frozenset[tuple[str, str]]:
    """Return the kinds that parsed CRDs declare cluster-scoped, and those of groups that have no other ones."""
    kinds = set()
    for document in documents:
        kind = document.value.get("kind") if isinstance(document.value, dict) else None
        group = text(document.value.get("apiVersion")).rpartition("/")[0] if isinstance(kind, str) else ""
        if group in CLUSTER_SCOPED_GROUPS:
            kinds.add((group, text(kind)))
        if isinstance(kind, str) and kind != CRD and not kind.endswith("List"):
            continue
        for body, _ in objects_of(document.value):
            spec = mapping(body.get("spec"))
            if body.get("kind") == CRD and spec.get("scope") == "Cluster":
                kinds.add((text(spec.get("group")), text(mapping(spec.get("names")).get("kind"))))
    return frozenset(kinds)


def patch_files(documents: Iterable[Document]) -> frozenset[str]:
    """Return the files that kustomizations use as patches: they look like objects and are none."""
    files: set[str] = set()
    for document in documents:
        value = mapping(document.value)
        if not is_kustomization_file(document):
            continue
        directory = document.file.rpartition("/")[0]
        entries = [
            *(mapping(patch).get("path") for patch in sequence(value.get("patches"))),
            *(mapping(patch).get("path") for patch in sequence(value.get("patchesJson6902"))),
            *sequence(value.get("patchesStrategicMerge")),
        ]
        files.update(joined(directory, path) for path in entries if isinstance(path, str) and "\n" not in path)
    return frozenset(files)


def is_kustomization_file(document: Document) -> bool:
    """Return whether a document is a kustomization, by its file's name or its apiVersion."""
    if is_kustomization_path(document.file):
        return True
    return text(mapping(document.value).get("apiVersion")).startswith(f"{KUSTOMIZE_GROUP}/")


def places_objects(document: Document) -> bool:
    """Return whether a document decides what is deployed where: a kustomization, a Flux Kustomization, a FluxInstance,
    an Argo CD Application."""
    value = mapping(document.value)
    group = text(value.get("apiVersion")).partition("/")[0]
    if group == "argoproj.io":
        return value.get("kind") in ("Application", "ApplicationSet")
    if group == "fluxcd.controlplane.io" and value.get("kind") == "FluxInstance":
        return True
    return group == "kustomize.toolkit.fluxcd.io" or is_kustomization_file(document)


def joined(directory: str, relative: str) -> str:
    """Return a path as seen from a directory, both as shown, which may lead out of what was listed."""
    steps: list[str] = directory.split("/") if directory else []
    for step in relative.split("/"):
        if step == ".." and steps and steps[-1] != "..":
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)
