"""Namespaces, name prefixes, labels and annotations: kustomize's transformers of metadata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping, sequence, text
from policylint.model.keys import CLUSTER_SCOPED
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import metadata

_NEVER_RENAMED = frozenset(
    {
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("", "Namespace"),
    }
)
_POD_TEMPLATES: dict[tuple[str, str], Pointer] = {
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "ReplicaSet"): ("spec", "template"),
    ("apps", "DaemonSet"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("batch", "Job"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}
_MATCHED = frozenset({"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"})


def set_namespace(
    manifests: Iterable[Manifest], namespace: str, source: Trace, cluster_scoped: frozenset[tuple[str, str]]
) -> None:
    """Put every object into a namespace, whatever it says itself; a Namespace object takes the name instead.

    Kustomize writes a namespace into cluster-scoped kinds whose schema it does not know; the API server ignores it.
    """
    without = CLUSTER_SCOPED | cluster_scoped
    for each in manifests:
        kind = (each.group, each.kind)
        if kind == ("", "Namespace"):
            field = "name"
        elif kind in without:
            continue
        else:
            field = "namespace"
        if metadata(each.body).get(field) != namespace:
            each.remember()
            each.put(("metadata", field), namespace, source)


def add_to_names(manifests: Iterable[Manifest], prefix: str, suffix: str) -> None:
    """Prefix and suffix of the names; the name is still where its base writes it."""
    for each in manifests:
        if (each.group, each.kind) not in _NEVER_RENAMED and each.name:
            each.remember()
            each.put(("metadata", "name"), f"{prefix}{each.name}{suffix}", each.trace.at(("metadata", "name")))


def add_labels(manifests: Iterable[Manifest], body: dict[str, Any], trace: Trace) -> None:
    """`labels` and `commonLabels` of a kustomization, selectors and pod templates included where it says so."""
    for index, entry in enumerate(sequence(body.get("labels"))):
        place = trace.child("labels").child(index)
        options = mapping(entry)
        selectors = options.get("includeSelectors") is True
        templates = selectors or options.get("includeTemplates") is True
        pairs = mapping(options.get("pairs"))
        _label(manifests, pairs, place.child("pairs"), selectors=selectors, templates=templates)
        for field in sequence(options.get("fields")):
            _label_fields(manifests, pairs, place.child("pairs"), mapping(field))
    common = mapping(body.get("commonLabels"))
    _label(manifests, common, trace.child("commonLabels"), selectors=True, templates=True)


def _label(manifests: Iterable[Manifest], pairs: Any, source: Trace, *, selectors: bool, templates: bool) -> None:
    if not pairs:
        return
    for each in manifests:
        _set_all(each, ("metadata", "labels"), pairs, source)
        kind = (each.group, each.kind)
        template = _POD_TEMPLATES.get(kind)
        if templates and template is not None:
            _set_all(each, (*template, "metadata", "labels"), pairs, source)
        if selectors and kind == ("", "Service"):
            _set_all(each, ("spec", "selector"), pairs, source)
        elif selectors and each.kind in _MATCHED and template is not None:
            _set_all(each, ("spec", "selector", "matchLabels"), pairs, source)


def _label_fields(manifests: Iterable[Manifest], pairs: Any, source: Trace, field: Any) -> None:
    pointer = tuple(step for step in text(field.get("path")).split("/") if step)
    for each in manifests:
        if field.get("kind") not in (None, each.kind) or field.get("group") not in (None, each.group):
            continue
        if field.get("create") is True or _holds_mapping(each.body, pointer):
            _set_all(each, pointer, pairs, source)


def _holds_mapping(body: Any, pointer: Pointer) -> bool:
    for step in pointer:
        body = body.get(step) if isinstance(body, dict) else None
    return isinstance(body, dict)


def add_annotations(manifests: Iterable[Manifest], pairs: Any, source: Trace) -> None:
    """`commonAnnotations`, on pod templates, too."""
    if not pairs:
        return
    for each in manifests:
        _set_all(each, ("metadata", "annotations"), pairs, source)
        template = _POD_TEMPLATES.get((each.group, each.kind))
        if template is not None:
            _set_all(each, (*template, "metadata", "annotations"), pairs, source)


def _set_all(manifest: Manifest, pointer: Pointer, pairs: Any, source: Trace) -> None:
    here: Any = manifest.body
    for step in pointer:
        here = here.get(step) if isinstance(here, dict) else None
    known = mapping(here)
    for name, value in pairs.items():
        if known.get(name) != value or name not in known:
            manifest.put((*pointer, name), value, source.child(name))
