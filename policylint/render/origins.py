"""The places of the values of objects that another program rendered, as far as their sources can be found.

kustomize says so itself where it is asked to (`buildMetadata: [originAnnotations]`); else the object is looked for
among those that were read, by its identity. A value that the source has, too, is written there; any other one is what
the program made of it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Any

from policylint.documents import Document, read
from policylint.model import Resource, mapping, text
from policylint.render.provenance import Manifest, Provenance, manifests_of
from policylint.render.tree import join

ANNOTATION = "config.kubernetes.io/origin"
MAX_DEPTH = 40


def _annotated_path(resource: Resource) -> str:
    """Return the path of the file that an object comes from, as kustomize annotates it; "" where it does not say, or
    names a file of another repository."""
    annotation = text(resource.annotations.get(ANNOTATION))
    documents = read(annotation.encode("utf-8", "replace"), "").documents if annotation else []
    value = mapping(documents[0].value) if documents else {}
    return "" if value.get("repo") else text(value.get("path"))


def aligned(made: Any, place: Provenance, source: Any, origin: Provenance, depth: int = 0) -> Provenance:
    """Return the provenance of a rendered value: its source's where the two agree, down to what differs, which is at
    `place`.

    Args:
        place: where what made the value is written.
        source, origin: what it was made of, and where that is written.
    """
    if made == source:
        return origin
    if depth > MAX_DEPTH:
        return place
    children: dict[Any, Provenance] = {}
    if isinstance(made, dict) and isinstance(source, dict):
        for key, value in made.items():
            is_known = key in source
            children[key] = aligned(value, place, source[key], origin.child(key), depth + 1) if is_known else place
        return origin.with_children(children)
    if isinstance(made, list) and isinstance(source, list) and len(made) == len(source):
        for index, value in enumerate(made):
            children[index] = aligned(value, place, source[index], origin.child(index), depth + 1)
        return origin.with_children(children)
    return place


def source_of(made: Manifest, known: list[Manifest]) -> Manifest | None:
    """Return the object that another one was made of: of its kind and name, else the only one whose name is part of
    the new one's; None where that is not certain."""
    same = [manifest for manifest in known if (manifest.api_version, manifest.kind) == (made.api_version, made.kind)]
    named = [manifest for manifest in same if manifest.name == made.name]
    for candidates in (
        [manifest for manifest in named if manifest.namespace in (made.namespace, "")],
        named,
        [manifest for manifest in same if manifest.name and manifest.name in made.name],
    ):
        if candidates:
            return candidates[0] if len(candidates) == 1 else None
    return None


def locate(made: list[Manifest], known: list[Manifest], place: Provenance) -> None:
    """Locate each value of objects that a program made of others in its source or, where it is new, at `place`."""
    for manifest in made:
        source = source_of(manifest, known)
        if source is not None:
            manifest.origin = aligned(manifest.body, place, source.body, source.origin)
            former = (source.namespace, source.name)
            is_same = former == (manifest.namespace, manifest.name)
            manifest.names = source.names if is_same else (*source.names, former)


def located(objects: list[Resource], reading: Callable[[str], list[Document]]) -> list[Resource]:
    """Return rendered objects, those with an origin annotation located in the files that they come from if these are
    here.

    Args:
        reading: returns the documents of a file by its path as shown; none if it is not there.
    """
    resources = []
    for resource in objects:
        path = _annotated_path(resource)
        source = _in_file(resource, path, reading) if path else None
        if source is not None:
            place = Provenance(resource.document, resource.root)
            origin = aligned(resource.body, place, source.body, source.origin)
            resource = Resource(
                resource.key,
                resource.version,
                resource.body,
                origin.document,
                origin.pointer,
                origin,
                provisional=resource.provisional,
            )
        resources.append(resource)
    return resources


def _in_file(resource: Resource, path: str, reading: Callable[[str], list[Document]]) -> Manifest | None:
    """Return the object in its file. The path is relative to a kustomization that nobody names: here, or any directory
    below, out of which its first steps lead."""
    normal = posixpath.normpath(path)
    file = join("", normal.lstrip("./")) if normal.startswith("..") else join("", normal)
    if not file:
        return None
    return source_of(Manifest(resource.body, Provenance(resource.document, resource.root)), manifests_of(reading(file)))
