"""Namespaces, name prefixes, labels and annotations: kustomize's transformers of metadata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policylint.documents import MAX_DEPTH, Pointer
from policylint.model import mapping, sequence, text
from policylint.render.provenance import Manifest, Provenance, entries

_NEVER_RENAMED = frozenset(
    {
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("", "Namespace"),
    }
)
_POD_TEMPLATES: dict[tuple[str, str], Pointer] = {
    **{("apps", kind): ("spec", "template") for kind in ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet")},
    ("batch", "Job"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}
_MATCHED = frozenset({"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"})


def set_namespace(
    manifests: Iterable[Manifest], namespace: str, source: Provenance, cluster_scoped: frozenset[tuple[str, str]]
) -> None:
    """Put every object into a namespace, whatever it says itself; a Namespace object takes the name instead.

    Kustomize writes a namespace into cluster-scoped kinds whose schema it does not know; the API server ignores it.
    """
    for manifest in manifests:
        kind = (manifest.group, manifest.kind)
        field = "name" if kind == ("", "Namespace") else "namespace"
        if field == "namespace" and kind in cluster_scoped:
            continue
        if manifest.metadata.get(field) != namespace:
            manifest.remember()
            manifest.put(("metadata", field), namespace, source)


def add_to_names(manifests: Iterable[Manifest], prefix: str, suffix: str) -> None:
    """Add prefix and suffix to the names; the name is still where its base writes it."""
    for manifest in manifests if prefix or suffix else ():
        if (manifest.group, manifest.kind) not in _NEVER_RENAMED and manifest.name:
            manifest.remember()
            place = manifest.origin.at("metadata", "name")
            manifest.put(("metadata", "name"), f"{prefix}{manifest.name}{suffix}", place)


def add_labels(manifests: Iterable[Manifest], body: dict[str, Any], origin: Provenance) -> None:
    """Add `labels` and `commonLabels` of a kustomization, in selectors and pod templates, too, where it says so."""
    for entry, place in entries(body, origin, "labels"):
        options = mapping(entry)
        selectors = options.get("includeSelectors") is True
        templates = selectors or options.get("includeTemplates") is True
        pairs = mapping(options.get("pairs"))
        _label(manifests, pairs, place.child("pairs"), selectors=selectors, templates=templates)
        for field in sequence(options.get("fields")):
            _label_fields(manifests, pairs, place.child("pairs"), mapping(field))
    common = mapping(body.get("commonLabels"))
    _label(manifests, common, origin.child("commonLabels"), selectors=True, templates=True)


def _label(manifests: Iterable[Manifest], pairs: Any, source: Provenance, *, selectors: bool, templates: bool) -> None:
    for manifest in manifests if pairs else ():
        _set_all(manifest, ("metadata", "labels"), pairs, source)
        kind = (manifest.group, manifest.kind)
        template = _POD_TEMPLATES.get(kind)
        if templates and template is not None:
            _set_all(manifest, (*template, "metadata", "labels"), pairs, source)
        if selectors and kind == ("", "Service"):
            _set_all(manifest, ("spec", "selector"), pairs, source)
        elif selectors and manifest.kind in _MATCHED and template is not None:
            _set_all(manifest, ("spec", "selector", "matchLabels"), pairs, source)


def _label_fields(manifests: Iterable[Manifest], pairs: Any, source: Provenance, field: Any) -> None:
    pointer = tuple(step for step in text(field.get("path")).split("/") if step)
    if len(pointer) > MAX_DEPTH - 1:
        return  # no object has such a field
    for manifest in manifests:
        if field.get("kind") not in (None, manifest.kind) or field.get("group") not in (None, manifest.group):
            continue
        if field.get("create") is True or isinstance(_value_at(manifest.body, pointer), dict):
            _set_all(manifest, pointer, pairs, source)


def add_annotations(manifests: Iterable[Manifest], pairs: Any, source: Provenance) -> None:
    """Add `commonAnnotations`, to pod templates, too."""
    for manifest in manifests if pairs else ():
        _set_all(manifest, ("metadata", "annotations"), pairs, source)
        template = _POD_TEMPLATES.get((manifest.group, manifest.kind))
        if template is not None:
            _set_all(manifest, (*template, "metadata", "annotations"), pairs, source)


def _set_all(manifest: Manifest, pointer: Pointer, pairs: Any, source: Provenance) -> None:
    known = mapping(_value_at(manifest.body, pointer))
    for name, value in pairs.items():
        if known.get(name) != value or name not in known:
            manifest.put((*pointer, name), value, source.child(name))


def _value_at(value: Any, pointer: Pointer) -> Any:
    for step in pointer:
        value = mapping(value).get(step)  # type: ignore[arg-type]
    return value
