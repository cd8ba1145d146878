"""What Flux applies of the objects that a Kustomization builds: it leaves alone those whose annotations say so.

Source: fluxcd/kustomize-controller `internal/controller/kustomization_controller.go` (`apply`), fluxcd/pkg
`ssa/manager_apply.go` (`shouldSkipApply`).
"""

from __future__ import annotations

from collections.abc import Iterable

from policylint.model import mapping, text
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest

_RECONCILE, _SSA = "kustomize.toolkit.fluxcd.io/reconcile", "kustomize.toolkit.fluxcd.io/ssa"


def applied(manifests: Iterable[Manifest], journal: Journal, namespace: str) -> list[Manifest]:
    """Return the objects that Flux applies; of the others, a cluster has what it had before, if anything.

    Args:
        namespace: of objects that name none.
    """
    kept = []
    for manifest in manifests:
        metadata = manifest.metadata
        says = {**mapping(metadata.get("labels")), **mapping(metadata.get("annotations"))}
        reconciles, applies = text(says.get(_RECONCILE)).lower(), text(says.get(_SSA)).lower()
        if reconciles == "disabled" or applies == "ignore":
            mark = f"{_SSA}: {says[_SSA]}" if applies == "ignore" else f"{_RECONCILE}: {says[_RECONCILE]}"
            journal.leave_out(manifest, f"Flux does not apply what says {mark}", namespace, may_be_there=True)
            continue
        if applies == "ifnotpresent":
            manifest.leave_open(f"Flux applies it only where it is not there ({_SSA}: {says[_SSA]})")
        kept.append(manifest)
    return kept
