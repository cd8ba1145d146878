"""What Flux applies of the objects that a Kustomization builds: it leaves alone those whose annotations say so.

Source: fluxcd/kustomize-controller `internal/controller/kustomization_controller.go` (`apply`), fluxcd/pkg
`ssa/manager_apply.go` (`shouldSkipApply`).
"""

from __future__ import annotations

from collections.abc import Iterable

from policylint.model import mapping, text
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest

_GROUP = "kustomize.toolkit.fluxcd.io"
_SKIPPED = ((f"{_GROUP}/reconcile", "disabled"), (f"{_GROUP}/ssa", "Ignore"))
_ONCE = (f"{_GROUP}/ssa", "IfNotPresent")


def applied(manifests: Iterable[Manifest], journal: Journal, namespace: str) -> list[Manifest]:
    """Return the objects that Flux applies; of the others, a cluster has what it had before, if anything.

    Args:
        namespace: of objects that name none.
    """
    kept = []
    for manifest in manifests:
        skipped = next((mark for mark in _SKIPPED if _says(manifest, *mark)), None)
        if skipped is not None:
            mark = f"{skipped[0]}: {skipped[1]}"
            journal.leave_out(manifest, f"Flux does not apply what says {mark}", namespace, may_be_there=True)
            continue
        if _says(manifest, *_ONCE):
            manifest.leave_open(f"Flux applies it only where it is not there ({_ONCE[0]}: {_ONCE[1]})")
        kept.append(manifest)
    return kept


def _says(manifest: Manifest, name: str, value: str) -> bool:
    marks = (mapping(manifest.metadata.get(field)).get(name) for field in ("annotations", "labels"))
    return any(text(mark).lower() == value.lower() for mark in marks)
