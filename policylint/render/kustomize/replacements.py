"""`replacements:` of a kustomization: one object's field copied into fields of others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.budget import Budget, size_of
from policylint.documents import MAX_DEPTH, Pointer
from policylint.documents.scalars import PLAIN
from policylint.model import mapping, sequence, text
from policylint.regex import expression
from policylint.render.kustomize.field_specs import effective_namespace
from policylint.render.kustomize.selectors import SelectorError, selects
from policylint.render.kustomize.targets import Targets
from policylint.render.provenance import Manifest, Provenance

_UNAPPLIED = "a replacement could not be applied: {}"
_NAMES = ("name", "namespace")
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


def replace(objects: Targets, replacement: dict[str, Any], place: Provenance, budget: Budget) -> None:
    """Apply one replacement.

    Args:
        place: where it is written, or what names its file.

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
        value, origin = _source(objects, replacement, place)
        size, height = size_of(value)
        for number, manifest, target in targets:
            identity = (manifest.kind, manifest.name)
            for path in map(text, sequence(target.get("fieldPaths")) or ["metadata.name"]):
                steps = path_steps(path)
                looks_through = any(step == "*" or step.startswith("[") for step in steps)
                budget.spend(_STEPS + manifest.weight // (2 if looks_through else 64))
                if len(steps) + height > MAX_DEPTH:
                    raise ReplacementError(f"what it makes is nested deeper than {MAX_DEPTH} levels")
                _set(manifest, path, value, origin, mapping(target.get("options")), size, budget)
            if (manifest.kind, manifest.name) != identity:
                objects.changed(number, manifest)
    except ReplacementError as error:
        for _, manifest, _ in targets:
            manifest.leave_open(_UNAPPLIED.format(error))
        raise


def _targets(objects: Targets, replacement: dict[str, Any], budget: Budget) -> Iterator[tuple[int, Manifest, Any]]:
    """Yield the objects that a replacement is for, each with the entry of `targets:` that selects it."""
    for target in map(mapping, sequence(replacement.get("targets"))):
        rejected = [part for selector in sequence(target.get("reject")) for part in _parts(_texts(mapping(selector)))]
        for number, manifest in _selected(objects, mapping(target.get("select"))):
            budget.spend(_STEPS * len(rejected))
            if not any(selects(part, manifest, together=True) for part in rejected):
                yield number, manifest, target


def _parts(selector: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield what a selector of `reject` says of identity, and of labels and annotations: each rejects by itself."""
    for of_metadata in (False, True):
        part = {name: value for name, value in selector.items() if value and name.endswith("Selector") is of_metadata}
        if part:
            yield part


def _selected(objects: Targets, selector: Any) -> list[tuple[int, Manifest]]:
    texts = _texts(selector)
    return objects.selected(texts, together=True) if texts else []


def _texts(selector: Any) -> dict[str, str]:
    return {name: value for name, value in selector.items() if isinstance(value, str)}


def _source(objects: Targets, replacement: Mapping[str, Any], place: Provenance) -> tuple[Any, Provenance]:
    """Return what is copied, and where it is written: a field of an object, or the text of `sourceValue`.

    Source: kustomize 5.7, api/filters/replacement/replacement.go, getReplacement.
    """
    source, stated = replacement.get("source"), replacement.get("sourceValue")
    if stated is None:
        return _source_value(objects, mapping(source))
    if source is not None:
        raise ReplacementError("it has both `source` and `sourceValue`", certain=True)
    if not isinstance(stated, str):
        raise ReplacementError("its `sourceValue` is no text", certain=True)
    return stated, place.child("sourceValue")


def _source_value(objects: Targets, source: Any) -> tuple[Any, Provenance]:
    selector = {name: text(source.get(name)) for name in ("group", "version", "kind", "name", "namespace")}
    name = selector["name"]
    among = [manifest for _, manifest in objects.named(name)] if name else objects.manifests()
    found = [manifest for manifest in among if _is_source(manifest, selector)]
    words = ", ".join(f"{name}: {value}" for name, value in selector.items() if value) or "nothing selected"
    if not found:
        raise ReplacementError(f"no object is its source ({words})", certain=bool(selector["kind"]))
    manifest = found[0]
    is_whole = not any(each.provisional for each in found)
    if len(found) > 1:
        raise ReplacementError(f"several objects are its source ({words})", certain=is_whole)
    path = text(source.get("fieldPath"), "metadata.name")
    place = next(_places(manifest.body, path_steps(path)[: MAX_DEPTH + 1], (), create=False, exactly=True), None)
    if place is None or place[1] in (None, {}, []):
        raise ReplacementError(f"{manifest} has no field {path}", certain=is_whole)
    pointer, value = place
    options = mapping(source.get("options"))
    if options.get("delimiter"):
        if isinstance(value, (dict, list)):
            raise ReplacementError(f"field {path} of {manifest} is no text that could be split", certain=is_whole)
        parts = written(value).split(str(options["delimiter"]))
        index = options.get("index", 0)
        if not isinstance(index, int) or not 0 <= index < len(parts):
            message = f"field {path} of {manifest} has no part {index}"
            raise ReplacementError(message, certain=is_whole and isinstance(index, int))
        value = _typed(parts[index], value)
    return value, manifest.origin.at(*pointer)


def _is_source(manifest: Manifest, selector: dict[str, str]) -> bool:
    """Return whether an object is, or was, what a selector names; its texts are no expressions."""
    if any(value not in ("", getattr(manifest, name)) for name, value in selector.items() if name not in _NAMES):
        return False
    return any(
        selector["name"] in ("", name)
        and (not selector["namespace"] or effective_namespace(manifest, namespace) == _namespace(manifest, selector))
        for namespace, name in (*manifest.names, (manifest.namespace, manifest.name))
    )


def _namespace(manifest: Manifest, selector: dict[str, str]) -> str:
    return effective_namespace(manifest, selector["namespace"])


def written(value: Any) -> str:
    """Return a text, number or boolean as YAML has it."""
    return value if isinstance(value, str) else json.dumps(value)


def _typed(new: str, like: Any) -> Any:
    """Return a text as what stands in its place is typed."""
    return new if isinstance(like, str) else PLAIN[new] if new else new


def _set(
    manifest: Manifest,
    path: str,
    value: Any,
    origin: Provenance,
    options: Any,
    size: int,
    budget: Budget,
) -> None:
    create = options.get("create") is True
    places = list(_places(manifest.body, path_steps(path), (), create=create))
    if not places:
        certain = not create and not manifest.provisional and not _leads_into_text(manifest.body, path_steps(path))
        raise ReplacementError(f"{manifest} has no field {path}", certain=certain)
    for pointer, old in places:
        budget.spend(size)
        manifest.weight += size
        new = value
        if options.get("delimiter"):
            if isinstance(old, (dict, list)) or isinstance(value, (dict, list)):
                raise ReplacementError(f"field {path} of {manifest} is no text that could be split")
            held = "" if old is None else written(old)
            parts = held.split(str(options["delimiter"]))
            index = options.get("index", 0)
            budget.spend(len(parts))
            budget.spend_on_text(len(held))
            if isinstance(index, int) and 0 <= index < len(parts):
                parts[index] = written(value)
            elif isinstance(index, int):
                parts = [written(value), *parts] if index < 0 else [*parts, written(value)]
            new = str(options["delimiter"]).join(parts)
        if not isinstance(old, (dict, list)) and not isinstance(new, (dict, list)):
            new = _typed(written(new), old)
        manifest.put(pointer, new, origin)


def _leads_into_text(value: Any, steps: list[str]) -> bool:
    """Return whether a path goes on where a text is: kustomize reads it as YAML."""
    return any(
        isinstance(held, str)
        for count in range(1, len(steps))
        for _, held in _places(value, steps[:count], (), create=False)
    )


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


def _places(
    value: Any, steps: list[str], so_far: Pointer, *, create: bool, exactly: bool = False
) -> Iterator[tuple[Pointer, Any]]:
    """Yield the pointers that a path means, with the values there; None where a field is to be made.

    Args:
        exactly: whether `[name=x]` is the item with that value, as in sources; in targets it is an expression.
    """
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
                if step == "*" or (step.startswith("[") and _item_matches(step, item, exactly=exactly))
            )
        for index in indexes:
            yield from _places(value[index], rest, (*so_far, index), create=create, exactly=exactly)
    elif isinstance(value, dict):
        name = step.strip("[]\"'") if step.startswith("[") else step
        for key in value if step == "*" else [name] if name in value else ():
            yield from _places(value[key], rest, (*so_far, key), create=create, exactly=exactly)
        if create and step != "*" and name not in value:
            if any(each.isdigit() or (each.startswith("[") and "=" in each) for each in rest):
                raise ReplacementError("what it makes has a list that is not there")
            yield from _places({} if rest else None, rest, (*so_far, name), create=create, exactly=exactly)


def _item_matches(step: str, item: Any, *, exactly: bool) -> bool:
    name, _, expected = step.strip("[]").partition("=")
    held = mapping(item).get(name) if name else item
    if held is None or isinstance(held, (dict, list)):
        return False
    if exactly:
        return written(held) == expected
    found = expression(expected).is_within(written(held))
    if found is None:
        raise ReplacementError(f"the expression of {step!r} cannot be judged")
    return found
