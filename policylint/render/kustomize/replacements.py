"""`replacements:` of a kustomization: one object's field copied into fields of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping, sequence, text
from policylint.render.kustomize.selectors import selects
from policylint.render.provenance import Manifest, Trace


class ReplacementError(Exception):
    """A replacement that does not apply; the message is for users."""


def replace(manifests: list[Manifest], replacement: dict[str, Any]) -> None:
    """Apply one replacement.

    Raises:
        ReplacementError: its source is not there.
    """
    source = mapping(replacement.get("source"))
    value, trace = _source_value(manifests, source)
    for target in sequence(replacement.get("targets")):
        target = mapping(target)
        rejected = [mapping(each) for each in sequence(target.get("reject"))]
        for manifest in manifests:
            if not _is_meant(mapping(target.get("select")), manifest):
                continue
            if any(_is_meant(each, manifest) for each in rejected if each):
                continue
            for path in sequence(target.get("fieldPaths")) or ["metadata.name"]:
                _set(manifest, text(path), value, trace, mapping(target.get("options")))


def _is_meant(selector: Any, manifest: Manifest) -> bool:
    exact = {name: value for name, value in selector.items() if isinstance(value, str)}
    return bool(exact) and selects(exact, manifest)


def _source_value(manifests: list[Manifest], source: Any) -> tuple[Any, Trace]:
    selector = {name: source[name] for name in ("group", "version", "kind", "name", "namespace") if source.get(name)}
    chosen = next((each for each in manifests if _is_meant(selector, each)), None)
    if chosen is None:
        raise ReplacementError(f"no object is its source ({_words(selector)})")
    path = text(source.get("fieldPath"), "metadata.name")
    found = next(_places(chosen.body, path_steps(path), (), create=False), None)
    if found is None:
        raise ReplacementError(f"{chosen} has no field {path}")
    pointer, value = found
    options = mapping(source.get("options"))
    if options.get("delimiter") and isinstance(value, str):
        parts = value.split(str(options["delimiter"]))
        index = options.get("index", 0)
        value = parts[index] if isinstance(index, int) and 0 <= index < len(parts) else value
    return value, chosen.trace.at(pointer)


def _words(selector: dict[str, Any]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in selector.items()) or "nothing selected"


def _set(manifest: Manifest, path: str, value: Any, trace: Trace, options: Any) -> None:
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
        manifest.put(pointer, new, trace)


def path_steps(path: str) -> list[str]:
    """`spec.rules.[name=x].a\\.b` as steps: dots separate unless escaped or inside brackets."""
    steps, here, depth, escaped = [], "", 0, False
    for character in path:
        if escaped:
            here, escaped = here + character, False
        elif character == "\\":
            escaped = True
        elif character == "." and depth == 0:
            steps.append(here)
            here = ""
        else:
            depth += (character == "[") - (character == "]")
            here += character
    return [each for each in [*steps, here] if each]


def _places(value: Any, steps: list[str], so_far: Pointer, *, create: bool) -> Iterator[tuple[Pointer, Any]]:
    if not steps:
        yield so_far, value
        return
    step, rest = steps[0], steps[1:]
    if isinstance(value, list):
        for index, each in enumerate(value):
            if step == "*" or step == str(index) or (step.startswith("[") and _item_matches(step, each)):
                yield from _places(each, rest, (*so_far, index), create=create)
    elif isinstance(value, dict):
        if step == "*":
            for name, each in value.items():
                yield from _places(each, rest, (*so_far, name), create=create)
            return
        name = step.strip("[]\"'") if step.startswith("[") else step
        if name in value:
            yield from _places(value[name], rest, (*so_far, name), create=create)
        elif create:
            yield from _places({} if rest else None, rest, (*so_far, name), create=create)


def _item_matches(step: str, item: Any) -> bool:
    name, equals, wanted = step.strip("[]").partition("=")
    if not equals:
        return False
    for part in name.split("."):
        item = item.get(part) if isinstance(item, dict) else None
    return str(item) == wanted
