"""`replacements:` of a kustomization: one object's field copied into fields of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping, sequence, text
from policylint.render.kustomize.selectors import SelectorError, selects
from policylint.render.provenance import Manifest, Provenance


class ReplacementError(Exception):
    """A replacement that does not apply; the message is for users."""


def replace(manifests: list[Manifest], replacement: dict[str, Any]) -> None:
    """Apply one replacement.

    Raises:
        ReplacementError: its source is not there; the objects that it is for are marked as provisional.
    """
    try:
        targets = list(_targets(manifests, replacement))
    except SelectorError as error:
        for manifest in manifests:
            manifest.provisional = True
        raise ReplacementError(str(error)) from error
    try:
        value, origin = _source_value(manifests, mapping(replacement.get("source")))
    except ReplacementError:
        for manifest, _ in targets:
            manifest.provisional = True
        raise
    for manifest, target in targets:
        for path in sequence(target.get("fieldPaths")) or ["metadata.name"]:
            _set(manifest, text(path), value, origin, mapping(target.get("options")))


def _targets(manifests: list[Manifest], replacement: dict[str, Any]) -> Iterator[tuple[Manifest, Any]]:
    """Yield the objects that a replacement is for, each with the entry of `targets:` that selects it."""
    for target in map(mapping, sequence(replacement.get("targets"))):
        rejected = [mapping(selector) for selector in sequence(target.get("reject"))]
        for manifest in manifests:
            if _is_selected(mapping(target.get("select")), manifest) and not any(
                _is_selected(selector, manifest) for selector in rejected
            ):
                yield manifest, target


def _is_selected(selector: Any, manifest: Manifest) -> bool:
    texts = {name: value for name, value in selector.items() if isinstance(value, str)}
    return bool(texts) and selects(texts, manifest)


def _source_value(manifests: list[Manifest], source: Any) -> tuple[Any, Provenance]:
    selector = {name: source[name] for name in ("group", "version", "kind", "name", "namespace") if source.get(name)}
    try:
        manifest = next((manifest for manifest in manifests if _is_selected(selector, manifest)), None)
    except SelectorError as error:
        raise ReplacementError(str(error)) from error
    if manifest is None:
        words = ", ".join(f"{name}: {value}" for name, value in selector.items()) or "nothing selected"
        raise ReplacementError(f"no object is its source ({words})")
    path = text(source.get("fieldPath"), "metadata.name")
    place = next(_places(manifest.body, path_steps(path), (), create=False), None)
    if place is None:
        raise ReplacementError(f"{manifest} has no field {path}")
    pointer, value = place
    options = mapping(source.get("options"))
    if options.get("delimiter") and isinstance(value, str):
        parts = value.split(str(options["delimiter"]))
        index = options.get("index", 0)
        value = parts[index] if isinstance(index, int) and 0 <= index < len(parts) else value
    return value, manifest.origin.at(*pointer)


def _set(manifest: Manifest, path: str, value: Any, origin: Provenance, options: Any) -> None:
    for pointer, old in list(_places(manifest.body, path_steps(path), (), create=options.get("create") is True)):
        new = value
        if options.get("delimiter") and isinstance(old, str):
            parts = old.split(str(options["delimiter"]))
            index = options.get("index", 0)
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
        for index, item in enumerate(value):
            if step in ("*", str(index)) or (step.startswith("[") and _item_matches(step, item)):
                yield from _places(item, rest, (*so_far, index), create=create)
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
