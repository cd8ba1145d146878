"""JSON patches (RFC 6902) with provenance: `jsonpatch` works out the values, this module where they are written."""

from __future__ import annotations

from copy import copy
from typing import Any

from policylint.budget import Budget, size_of
from policylint.digits import whole_number
from policylint.documents import MAX_DEPTH, Pointer
from policylint.render.provenance import Provenance

_ANNOTATIONS = ["metadata", "annotations"]
_STEPS = 30
"""What it costs to apply one operation."""


class PatchError(Exception):
    """An operation that does not apply; the message is for users.

    Args:
        certain: whether kustomize refuses it, too: it sets what `replace` does not find, and counts negative
            indexes from the end.
    """

    def __init__(self, message: str, *, certain: bool = False) -> None:
        super().__init__(message)
        self.certain = certain


def apply(
    body: Any, origin: Provenance, operations: list[Any], source: Provenance, budget: Budget
) -> tuple[Any, Provenance]:
    """Return the body after all operations, and its provenance.

    Raises:
        PatchError: an operation is malformed, its path is not there, or what it makes nests too deeply.
        ExhaustedError: what they make is more than the budget allows.
    """
    for index, operation in enumerate(operations):
        if not isinstance(operation, dict):
            raise PatchError("a JSON patch is a list of operations")
        body, origin = _apply_one(body, origin, operation, source.child(index), budget)
    return body, origin


def _apply_one(
    body: Any, origin: Provenance, operation: dict[str, Any], source: Provenance, budget: Budget
) -> tuple[Any, Provenance]:
    from jsonpatch import JsonPatch, JsonPatchException
    from jsonpointer import JsonPointerException

    kind, path, from_path = operation.get("op"), operation.get("path"), operation.get("from")
    steps, from_steps = _steps(path), _steps(from_path)
    if steps[:2] == _ANNOTATIONS:
        body = _annotated(body)
    before = body
    budget.spend(_STEPS)
    if kind in ("add", "replace", "copy", "move"):
        size, height = size_of(operation.get("value") if kind in ("add", "replace") else _value_at(body, from_steps))
        budget.spend(size if kind == "copy" else 0)
        if len(steps) + height > MAX_DEPTH:
            raise PatchError(f"operation {kind}: what it makes is nested deeper than {MAX_DEPTH} levels")
    copied = _opened(body, steps[:-1])
    if kind == "move":
        copied = _opened(copied, from_steps[:-1])
    try:
        body = JsonPatch([operation]).apply(copied, in_place=True)
    except (JsonPatchException, JsonPointerException, TypeError, ValueError, KeyError, IndexError) as error:
        words = str(error).strip("'\"") or "it does not apply"
        certain = kind in ("add", "remove") and any(steps) and not any(step.startswith("-") for step in steps)
        raise PatchError(f"operation {kind} {path}: {words}", certain=certain) from error
    if kind in ("add", "replace"):
        return body, _changed(
            origin, before, _typed(before, steps), source.child("value"), budget, insert=kind == "add"
        )
    if kind == "remove":
        return body, _changed(origin, before, _typed(before, steps), None, budget)
    if kind in ("move", "copy"):
        moved = origin.at(*_typed(before, from_steps))
        if kind == "move":
            origin = _changed(origin, before, _typed(before, from_steps), None, budget)
            before = JsonPatch([{"op": "remove", "path": from_path}]).apply(before)
        return body, _changed(origin, before, _typed(before, steps), moved, budget)
    return body, origin


def _annotated(body: Any) -> Any:
    """Return a body with annotations: kustomize keeps notes of its own there, so that a patch always finds some."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    if not isinstance(metadata, dict) or isinstance(metadata.get("annotations"), dict):
        return body
    return {**body, "metadata": {**metadata, "annotations": {}}}


def _value_at(body: Any, steps: list[str]) -> Any:
    """Return the value at a path; None where there is none."""
    for step in _typed(body, steps):
        if not (step in body if isinstance(body, dict) else _is_index(body, step)):
            return None
        body = body[step]
    return body


def _steps(path: Any) -> list[str]:
    steps = path.split("/")[1:] if isinstance(path, str) else []
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def _opened(body: Any, steps: list[str]) -> Any:
    """Return the body with every container on the way, and the one at the end, copied: they may be changed in place."""
    top = container = copy(body)
    for step in _typed(body, steps):
        is_there = step in container if isinstance(container, dict) else _is_index(container, step)
        if not is_there:
            break
        container[step] = copy(container[step])
        container = container[step]
    return top


def _is_index(container: Any, step: str | int) -> bool:
    return isinstance(container, list) and isinstance(step, int) and step < len(container)


def _typed(body: Any, steps: list[str]) -> Pointer:
    """Return the steps with list indexes as numbers."""
    typed: list[str | int] = []
    for step in steps:
        if isinstance(body, list):
            index = len(body) if step == "-" else whole_number(step) or 0
            typed.append(index)
            body = body[index] if index < len(body) else None
        else:
            typed.append(step)
            body = body.get(step) if isinstance(body, dict) else None
    return tuple(typed)


def _changed(
    origin: Provenance,
    before: Any,
    pointer: Pointer,
    source: Provenance | None,
    budget: Budget,
    *,
    insert: bool = True,
) -> Provenance:
    """Return the provenance after the value at a pointer was set, or removed where there is no source.

    Args:
        insert: whether a value that comes into a list pushes what follows, or replaces what is there.
    """
    if not pointer:
        return source or origin
    step, rest = pointer[0], pointer[1:]
    if rest:
        is_there = isinstance(before, dict) or (isinstance(before, list) and isinstance(step, int))
        inner = before[step] if is_there else None
        return origin.with_child(step, _changed(origin.child(step), inner, rest, source, budget, insert=insert))
    if isinstance(before, list) and isinstance(step, int) and step < len(before) and (insert or source is None):
        budget.spend(len(before))  # the origin of every item that is pushed on has to be said
        items = [origin.child(index) for index in range(len(before))]
        if source is not None:
            items.insert(step, source)
        else:
            del items[step]
        return origin.with_items(items)
    if source is not None:
        return origin.with_child(step, source)
    return origin.with_children({name: child for name, child in origin.children.items() if name != step})
