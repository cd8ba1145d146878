"""Patches of a kustomization, in all forms they are written in, applied to the objects they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from policylint.budget import Bounded, Budget, size_of
from policylint.documents.problem import YAML_SYNTAX
from policylint.model import mapping, text
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.journal import NEARLY, Journal
from policylint.render.kustomize.field_specs import effective_namespace
from policylint.render.kustomize.json_patch import PatchError, apply
from policylint.render.kustomize.selectors import SelectorError
from policylint.render.kustomize.strategic_merge import DELETED, MergeError, check, is_core, merge
from policylint.render.kustomize.targets import Targets
from policylint.render.provenance import Manifest, Provenance, entries
from policylint.render.tree import Tree, join

_STEPS = 20
"""What it costs to apply a patch of nothing."""
NOTHING_SELECTED = "GWP915"
_WAYS_TO_MISS = (("namespace",), ("group",), ("version",), ("kind",), ("namespace", "group", "version"))
"""Fields of a target by which it misses the object that its name, and all other fields, mean."""
_NAME = Pattern(r"[\w.-]+")
"""A name, and no expression for several: a dot is part of it."""


class KustomizePatch(NamedTuple):
    """One patch.

    Args:
        content: a list of operations, or the part of an object; None where it was not seen.
        source: where the content is written.
        target: the selector of its objects; None if the content itself names the object.
        renames: whether it may change names.
        entry: where the kustomization mentions it.
        of_old: whether it is an entry of `patchesStrategicMerge`.
        refused: why kustomize takes no such patch in this field; "" where it does.
    """

    content: Any
    source: Provenance
    target: dict[str, Any] | None
    renames: bool
    entry: Provenance
    of_old: bool = False
    refused: str = ""

    @property
    def looks_for_all(self) -> bool:
        """Whether kustomize looks for all objects that it is for, before it applies the patch to a copy each."""
        return self.target is not None or self.of_old


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
            selector = target if isinstance(target, dict) else None  # an empty one selects all
            renames = mapping(entry.get("options")).get("allowNameChange") is True
            for content, source in _contents(directory, entry, written, tree, journal):
                refused = _refusal(field, content, selector)
                yield KustomizePatch(
                    content, source, selector, renames, place, field == "patchesStrategicMerge", refused
                )


def _refusal(field: str, content: Any, target: dict[str, Any] | None) -> str:
    if field == "patchesStrategicMerge" and isinstance(content, list):
        return "`patchesStrategicMerge` takes no JSON patch"
    if field != "patchesJson6902" or content is None:
        return ""
    if not isinstance(content, list):
        return "`patchesJson6902` takes JSON patches alone"
    return "" if target and target.get("name") else "`patchesJson6902` needs the name of a target"


def _contents(
    directory: str, entry: dict[str, Any], place: Provenance, tree: Tree, journal: Journal
) -> Iterator[tuple[Any, Provenance]]:
    path, inline = text(entry.get("path")), text(entry.get("patch"))
    if path:
        file = join(directory, path)
        if file is None or tree.documents(file) is None:
            journal.note(f"patch file {path!r} {tree.absence(file)}", place, code="missing-file", lacking=file)
            yield None, place
            return
        yield from tree.values(file)
    elif inline.strip():
        values, problem = tree.texts.documents(inline, place)
        if problem:
            fails = problem.code == YAML_SYNTAX
            journal.note(f"this patch cannot be read: {problem.message}", place, code="patch-not-read", fails=fails)
        elif not values:
            journal.note("nothing of this patch could be read", place, code="patch-not-read")
        if problem or not values:
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
    if patch.refused:
        journal.fail(f"{patch.refused}: kustomize refuses to build it", patch.entry, code="kustomization-refused")
    if patch.content is None:
        chosen = targets.manifests() if patch.target is None else [known for _, known in targets.selected(patch.target)]
        for manifest in chosen:
            manifest.leave_open(_unapplied(patch))
    if not isinstance(patch.content, (dict, list)):
        return
    if patch.target is not None:
        selected = targets.selected(patch.target)
        if not selected and not unseen(patch):
            _note_missed(patch.target, patch.entry, targets, journal)
    elif isinstance(patch.content, dict):
        name = mapping(patch.content.get("metadata")).get("name")
        selected = [
            (number, manifest) for number, manifest in targets.named(name) if _is_named(patch.content, manifest)
        ]
        words = f"{text(patch.content.get('kind'))} {text(name)}".strip()
        if not selected and not unseen(patch):
            message = f"this patch is for {words}, which the kustomization does not hold"
            journal.note(message, patch.source, code="patch-without-target", fails=True)
        if len(selected) > 1:
            message = f"this patch is for {words}, which several objects are, or have been"
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
    if patch.looks_for_all and isinstance(patch.content, dict) and patch.renames:
        _check_names(patch, targets, journal)


def _note_missed(target: dict[str, Any], entry: Provenance, targets: Targets, journal: Journal) -> None:
    """Note a patch for one object that is not there: kustomize applies it to nothing, and says nothing."""
    if not _NAME.fullmatch(text(target.get("name"))):
        return
    words = " ".join(text(target.get(field)) for field in ("kind", "name") if target.get(field))
    for fields in _WAYS_TO_MISS:
        others = {name: value for name, value in target.items() if name not in fields}
        near = targets.selected(others) if any(map(target.get, fields)) and others.get("kind", fields) else []
        if near:
            found = near[0][1]
            # Of a kind without namespaces kustomize does not take the one that the object states for its own.
            home = found.namespace if effective_namespace(found, found.namespace) else ""
            is_of = {"namespace": home or "no namespace"}
            pairs = [(field, is_of.get(field) or getattr(found, field)) for field in fields if target.get(field)]
            wrong = [(field, value) for field, value in pairs if target[field] != value]
            message = f"this patch for {words} changes nothing: its target has"
            message += f" {listing([f'{field} {target[field]}' for field, _ in wrong])}, and the object"
            place = entry.at("target", wrong[0][0])
            journal.note(
                f"{message} {listing([value for _, value in wrong])}", place, code=NEARLY, rule=NOTHING_SELECTED
            )
            return
    message = f"this patch changes nothing: the kustomization holds no {words}"
    journal.note(message, entry.at("target", "name"), code="target-absent", rule=NOTHING_SELECTED)


def _check_names(patch: KustomizePatch, targets: Targets, journal: Journal) -> None:
    """Note two objects of one name: kustomize looks for them after a patch for several objects."""
    seen: set[tuple[str, str, str, str]] = set()
    for manifest in targets.manifests():
        namespace = effective_namespace(manifest, manifest.namespace)
        key = (manifest.api_version, manifest.kind, namespace, manifest.name)
        if key in seen:
            journal.fail(f"this patch makes {manifest} twice", patch.source, code="duplicate")
        seen.add(key)


def _unapplied(patch: KustomizePatch) -> str:
    return f"a patch of {patch.entry.document.file} could not be applied"


def _is_named(content: dict[str, Any], manifest: Manifest) -> bool:
    """Return whether a strategic merge patch without a target names the object, by its present or a former name."""
    if content.get("kind") != manifest.kind or content.get("apiVersion") != manifest.api_version:
        return False
    metadata = mapping(content.get("metadata"))
    key = (effective_namespace(manifest, text(metadata.get("namespace"))), metadata.get("name"))
    pairs = (*manifest.names, (manifest.namespace, manifest.name))
    return any((effective_namespace(manifest, namespace), name) == key for namespace, name in pairs)


def _patched(patch: KustomizePatch, manifest: Manifest, journal: Journal, budget: Budget) -> bool:
    """Patch one object and return whether it is still there."""
    content = patch.content
    if isinstance(content, list):
        manifest.remember()
        manifest.linked = ()
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
        content = {name: value for name, value in content.items() if name not in ("apiVersion", "kind")}
        metadata = mapping(content.get("metadata"))
        fixed = {"namespace"} if patch.renames else {"name", "namespace"}
        if patch.renames:
            manifest.remember()
        if fixed & metadata.keys():
            content["metadata"] = {name: value for name, value in metadata.items() if name not in fixed}
        if patch.looks_for_all:
            content = _with_texts(content)
        try:
            core = is_core(manifest.group)
            if core:
                check(manifest.spec)
            body, origin = merge(manifest.body, manifest.origin, content, patch.source, core=core)
        except MergeError as error:
            journal.note(f"this patch is not applied to {manifest}: {error}", patch.source, code="patch-not-applied")
            manifest.leave_open(_unapplied(patch))
            return True
        if body is DELETED:
            return False
    if isinstance(body, dict):
        manifest.body, manifest.origin = body, origin
    return True


def _with_texts(content: dict[str, Any]) -> dict[str, Any]:
    """Return a patch for a target as kustomize applies it: `null` of a label or annotation is a text there."""
    metadata = mapping(content.get("metadata"))
    changed = {
        field: {name: "null" if value is None else value for name, value in mapping(metadata.get(field)).items()}
        for field in ("labels", "annotations")
        if any(value is None for value in mapping(metadata.get(field)).values())
    }
    return {**content, "metadata": {**metadata, **changed}} if changed else content
