"""Namespaces, names, labels, annotations, images and numbers of replicas: kustomize's transformers of single fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping, text
from policylint.patterns import Pattern
from policylint.render.kustomize.field_specs import FieldSpec, Specs, merged, read
from policylint.render.provenance import Manifest, Provenance, entries

_NEVER_RENAMED = (
    FieldSpec("", "CustomResourceDefinition"),
    FieldSpec("", "APIService", "apiregistration.k8s.io"),
    FieldSpec("", "Namespace"),
)
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")
_CONTAINERS = ("containers", "initContainers")
_VERSION = Pattern(r"(:[a-zA-Z0-9_.{}-]*)?(@[a-zA-Z0-9]+([.+_-][a-zA-Z0-9]+)*:[a-zA-Z0-9_.{}-]*)?")


def is_local(manifest: Manifest) -> bool:
    """Return whether an object is configuration that kustomize does not print."""
    return "config.kubernetes.io/local-config" in mapping(manifest.metadata.get("annotations"))


def set_namespace(
    manifests: Iterable[Manifest],
    namespace: str,
    source: Provenance,
    fields: Iterable[FieldSpec],
    cluster_scoped: frozenset[tuple[str, str]],
) -> None:
    """Put every object into a namespace, whatever it says itself; a Namespace object takes the name instead.

    Kustomize writes a namespace into cluster-scoped kinds whose schema it does not know; the API server ignores it.

    Raises:
        FieldSpecError: a field with a namespace is none.
    """
    for manifest in manifests:
        manifest.remember()
        if (manifest.group, manifest.kind) not in cluster_scoped and manifest.metadata.get("namespace") != namespace:
            manifest.put(("metadata", "namespace"), namespace, source)
        if manifest.kind in _BINDINGS:
            subjects = manifest.body.get("subjects")
            for index, subject in enumerate(subjects if isinstance(subjects, list) else ()):
                if mapping(subject).get("name") == "default":
                    manifest.put(("subjects", index, "namespace"), namespace, source)
        for spec in fields:
            if spec.fits(manifest) and not _is_set_before(spec, manifest):
                for pointer in list(spec.places(manifest.body)):
                    manifest.put(pointer, namespace, source)


def _is_set_before(spec: FieldSpec, manifest: Manifest) -> bool:
    """Return whether the field is one that is set in a way of its own, or not at all."""
    if spec.path == "metadata/name":
        return manifest.api_version != "v1"
    return spec.path == "metadata/namespace" or (spec.path == "subjects/namespace" and spec.kind in _BINDINGS)


def add_to_names(manifests: Iterable[Manifest], prefix: str, suffix: str, specs: Specs) -> None:
    """Add prefix and suffix to the names; the name is still where its base writes it.

    Raises:
        FieldSpecError: a field that shall hold a name holds none.
    """
    for field, before, after in (("namePrefix", prefix, ""), ("nameSuffix", "", suffix)):
        fitting: dict[tuple[str, str], list[FieldSpec]] = {}  # by what tells kinds apart
        for manifest in manifests if before or after else ():
            kind = (manifest.api_version, manifest.kind)
            if kind not in fitting:
                renamed = () if any(each.fits(manifest) for each in _NEVER_RENAMED) else specs[field]
                fitting[kind] = [spec for spec in renamed if spec.fits(manifest)]
            for spec in fitting[kind]:
                if spec.path == "metadata/name":
                    manifest.affixes += ((before, after),)
                    manifest.remember()
                for pointer in list(spec.places(manifest.body)):
                    manifest.put(
                        pointer, f"{before}{_value_at(manifest.body, pointer)}{after}", manifest.origin.at(*pointer)
                    )


def add_labels(manifests: list[Manifest], body: dict[str, Any], origin: Provenance, specs: Specs) -> None:
    """Add `labels` and `commonLabels` of a kustomization, in selectors and pod templates, too, where it says so.

    Raises:
        FieldSpecError: kustomize refuses the fields that they name.
    """
    for entry, place in entries(body, origin, "labels"):
        options = mapping(entry)
        fields = merged(tuple(read(options.get("fields"))), specs.get("labels", ()))
        if options.get("includeSelectors") is True:
            fields = merged(fields, specs["commonLabels"])
        else:
            for option in ("includeTemplates", "includeVolumeClaimTemplates"):
                if options.get(option) is True:
                    fields = merged(fields, specs[f"{option[7].lower()}{option[8:-1]}Labels"])
            fields = merged(fields, (FieldSpec("metadata/labels", create=True),))
        _set_all(manifests, mapping(options.get("pairs")), place.child("pairs"), fields)
    _set_all(manifests, mapping(body.get("commonLabels")), origin.child("commonLabels"), specs["commonLabels"])


def add_annotations(manifests: list[Manifest], pairs: Any, source: Provenance, specs: Specs) -> None:
    """Add `commonAnnotations`, to pod templates, too.

    Raises:
        FieldSpecError: a field that shall hold annotations holds none.
    """
    _set_all(manifests, pairs, source, specs["commonAnnotations"])


def add_metadata(manifests: list[Manifest], common: Any, source: Provenance) -> None:
    """Add labels and annotations to the objects alone, not to the pods that they make."""
    for field in ("labels", "annotations"):
        spec = FieldSpec(f"metadata/{field}", create=True)
        _set_all(manifests, mapping(common.get(field)), source.child(field), (spec,))


def _set_all(manifests: Iterable[Manifest], pairs: Any, source: Provenance, fields: Iterable[FieldSpec]) -> None:
    for manifest in manifests if pairs else ():
        fitting = [spec for spec in fields if spec.fits(manifest)]
        for name, value in pairs.items():
            added = []
            for pointer in [pointer for spec in fitting for pointer in spec.places(manifest.body)]:
                place = (*pointer, name)
                if name not in mapping(_value_at(manifest.body, pointer)):
                    added.append(place)
                    manifest.put(place, value, source.child(name))
                    continue
                # What one transformer has added in several places is one value for the later ones.
                for each in next((linked for linked in manifest.linked if place in linked), (place,)):
                    if _value_at(manifest.body, each) not in (None, value):
                        manifest.put(each, value, source.child(name))
            if len(added) > 1:
                manifest.linked += (tuple(added),)


def scale(manifests: Iterable[Manifest], entry: Any, source: Provenance, specs: Specs) -> bool:
    """Set the number of replicas of what has a name, or has had it; return whether there is any.

    Raises:
        FieldSpecError: a text or number is in its way.
    """
    found = False
    name = text(entry.get("name"))
    for manifest in manifests:
        if name not in (manifest.name, *(former for _, former in manifest.names)):
            continue
        for spec in specs["replicas"]:
            if spec.fits(manifest):
                found = True
                for pointer in list(spec.places(manifest.body)):
                    manifest.put(pointer, entry.get("count", 0), source.child("count"))
    return found


def set_images(manifests: Iterable[Manifest], entry: Any, source: Provenance, specs: Specs) -> None:
    """Change the images of a name: in containers wherever they are, and in the fields that kustomize knows.

    Raises:
        FieldSpecError: a text or number is in the way of a field.
    """
    for manifest in manifests:
        if manifest.kind == "CustomResourceDefinition":
            continue
        for pointer in list(_images(manifest.body, ())):
            _set_image(manifest, pointer, entry, source)
        for spec in specs["images"]:
            if spec.fits(manifest):
                for pointer in list(spec.places(manifest.body)):
                    _set_image(manifest, pointer, entry, source)


def _images(value: Any, so_far: Pointer) -> Iterator[Pointer]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _images(inner, (*so_far, name))
            if name in _CONTAINERS and isinstance(inner, list):
                yield from (
                    (*so_far, name, index, "image") for index, item in enumerate(inner) if "image" in mapping(item)
                )
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _images(item, (*so_far, index))


def _set_image(manifest: Manifest, pointer: Pointer, entry: Any, source: Provenance) -> None:
    value, sought = _value_at(manifest.body, pointer), text(entry.get("name"))
    if not isinstance(value, str) or not value.startswith(sought) or not _VERSION.fullmatch(value[len(sought) :]):
        return
    host = value.find("/") if value.find("/") > 0 else 0
    rest, at, digest = value[host:].partition("@")
    name, _, tag = rest.partition(":")
    name, digest = text(entry.get("newName")) or value[:host] + name, digest if at else ""
    if entry.get("newTag") or entry.get("digest"):
        tag, digest = text(entry.get("newTag")), text(entry.get("digest"))
    elif entry.get("tagSuffix"):
        tag, digest = f"{tag}{entry['tagSuffix']}", ""
    new = name + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")
    if new != value:
        manifest.put(pointer, new, source)


def _value_at(value: Any, pointer: Pointer) -> Any:
    for step in pointer:
        value = value[step] if isinstance(value, list) else mapping(value).get(step)  # type: ignore[index, arg-type]
    return value
