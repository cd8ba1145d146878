"""What Argo CD applies of the objects that an Application makes.

Source: argoproj/gitops-engine `pkg/sync/hook`, `pkg/sync/sync_phase.go`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policylint.model import mapping, text
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest

_HOOK, _HOOK_OF_HELM = "argocd.argoproj.io/hook", "helm.sh/hook"
_DELETION, _DELETION_OF_HELM = "argocd.argoproj.io/hook-delete-policy", "helm.sh/hook-delete-policy"
_OF_HELM = {"pre-install": "PreSync", "pre-upgrade": "PreSync", "post-install": "PostSync", "post-upgrade": "PostSync"}
"""Hooks of Helm that a sync has; all others are never applied by one."""
_OF_CRDS = "crd-install"
"""Is no hook."""
_SKIP = "Skip"
_LASTING = frozenset({"PreSync", "Sync", "PostSync"})
"""Phases of each sync; what belongs to others is applied only where a sync fails, or the Application is deleted."""
_TYPES = _LASTING | {"SyncFail", _SKIP, "PreDelete", "PostDelete"}


def applied(manifests: Iterable[Manifest], journal: Journal, namespace: str) -> list[Manifest]:
    """Return the objects that stay after a sync: all but hooks that are skipped, deleted or meant for other occasions.

    Args:
        namespace: of objects that name none.
    """
    kept = []
    for manifest in manifests:
        annotations = mapping(manifest.metadata.get("annotations"))
        own, of_helm = annotations.get(_HOOK), annotations.get(_HOOK_OF_HELM)
        hooks = set(_listed(own)) & _TYPES or {_OF_HELM[hook] for hook in _listed(of_helm) if hook in _OF_HELM}
        if hooks == {_SKIP}:
            journal.leave_out(manifest, "to Argo CD it is a hook (Skip)", namespace)
        elif own is None and of_helm in (None, _OF_CRDS):
            kept.append(manifest)
        elif hooks.isdisjoint(_LASTING):
            named = ", ".join(sorted(hooks)) or text(own) or text(of_helm) or "of no type"
            journal.leave_out(manifest, f"to Argo CD it is a hook ({named})", namespace)
        elif "HookSucceeded" in _listed(annotations.get(_DELETION)) or "hook-succeeded" in _listed(
            annotations.get(_DELETION_OF_HELM)
        ):
            journal.leave_out(manifest, "Argo CD deletes this hook as soon as it is healthy", namespace)
        else:
            kept.append(manifest)
    return kept


def _listed(written: Any) -> list[str]:
    return [part for step in text(written).split(",") if (part := step.strip())]
