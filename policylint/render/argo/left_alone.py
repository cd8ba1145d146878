"""Kinds that Argo CD leaves alone: `resource.exclusions` and `resource.inclusions` in the settings of Argo CD.

Source: argoproj/argo-cd `util/settings/resources_filter.go` and `filtered_resource.go`; `controller/state.go`, which
drops what an Application holds of such kinds (ExcludedResourceWarning). What the cluster has of them stays as it is.
argoproj-labs/argocd-operator `controllers/argocd/configmap.go`, reconcileArgoConfigMap: an ArgoCD makes the ConfigMap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from policylint.documents import read
from policylint.model import mapping, sequence, text, texts
from policylint.render.globs import glob
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest
from policylint.render.tree import Tree

_NAME = "argocd-cm"
_EXCLUSIONS, _INCLUSIONS = "resource.exclusions", "resource.inclusions"


_OPERATED = "ArgoCD"
_FIELDS = {_EXCLUSIONS: "resourceExclusions", _INCLUSIONS: "resourceInclusions"}
"""Keys of the ConfigMap, and the fields of an ArgoCD that its operator writes there."""


def _settings(tree: Tree) -> list[Mapping[str, Any]]:
    """Return what each ConfigMap of Argo CD in a tree says, and each ArgoCD of which the operator makes one."""
    found = [mapping(body.get("data")) for _, body in tree.config_maps(_NAME)]
    for body in tree.named(_OPERATED):
        spec = mapping(body.get("spec"))
        stated = {key: spec[field] for key, field in _FIELDS.items() if spec.get(field)}
        found.append({**stated, **mapping(spec.get("extraConfig"))})
    return found


class LeftAlone:
    """What the one Argo CD of a tree leaves alone; nothing where there is none, or several."""

    def __init__(self, tree: Tree) -> None:
        found = _settings(tree)
        data = found[0] if len(found) == 1 else {}
        self._excluded = list(_filters(data.get(_EXCLUSIONS)))
        self._included = list(_filters(data.get(_INCLUSIONS)))

    def out(self, manifests: Iterable[Manifest], journal: Journal, namespace: str, cluster: str) -> list[Manifest]:
        """Return the objects that Argo CD applies; the others are noted, as the cluster may have them all the same.

        Args:
            namespace: of objects that name none.
            cluster: the address that they are deployed to.
        """
        if not (self._excluded or self._included):
            return list(manifests)
        kept = []
        for manifest in manifests:
            is_of = partial(_is_of, manifest=manifest, cluster=cluster)
            if any(map(is_of, self._excluded)) or (self._included and not any(map(is_of, self._included))):
                field = _EXCLUSIONS if any(map(is_of, self._excluded)) else _INCLUSIONS
                why = f"`{field}` of ConfigMap {_NAME} have Argo CD leave {manifest.kind} alone"
                journal.leave_out(manifest, why, namespace, may_be_there=True)
            else:
                kept.append(manifest)
        return kept


def _filters(written: Any) -> Iterator[Any]:
    for document in read(text(written).encode("utf-8", "replace"), _NAME).documents:
        yield from map(mapping, sequence(document.value))


def _is_of(each: Any, *, manifest: Manifest, cluster: str) -> bool:
    groups, kinds, clusters = (texts(each.get(name)) for name in ("apiGroups", "kinds", "clusters"))
    return (
        (not groups or any(glob(group, braces=True).is_whole(manifest.group) for group in groups))
        and (not kinds or not {"*", manifest.kind}.isdisjoint(kinds))
        and (not clusters or any(glob(each, braces=True).is_whole(cluster) for each in clusters))
    )
