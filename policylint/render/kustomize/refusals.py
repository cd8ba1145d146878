"""What kustomize refuses in a kustomization before it builds anything: it reads the file strictly.

Source: kustomize, `api/types/kustomization.go` and `api/internal/target/kusttarget.go`, as of v5; tried with kubectl.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.documents import Document
from policylint.render.provenance import Manifest, Provenance

_HEAD = frozenset({"apiversion", "kind"})
_LISTS = frozenset(
    {
        "bases", "buildmetadata", "components", "configmapgenerator", "configurations", "crds", "generators",
        "helmchartinflationgenerator", "helmcharts", "images", "imagetags", "labels", "patches", "patchesjson6902",
        "patchesstrategicmerge", "replacements", "replicas", "resources", "secretgenerator", "transformers",
        "validators", "vars",
    }
)  # fmt: skip
_OTHERS = frozenset(
    {
        "apiversion", "commonannotations", "commonlabels", "generatoroptions", "helmglobals", "kind", "metadata",
        "nameprefix", "namesuffix", "namespace", "openapi", "sortoptions",
    }
)  # fmt: skip
_VERSIONS = {"Kustomization": "kustomize.config.k8s.io/v1beta1", "Component": "kustomize.config.k8s.io/v1alpha1"}


def is_hollow(body: dict[str, Any]) -> bool:
    """Return whether a kustomization takes in nothing and makes nothing."""
    return {str(name).lower() for name in body} <= _HEAD


def is_commented_out(body: dict[str, Any]) -> bool:
    """Return whether the file of a kustomization holds comments alone (`Tree.kustomization`)."""
    return body == {"kind": "Kustomization"}


def refusals(body: dict[str, Any], origin: Provenance) -> Iterator[tuple[str, Provenance]]:
    """Yield what is wrong with a kustomization, and where; nothing for one that only stands for a directory."""
    if not body:
        return
    kind, version = body.get("kind") or "Kustomization", body.get("apiVersion")
    expected = _VERSIONS.get(str(kind))
    if expected is None:
        yield f"a kustomization is no {kind}: kustomize refuses to build it", origin.child("kind")
        return
    if version and version != expected:
        yield f"apiVersion {version} is no {kind}'s: kustomize refuses to build it", origin.child("apiVersion")
        return
    if is_hollow(body):
        yield "the kustomization is empty: kustomize refuses to build it", origin
    for name, value in body.items():
        known = str(name).lower()
        if known not in _LISTS and known not in _OTHERS:
            yield f"kustomize knows no field {name!r}, and refuses to build it", origin.child(name)
        elif known in _LISTS and value is not None and not isinstance(value, list):
            yield f"`{name}` is no list: kustomize refuses to build it", origin.child(name)


def refused_objects(documents: Iterable[Document], manifests: Iterable[Manifest]) -> Iterator[tuple[str, Provenance]]:
    """Yield what in a file of resources kustomize does not take for an object, and where."""
    for document in documents:
        if document.value is not None and not isinstance(document.value, dict):
            yield "this is no object: kustomize refuses to build it", Provenance(document)
            return
    for manifest in manifests:
        if not manifest.body or manifest.kind.endswith("List"):
            continue
        if not manifest.kind:
            yield "this is no object: it has no kind, and kustomize refuses to build it", manifest.origin
        elif not manifest.name:
            yield f"this {manifest.kind} has no name: kustomize refuses to build it", manifest.origin
