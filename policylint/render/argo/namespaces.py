"""The Namespaces that Argo CD creates for Applications, with the labels and annotations that these state.

Source: argo-cd.readthedocs.io, Sync Options, «Namespace Metadata»: a Namespace among the manifests counts alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.model import is_symbolic, mapping, text, texts
from policylint.render.provenance import Manifest

_CREATED = "CreateNamespace=true"


def created(manifests: Iterable[Manifest], known: set[str]) -> Iterator[Manifest]:
    """Yield the Namespaces of Applications that say how to label them, unless they are known otherwise."""
    for owner in manifests:
        if owner.kind != "Application" or owner.group != "argoproj.io":
            continue
        syncing = mapping(owner.spec.get("syncPolicy"))
        managed = mapping(syncing.get("managedNamespaceMetadata"))
        name = text(mapping(owner.spec.get("destination")).get("namespace"))
        options = {option.replace(" ", "") for option in texts(syncing.get("syncOptions"))}
        if not managed or _CREATED not in options or not name or is_symbolic(name) or name in known:
            continue
        known.add(name)
        stated = {field: managed[field] for field in ("labels", "annotations") if mapping(managed.get(field))}
        spec = owner.origin.child("spec")
        place = spec.at("syncPolicy", "managedNamespaceMetadata")
        origin = place.with_child("metadata", place.with_child("name", spec.at("destination", "namespace")))
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **stated}}
        yield Manifest(body, origin, provisional=owner.provisional)
