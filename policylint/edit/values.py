"""Work out the values that documents must have after a change: they verify that an edit of the text did only that."""

from __future__ import annotations

import json
from typing import Any

from policylint.documents import Document, Pointer, read
from policylint.model.fix import Change


def expected(before: list[Document], changes: list[Change]) -> list[Any] | None:
    """Return the values of all documents of a file after the changes; None where one is not as the change expects."""
    numbers = {document.line: number for number, document in enumerate(before)}
    result = [[document.value] for document in before]
    for change in sorted(changes, key=_inside_out):
        document = change.location.document
        if not isinstance(document, Document):
            return None
        number = numbers.get(document.line)
        if number is None or before[number].value != document.value:
            return None
        if change.action == "document":
            added = [appended.value for appended in read(change.new.encode(), document.file).documents]
            if added[0] not in result[number]:
                result[number] += added
            continue
        try:
            result[number][0] = _changed(result[number][0], change.location.pointer, change)
        except (KeyError, IndexError, TypeError):
            return None
    return [value for values in result for value in values]


def _inside_out(change: Change) -> tuple[bool, int]:
    """Return a sort key: values before the keys above them, as pointers are those of the file as it is."""
    return change.action in ("rename", "list"), -len(change.location.pointer)


def _changed(value: Any, pointer: Pointer, change: Change) -> Any:
    """Return a changed copy of a value, copied along the pointer only: data that an alias shares must not change."""
    if not pointer:
        if change.action in ("insert", "entry"):
            new = json.loads(change.new) if change.action == "entry" else change.new
            return {change.old: new, **value}
        return int(change.new) if change.action == "number" else change.new
    step = pointer[0]
    if len(pointer) == 1 and change.action in ("rename", "list"):
        inner = [value[step]] if change.action == "list" else value[step]
        if change.new in value:
            raise KeyError(change.new)
        return {
            (change.new if name == step else name): (inner if name == step else entry_value)
            for name, entry_value in value.items()
        }
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[step] = _changed(value[step], pointer[1:], change)  # type: ignore[index]
    return copied
