"""JSON patches (RFC 6902) with traces: `jsonpatch` says what a value becomes, this module where it is written then."""

from __future__ import annotations

from typing import Any

from policylint.documents import MAX_DEPTH, Pointer
from policylint.render.provenance import Trace

MAX_COPIED = 100_000
"""Values in an object that a `copy` operation still works on."""


class PatchError(Exception):
    """An operation that does not apply; the message is for users."""


def apply(body: Any, trace: Trace, operations: list[Any], source: Trace) -> tuple[Any, Trace]:
    """The body after all operations, and its trace.

    Raises:
        PatchError: an operation is malformed or its path is not there.
    """
    for index, operation in enumerate(operations):
        if not isinstance(operation, dict):
            raise PatchError("a JSON patch is a list of operations")
        body, trace = _apply_one(body, trace, operation, source.child(index))
    return body, trace


def _apply_one(body: Any, trace: Trace, operation: dict[str, Any], source: Trace) -> tuple[Any, Trace]:
    from jsonpatch import JsonPatch, JsonPatchException
    from jsonpointer import JsonPointerException

    kind, path = operation.get("op"), operation.get("path")
    steps = [] if not isinstance(path, str) else _steps(path)
    origin = operation.get("from")
    origin_steps = _steps(origin) if isinstance(origin, str) else []
    before = body
    if kind == "copy" and not _is_small(body):
        raise PatchError(f"operation copy {path}: what it makes is too large")
    copied = _opened(body, steps[:-1])
    if kind == "move":
        copied = _opened(copied, origin_steps[:-1])
    try:
        body = JsonPatch([operation]).apply(copied, in_place=True)
    except (JsonPatchException, JsonPointerException, TypeError, ValueError, KeyError, IndexError) as error:
        words = str(error).strip("'\"") or "it does not apply"
        raise PatchError(f"operation {kind} {path}: {words}") from error
    if kind in ("add", "replace"):
        return body, _placed(trace, before, steps, source.child("value"), insert=kind == "add")
    if kind == "remove":
        return body, _removed(trace, before, steps)
    if kind in ("move", "copy"):
        moved = trace.at(_typed(before, origin_steps))
        if kind == "move":
            trace = _removed(trace, before, origin_steps)
            before = JsonPatch([{"op": "remove", "path": origin}]).apply(before)
        return body, _placed(trace, before, steps, moved, insert=True)
    return body, trace


def _is_small(body: Any) -> bool:
    """Whether a value may be copied into itself: done often enough, that fills any memory, or nests without end."""
    count = 0
    pending = [(body, 0)]
    while pending:
        here, depth = pending.pop()
        count += 1
        if count > MAX_COPIED or depth > MAX_DEPTH:
            return False
        if isinstance(here, dict):
            pending.extend((each, depth + 1) for each in here.values())
        elif isinstance(here, list):
            pending.extend((each, depth + 1) for each in here)
    return True


def _steps(path: str) -> list[str]:
    return [each.replace("~1", "/").replace("~0", "~") for each in path.split("/")[1:]]


def _opened(body: Any, steps: list[str]) -> Any:
    """The body with every container on the way, and the one at the end of it, copied: they may be changed in place."""
    top = _shallow(body)
    here = top
    for step in steps:
        if isinstance(here, dict) and step in here:
            here[step] = _shallow(here[step])
            here = here[step]
        elif isinstance(here, list) and step.isdigit() and int(step) < len(here):
            here[int(step)] = _shallow(here[int(step)])
            here = here[int(step)]
        else:
            break
    return top


def _shallow(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(value)
    return list(value) if isinstance(value, list) else value


def _typed(body: Any, steps: list[str]) -> Pointer:
    """The steps with list indexes as numbers."""
    typed: list[str | int] = []
    for step in steps:
        if isinstance(body, list):
            index = len(body) if step == "-" else int(step) if step.isdigit() else 0
            typed.append(index)
            body = body[index] if index < len(body) else None
        else:
            typed.append(step)
            body = body.get(step) if isinstance(body, dict) else None
    return tuple(typed)


def _placed(trace: Trace, before: Any, steps: list[str], source: Trace, *, insert: bool) -> Trace:
    """The trace after a value came to stand at the path; into a list it pushes what follows."""
    if not steps:
        return source
    pointer = _typed(before, steps)
    return _changed(trace, before, pointer, source, 1 if insert else 0)


def _removed(trace: Trace, before: Any, steps: list[str]) -> Trace:
    return _changed(trace, before, _typed(before, steps), None, -1) if steps else trace


def _changed(trace: Trace, before: Any, pointer: Pointer, source: Trace | None, shift: int) -> Trace:
    step, rest = pointer[0], pointer[1:]
    if rest:
        inner: Any = None
        if isinstance(before, dict) or (isinstance(before, list) and isinstance(step, int)):
            inner = before[step]  # type: ignore[index]
        return trace.with_child(step, _changed(trace.child(step), inner, rest, source, shift))
    if isinstance(before, list) and shift and isinstance(step, int):
        items = [trace.child(index) for index in range(len(before))]
        if source is not None:
            items.insert(step, source)
        else:
            del items[step]
        return trace.with_items(items)
    if source is not None:
        return trace.with_child(step, source)
    children = {name: each for name, each in trace.children.items() if name != step}
    return Trace(trace.document, trace.pointer, children)
