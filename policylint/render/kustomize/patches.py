"""Patches of a kustomization, in all forms they are written in, applied to the objects they mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.journal import Journal
from policylint.render.kustomize.json_patch import PatchError, apply
from policylint.render.kustomize.selectors import selects
from policylint.render.kustomize.strategic_merge import DELETED, is_core, merge
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import Tree, join

_IDENTITY = frozenset({"apiVersion", "kind"})


class Patch(NamedTuple):
    """One patch.

    Args:
        content: a list of operations, or the part of an object.
        source: where the content is written.
        target: the selector of its objects; None if the content itself names the object.
        renames: whether it may change names.
        entry: where the kustomization mentions it.
    """

    content: Any
    source: Trace
    target: dict[str, Any] | None
    renames: bool
    entry: Trace


def patches(
    directory: str, body: dict[str, Any], trace: Trace, fields: tuple[str, ...], tree: Tree, journal: Journal
) -> Iterator[Patch]:
    """The patches of some fields of a kustomization, in their order; what cannot be read is noted."""
    for field in fields:
        for index, entry in enumerate(sequence(body.get(field))):
            place = trace.child(field).child(index)
            if isinstance(entry, str):  # patchesStrategicMerge
                inline = "\n" in entry or entry.lstrip().startswith("{")
                entry = {"patch" if inline else "path": entry}
                written = place
            elif isinstance(entry, dict):
                written = place.child("path") if entry.get("path") else place.child("patch")
            else:
                continue
            target = entry.get("target")
            renames = mapping(entry.get("options")).get("allowNameChange") is True
            for content, source in _contents(directory, entry, written, tree, journal):
                yield Patch(content, source, target if isinstance(target, dict) and target else None, renames, place)


def _contents(
    directory: str, entry: dict[str, Any], place: Trace, tree: Tree, journal: Journal
) -> Iterator[tuple[Any, Trace]]:
    path, inline = text(entry.get("path")), text(entry.get("patch"))
    if path:
        where = join(directory, path)
        documents = None if where is None else tree.documents(where)
        if documents is None:
            journal.note(f"patch file {path!r} is not there", place, code="missing-file")
            return
        yield from ((each.value, Trace(each)) for each in documents)
    elif inline.strip():
        values, problem = tree.texts.documents(inline, place)
        if problem:
            journal.note(f"this patch cannot be read: {problem}", place, code="patch-not-read")
        yield from values


def apply_patch(patch: Patch, manifests: list[Manifest], journal: Journal, *, unseen: bool) -> list[Manifest]:
    """The objects after a patch; those that it deletes are gone.

    Args:
        unseen: whether objects that were not read may be what the patch is for.
    """
    if not isinstance(patch.content, (dict, list)):
        return manifests
    if patch.target is not None:
        chosen = [each for each in manifests if selects(patch.target, each)]
    elif isinstance(patch.content, dict):
        chosen = [each for each in manifests if _is_named(patch.content, each)]
        if not chosen and not unseen:
            words = f"{text(patch.content.get('kind'))} {text(mapping(patch.content.get('metadata')).get('name'))}"
            message = f"this patch is for {words.strip()}, which the kustomization does not hold"
            journal.note(message, patch.source, code="patch-without-target")
    else:
        journal.note("this JSON patch has no target, so nothing is patched", patch.entry, code="patch-without-target")
        return manifests
    gone = [each for each in chosen if not _patched(patch, each, journal)]
    return [each for each in manifests if each not in gone] if gone else manifests


def _is_named(content: dict[str, Any], manifest: Manifest) -> bool:
    """Whether a strategic merge patch without a target names the object, by its present or a former name."""
    wanted = mapping(content.get("metadata"))
    if content.get("kind") != manifest.kind or content.get("apiVersion") != manifest.api_version:
        return False
    pairs = (*manifest.names, (manifest.namespace, manifest.name))
    namespace = text(wanted.get("namespace")) or "default"
    return any(name == wanted.get("name") and (place or "default") == namespace for place, name in pairs)


def _patched(patch: Patch, manifest: Manifest, journal: Journal) -> bool:
    """Patch one object; False if it is no more."""
    if isinstance(patch.content, list):
        manifest.remember()
        try:
            body, trace = apply(manifest.body, manifest.trace, patch.content, patch.source)
        except PatchError as error:
            journal.note(f"this patch does not apply to {manifest}: {error}", patch.source, code="patch-not-applied")
            return True
        if isinstance(body, dict):
            manifest.body, manifest.trace = body, trace
        return True
    content = patch.content
    if not patch.renames:
        content = {name: value for name, value in content.items() if name not in _IDENTITY}
        metadata = mapping(content.get("metadata"))
        if "name" in metadata or "namespace" in metadata:
            kept = {name: value for name, value in metadata.items() if name not in ("name", "namespace")}
            content["metadata"] = kept
    else:
        manifest.remember()
    merged, trace = merge(manifest.body, manifest.trace, content, patch.source, core=is_core(manifest.group))
    if merged is DELETED:
        return False
    manifest.body, manifest.trace = merged, trace
    return True
