"""Patches of a kustomization, in all forms they are written in, applied to the objects they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from policylint.budget import Bounded, Budget, size_of
from policylint.documents.problem import YAML_SYNTAX
from policylint.model import mapping, text
from policylint.namedtuple import NamedTuple
from policylint.render.journal import Journal
from policylint.render.kustomize.json_patch import PatchError, apply
from policylint.render.kustomize.selectors import SelectorError
from policylint.render.kustomize.strategic_merge import DELETED, is_core, merge
from policylint.render.kustomize.targets import Targets
from policylint.render.provenance import Manifest, Provenance, entries
from policylint.render.tree import Tree, join

_STEPS = 20
"""What it costs to apply a patch of nothing."""


class KustomizePatch(NamedTuple):
    """One patch.

    Args:
        content: a list of operations, or the part of an object; None where it was not seen.
        source: where the content is written.
        target: the selector of its objects; None if the content itself names the object.
        renames: whether it may change names.
        entry: where the kustomization mentions it.
    """

    content: Any
    source: Provenance
    target: dict[str, Any] | None
    renames: bool
    entry: Provenance


def patches(
    directory: str, body: Any, origin: Provenance, fields: Iterable[str], tree: Tree, journal: Journal
) -> Iterator[KustomizePatch]:
    """Yield the patches of some fields of a kustomization, in their order; what cannot be read is noted."""
    for field in fields:
        for entry, place in entries(body, origin, field):
            if isinstance(entry, str):  # patchesStrategicMerge
                is_inline = "\n" in entry or entry.lstrip().startswith("{")
                entry = {"patch" if is_inline else "path": entry}
                written = place
            elif isinstance(entry, dict):
                written = place.child("path") if entry.get("path") else place.child("patch")
            else:
                continue
            target = entry.get("target")
            selector = target if isinstance(target, dict) and target else None
            renames = mapping(entry.get("options")).get("allowNameChange") is True
            for content, source in _contents(directory, entry, written, tree, journal):
                yield KustomizePatch(content, source, selector, renames, place)


def _contents(
    directory: str, entry: dict[str, Any], place: Provenance, tree: Tree, journal: Journal
) -> Iterator[tuple[Any, Provenance]]:
    path, inline = text(entry.get("path")), text(entry.get("patch"))
    if path:
        file = join(directory, path)
        if file is None or tree.documents(file) is None:
            journal.note(f"patch file {path!r} does not exist", place, code="missing-file", lacking=file)
            yield None, place
            return
        yield from tree.values(file)
    elif inline.strip():
        values, problem = tree.texts.documents(inline, place)
        if problem:
            fails = problem.code == YAML_SYNTAX
            journal.note(f"this patch cannot be read: {problem.message}", place, code="patch-not-read", fails=fails)
            yield None, place
        yield from values


def apply_patches(
    some: Iterable[KustomizePatch],
    manifests: list[Manifest],
    journal: Journal,
    budget: Budget,
    *,
    unseen: Callable[[KustomizePatch], bool],
    at: Bounded | None = None,
) -> list[Manifest]:
    """Return the objects after patches, one after the other; those that they delete are gone.

    Args:
        unseen: whether objects that were not read may be what a patch is for.
        at: is told which patch is being applied.

    Raises:
        ExhaustedError: what they make is more than the budget allows; those applied so far have been.
    """
    targets: Targets | None = None
    for patch in some:
        if at is not None:
            at.what, at.place = "this patch", patch.entry
        if targets is None:
            targets = Targets(manifests, budget)
        try:
            _apply(patch, targets, journal, budget, unseen)
        except SelectorError as error:
            journal.note(f"this patch is not applied: {error}", patch.source, code="patch-not-applied")
            for manifest in targets.manifests():
                manifest.leave_open(_unapplied(patch))
    return manifests if targets is None else targets.manifests()


def _apply(
    patch: KustomizePatch,
    targets: Targets,
    journal: Journal,
    budget: Budget,
    unseen: Callable[[KustomizePatch], bool],
) -> None:
    """Apply one patch to what it is for."""
    if patch.content is None:
        chosen = targets.manifests() if patch.target is None else [known for _, known in targets.selected(patch.target)]
        for manifest in chosen:
            manifest.leave_open(_unapplied(patch))
    if not isinstance(patch.content, (dict, list)):
        return
    if patch.target is not None:
        selected = targets.selected(patch.target)
    elif isinstance(patch.content, dict):
        name = mapping(patch.content.get("metadata")).get("name")
        selected = [
            (number, manifest) for number, manifest in targets.named(name) if _is_named(patch.content, manifest)
        ]
        if not selected and not unseen(patch):
            words = f"{text(patch.content.get('kind'))} {text(name)}"
            message = f"this patch is for {words.strip()}, which the kustomization does not hold"
            journal.note(message, patch.source, code="patch-without-target", fails=True)
    else:
        message = "this JSON patch has no target, so nothing is patched"
        journal.note(message, patch.entry, code="patch-without-target", fails=True)
        return
    size = size_of(patch.content)[0] if selected else 0
    for number, manifest in selected:
        budget.spend(_STEPS + size + manifest.weight // 16)
        manifest.weight += size
        identity = (manifest.kind, manifest.name)
        if not _patched(patch, manifest, journal, budget):
            targets.remove(number)
        elif (manifest.kind, manifest.name) != identity:
            targets.changed(number, manifest)


def _unapplied(patch: KustomizePatch) -> str:
    return f"a patch of {patch.entry.document.file} could not be applied"


def _is_named(content: dict[str, Any], manifest: Manifest) -> bool:
    """Return whether a strategic merge patch without a target names the object, by its present or a former name."""
    if content.get("kind") != manifest.kind or content.get("apiVersion") != manifest.api_version:
        return False
    metadata = mapping(content.get("metadata"))
    key = (text(metadata.get("namespace")) or "default", metadata.get("name"))
    pairs = (*manifest.names, (manifest.namespace, manifest.name))
    return any((namespace or "default", name) == key for namespace, name in pairs)


def _patched(patch: KustomizePatch, manifest: Manifest, journal: Journal, budget: Budget) -> bool:
    """Patch one object and return whether it is still there."""
    content = patch.content
    if isinstance(content, list):
        manifest.remember()
        try:
            body, origin = apply(manifest.body, manifest.origin, content, patch.source, budget)
        except PatchError as error:
            message, fails = (
                f"this patch does not apply to {manifest}: {error}",
                error.certain and not manifest.provisional,
            )
            journal.note(message, patch.source, code="patch-not-applied", fails=fails)
            manifest.leave_open(_unapplied(patch))
            return True
    else:
        if patch.renames:
            manifest.remember()
        else:
            content = {name: value for name, value in content.items() if name not in ("apiVersion", "kind")}
            metadata = mapping(content.get("metadata"))
            if "name" in metadata or "namespace" in metadata:
                kept = {name: value for name, value in metadata.items() if name not in ("name", "namespace")}
                content["metadata"] = kept
        body, origin = merge(manifest.body, manifest.origin, content, patch.source, core=is_core(manifest.group))
        if body is DELETED:
            return False
    if isinstance(body, dict):
        manifest.body, manifest.origin = body, origin
    return True
