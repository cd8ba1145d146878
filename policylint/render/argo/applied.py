"""What Argo CD applies of the objects that an Application makes, and of the files in its directory.

Source: argoproj/argo-cd `reposerver/repository/repository.go`, argoproj/gitops-engine `pkg/sync/hook`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.model import mapping, text
from policylint.render.globs import glob
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest, Provenance, put
from policylint.render.tree import Tree, inside

_HOOK, _HOOK_OF_HELM = "argocd.argoproj.io/hook", "helm.sh/hook"
_DELETION, _DELETION_OF_HELM = "argocd.argoproj.io/hook-delete-policy", "helm.sh/hook-delete-policy"
_OF_HELM = {
    "crd-install": "PreSync",
    "pre-install": "PreSync",
    "pre-upgrade": "PreSync",
    "post-install": "PostSync",
    "post-upgrade": "PostSync",
    "pre-delete": "PreDelete",
    "post-delete": "PostDelete",
}
_LASTING = frozenset({"PreSync", "Sync", "PostSync"})
"""Phases of each sync; what belongs to others is applied only where a sync fails, or the Application is deleted."""
_GONE_AFTERWARDS = frozenset({"HookSucceeded", "hook-succeeded"})
_MANIFESTS = (".yaml", ".yml", ".json")
_NO_MANIFEST = b"+argocd:skip-file-rendering"
_FIXED = ("chart", "path", "repoURL", "targetRevision")
"""What a file in the directory cannot say of a source."""


def applied(manifests: Iterable[Manifest], journal: Journal, namespace: str) -> list[Manifest]:
    """Return the objects that stay after a sync: all but hooks that are skipped, deleted or meant for other occasions.

    Args:
        namespace: of objects that name none.
    """
    kept = []
    for manifest in manifests:
        annotations = mapping(manifest.metadata.get("annotations"))
        hooks, deletion = set(_listed(annotations.get(_HOOK))), _DELETION
        if not hooks and annotations.get(_HOOK_OF_HELM):
            hooks, deletion = (
                {_OF_HELM.get(hook, hook) for hook in _listed(annotations[_HOOK_OF_HELM])},
                _DELETION_OF_HELM,
            )
        policies = _listed(annotations.get(_DELETION)) or _listed(annotations.get(deletion))
        if hooks and hooks.isdisjoint(_LASTING):
            journal.leave_out(manifest, f"to Argo CD it is a hook ({', '.join(sorted(hooks))})", namespace)
        elif hooks and not _GONE_AFTERWARDS.isdisjoint(policies):
            journal.leave_out(manifest, "Argo CD deletes this hook as soon as it is healthy", namespace)
        else:
            kept.append(manifest)
    return kept


def plain_files(tree: Tree, directory: str, options: Any) -> Iterator[str]:
    """Yield the files that a source with some `directory` options applies; those of subdirectories where it says so."""
    pending = [directory]
    recurses = options.get("recurse") is True
    include, exclude = text(options.get("include")), text(options.get("exclude"))
    while pending:
        below = pending.pop()
        tree.budget.spend(5)
        for name in (*tree.files.get(below, ()), *tree.json_files.get(below, ())):
            path = inside(below, name)
            relative = path[len(directory) + 1 :] if directory else path
            if not name.endswith(_MANIFESTS) or (exclude and glob(exclude, braces=True).is_whole(relative)):
                continue
            if include and not glob(include, braces=True).is_whole(relative):
                continue
            if _NO_MANIFEST not in (tree.read(path) or b""):
                yield path
        if recurses:
            pending += [inside(below, name) for name in tree.directories.get(below, ())]


def is_explicit(options: Any) -> bool:
    """Return whether `directory` options make a source plain files, whatever lies among them."""
    return options.get("recurse") is True or any(options.get(field) for field in ("include", "exclude", "jsonnet"))


def overridden(source: Any, place: Provenance, tree: Tree, directory: str, name: str) -> tuple[Any, Provenance]:
    """Return a source with what the files `.argocd-source.yaml` and `.argocd-source-NAME.yaml` in its directory say.

    Args:
        name: of the Application.
    """
    for file in (".argocd-source.yaml", f".argocd-source-{name}.yaml"):
        for value, origin in tree.values(inside(directory, file))[:1]:
            if isinstance(value, dict):
                own = {field: inner for field, inner in value.items() if field not in _FIXED}
                source, place = _merged(source, place, own, origin)
    return source, place


def _merged(value: Any, origin: Provenance, patch: Any, place: Provenance) -> tuple[Any, Provenance]:
    """Return a value after a JSON merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch, place
    if not isinstance(value, dict):
        value, origin = {}, place
    for name, new in patch.items():
        if new is None:
            value = {other: inner for other, inner in value.items() if other != name}
            continue
        inner, where = _merged(value.get(name), origin.child(name), new, place.child(name))
        value, origin = put(value, origin, (name,), inner, where)
    return value, origin


def _listed(written: Any) -> list[str]:
    return [part for step in text(written).split(",") if (part := step.strip())]
