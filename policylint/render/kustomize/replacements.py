"""`replacements:` of a kustomization: one object's field copied into fields of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.budget import Budget, size_of
from policylint.documents import MAX_DEPTH, Pointer
from policylint.model import mapping, sequence, text
from policylint.render.kustomize.selectors import SelectorError, selects
from policylint.render.kustomize.targets import Targets
from policylint.render.provenance import Manifest, Provenance

_UNAPPLIED = "a replacement could not be applied: {}"
_STEPS = 20
"""What it costs to set one field."""


class ReplacementError(Exception):
    """A replacement that does not apply; the message is for users.

    Args:
        certain: whether kustomize refuses it, too, if all objects are there.
    """

    def __init__(self, message: str, *, certain: bool = False) -> None:
        super().__init__(message)
        self.certain = certain


def replace(objects: Targets, replacement: dict[str, Any], budget: Budget) -> None:
    """Apply one replacement.

    Raises:
        ReplacementError: its source is not there, or it makes what nests too deeply; the objects that it is for are
            marked as provisional.
        ExhaustedError: what it makes is more than the budget allows.
    """
    try:
        targets = list(_targets(objects, replacement, budget))
    except SelectorError as error:
        for manifest in objects.manifests():
            manifest.leave_open(_UNAPPLIED.format(error))
        raise ReplacementError(str(error)) from error
    try:
        value, origin = _source_value(objects, mapping(replacement.get("source")))
        size, height = size_of(value)
        for number, manifest, target in targets:
            identity = (manifest.kind, manifest.name)
            for path in sequence(target.get("fieldPaths")) or ["metadata.name"]:
                steps = path_steps(text(path))
                looks_through = any(step == "*" or step.startswith("[") for step in steps)
                budget.spend(_STEPS + manifest.weight // (2 if looks_through else 64))
                if len(steps) + height > MAX_DEPTH:
                    raise ReplacementError(f"what it makes is nested deeper than {MAX_DEPTH} levels")
                _set(manifest, steps, value, origin, mapping(target.get("options")), size, budget)
            if (manifest.kind, manifest.name) != identity:
                objects.changed(number, manifest)
    except ReplacementError as error:
        for _, manifest, _ in targets:
            manifest.leave_open(_UNAPPLIED.format(error))
        raise


def _targets(objects: Targets, replacement: dict[str, Any], budget: Budget) -> Iterator[tuple[int, Manifest, Any]]:
    """Yield the objects that a replacement is for, each with the entry of `targets:` that selects it."""
    for target in map(mapping, sequence(replacement.get("targets"))):
        rejected = [_texts(mapping(selector)) for selector in sequence(target.get("reject"))]
        for number, manifest in _selected(objects, mapping(target.get("select"))):
            budget.spend(_STEPS * len(rejected))
            if not any(texts and selects(texts, manifest) for texts in rejected):
                yield number, manifest, target


def _selected(objects: Targets, selector: Any) -> list[tuple[int, Manifest]]:
    texts = _texts(selector)
    return objects.selected(texts) if texts else []


def _texts(selector: Any) -> dict[str, str]:
    return {name: value for name, value in selector.items() if isinstance(value, str)}


def _source_value(objects: Targets, source: Any) -> tuple[Any, Provenance]:
    selector = {name: source[name] for name in ("group", "version", "kind", "name", "namespace") if source.get(name)}
    try:
        manifest = next((manifest for _, manifest in _selected(objects, selector)), None)
    except SelectorError as error:
        raise ReplacementError(str(error)) from error
    if manifest is None:
        words = ", ".join(f"{name}: {value}" for name, value in selector.items()) or "nothing selected"
        raise ReplacementError(f"no object is its source ({words})", certain="kind" in selector)
    path = text(source.get("fieldPath"), "metadata.name")
    place = next(_places(manifest.body, path_steps(path)[: MAX_DEPTH + 1], (), create=False), None)
    if place is None:
        raise ReplacementError(f"{manifest} has no field {path}", certain=not manifest.provisional)
    pointer, value = place
    options = mapping(source.get("options"))
    if options.get("delimiter") and isinstance(value, str):
        parts = value.split(str(options["delimiter"]))
        index = options.get("index", 0)
        value = parts[index] if isinstance(index, int) and 0 <= index < len(parts) else value
    return value, manifest.origin.at(*pointer)


def _set(
    manifest: Manifest,
    steps: list[str],
    value: Any,
    origin: Provenance,
    options: Any,
    size: int,
    budget: Budget,
) -> None:
    for pointer, old in list(_places(manifest.body, steps, (), create=options.get("create") is True)):
        budget.spend(size)
        manifest.weight += size
        new = value
        if options.get("delimiter") and isinstance(old, str):
            parts = old.split(str(options["delimiter"]))
            index = options.get("index", 0)
            budget.spend(len(parts))
            budget.spend_on_text(len(old))
            if isinstance(index, int) and 0 <= index < len(parts):
                parts[index] = str(value)
            elif isinstance(index, int):
                parts = [str(value), *parts] if index < 0 else [*parts, str(value)]
            new = str(options["delimiter"]).join(parts)
        if pointer in (("metadata", "name"), ("metadata", "namespace")):
            manifest.remember()
        manifest.put(pointer, new, origin)


def path_steps(path: str) -> list[str]:
    """Split `spec.rules.[name=x].a\\.b` into steps: dots separate unless escaped or inside brackets."""
    steps, step, depth, escaped = [], "", 0, False
    for character in path:
        if escaped:
            step, escaped = step + character, False
        elif character == "\\":
            escaped = True
        elif character == "." and depth == 0:
            steps.append(step)
            step = ""
        else:
            depth += (character == "[") - (character == "]")
            step += character
    return [part for part in [*steps, step] if part]


def _places(value: Any, steps: list[str], so_far: Pointer, *, create: bool) -> Iterator[tuple[Pointer, Any]]:
    """Yield the pointers that a path means, with the values there; None where a field is to be made."""
    if not steps:
        yield so_far, value
        return
    step, rest = steps[0], steps[1:]
    if isinstance(value, list):
        if step.isascii() and step.isdigit() and step == str(int(step[:9])):
            indexes: Iterable[int] = [int(step)] if int(step) < len(value) else []
        else:
            indexes = (
                index
                for index, item in enumerate(value)
                if step == "*" or (step.startswith("[") and _item_matches(step, item))
            )
        for index in indexes:
            yield from _places(value[index], rest, (*so_far, index), create=create)
    elif isinstance(value, dict):
        name = step.strip("[]\"'") if step.startswith("[") else step
        for key in value if step == "*" else [name] if name in value else ():
            yield from _places(value[key], rest, (*so_far, key), create=create)
        if create and step != "*" and name not in value:
            yield from _places({} if rest else None, rest, (*so_far, name), create=create)


def _item_matches(step: str, item: Any) -> bool:
    name, equals, expected = step.strip("[]").partition("=")
    for part in name.split("."):
        item = mapping(item).get(part)
    return bool(equals) and str(item) == expected
