"""Where the values of an object that another program rendered are written, as far as its source can be found.

kustomize says so itself where it is asked to (`buildMetadata: [originAnnotations]`); else the object is looked for
among those that were read, by its identity. A value that the source has, too, is written there; any other one is what
the program made of it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable
from typing import Any

from policylint.documents import Document, read
from policylint.load.objects import objects_of
from policylint.model import Resource, mapping, text
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import join

ANNOTATION = "config.kubernetes.io/origin"
MAX_DEPTH = 40


def origin(body: Any) -> str:
    """The path of the file that an object comes from, as kustomize annotates it; "" where it does not say, or names a
    file of another repository."""
    said = mapping(mapping(mapping(body).get("metadata")).get("annotations")).get(ANNOTATION)
    if not isinstance(said, str):
        return ""
    value = next((mapping(each.value) for each in read(said.encode("utf-8", "replace"), "").documents), {})
    return "" if value.get("repo") else text(value.get("path"))


def aligned(made: Any, place: Trace, source: Any, trace: Trace, depth: int = 0) -> Trace:
    """The trace of a rendered value: of its source where the two agree, down to what differs, which is at `place`.

    Args:
        place: where what made the value is written.
        source, trace: what it was made of, and where that is written.
    """
    if made == source:
        return trace
    if depth > MAX_DEPTH:
        return place
    children: dict[str | int, Trace] = {}
    if isinstance(made, dict) and isinstance(source, dict):
        for key, value in made.items():
            there = key in source
            children[key] = aligned(value, place, source[key], trace.child(key), depth + 1) if there else place
        return Trace(trace.document, trace.pointer, children)
    if isinstance(made, list) and isinstance(source, list) and len(made) == len(source):
        for index, value in enumerate(made):
            children[index] = aligned(value, place, source[index], trace.child(index), depth + 1)
        return Trace(trace.document, trace.pointer, children)
    return place


def source_of(made: Manifest, known: list[Manifest]) -> Manifest | None:
    """The object that another one was made of: of its kind and name, else the only one whose name is part of the new
    one's; None where that is not certain."""
    same = [each for each in known if each.api_version == made.api_version and each.kind == made.kind]
    for fitting in (
        [each for each in same if each.name == made.name and each.namespace in (made.namespace, "")],
        [each for each in same if each.name == made.name],
        [each for each in same if each.name and each.name in made.name],
    ):
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def rendered(made: Iterable[Manifest], known: list[Manifest], place: Trace) -> list[Manifest]:
    """Objects that a program made of others, each value located in its source or, where it is new, at `place`."""
    found = []
    for each in made:
        own = source_of(each, known)
        if own is not None:
            each.trace = aligned(each.body, place, own.body, own.trace)
            former = (own.namespace, own.name)
            each.names = own.names if former == (each.namespace, each.name) else (*own.names, former)
        found.append(each)
    return found


def located(objects: list[Resource], reading: Callable[[str], list[Document]]) -> list[Resource]:
    """Rendered objects with an origin annotation, located in the files that they come from where those are here.

    Args:
        reading: the documents of a file by its path as shown; none if it is not there.
    """
    found = []
    for each in objects:
        annotations = each.annotations
        path = origin(each.body) if ANNOTATION in annotations else ""
        source = _in_file(each, path, reading) if path else None
        if source is not None:
            own = Trace(each.document, each.root)
            trace = aligned(each.body, own, source.body, source.trace)
            each = Resource(each.key, each.version, each.body, trace.document, trace.pointer, trace)
        found.append(each)
    return found


def _in_file(resource: Resource, path: str, reading: Callable[[str], list[Document]]) -> Manifest | None:
    """The object in its file. The path is as seen from a kustomization that nobody names: from here, or from any
    directory below, which the steps upwards lead out of."""
    normal = posixpath.normpath(path)
    here = join("", normal.lstrip("./")) if normal.startswith("..") else join("", normal)
    if not here:
        return None
    known = [
        Manifest(body, Trace(document, root)) for document in reading(here) for body, root in objects_of(document.value)
    ]
    return source_of(Manifest(resource.body, Trace(resource.document, resource.root)), known)
