"""Objects that filters and annotations name, as rows and as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.policy.bindings import ObjectBinding
from policylint.report.kit.display import short_place
from policylint.report.kit.identity import Names, json_place

_HEADING = "Named by filter or annotation"
_WITH_TARGETS = "Named by filter or annotation, or of an unknown kind"
_UNREAD = ", not evaluated"
_OFF = ", switched off"
_WORDS = {"missing": "not there", "unknown": "not seen"}


def headed(bindings: Iterable[ObjectBinding]) -> Iterator[tuple[str, list[ObjectBinding]]]:
    """Yield bindings under their headings: those whose objects ask for something that is known, those that are switched
    off, and the others."""
    listed = list(bindings)
    for state in ("", _OFF, _UNREAD):
        found = [binding for binding in listed if _state(binding) == state]
        if found:
            of_target = any(binding.form == "target" for binding in found)
            yield (_WITH_TARGETS if of_target else _HEADING) + state, found


def _state(binding: ObjectBinding) -> str:
    return _OFF if binding.is_off else "" if binding.is_read else _UNREAD


def row(binding: ObjectBinding, names: Names) -> tuple[str, str, str, str]:
    """Return the object, what it does in short, who names it, and where."""
    what = _WORDS.get(binding.resolution.state, binding.says)
    by = binding.by if binding.form == "target" else f"{binding.by} of {names.key(binding.holder.key)}"
    return names.key(binding.wanted), what, by, short_place(binding.holder.location(*binding.pointer))


def entry(binding: ObjectBinding, names: Names) -> dict[str, Any]:
    """Return the same for programs."""
    content: dict[str, Any] = {
        "object": names.key(binding.wanted),
        "by": binding.by,
        "of": names.node(binding.node),
        "resolution": binding.resolution.state,
        "location": json_place(binding.holder.location(*binding.pointer)),
    }
    return content | ({"says": binding.says} if binding.says else {})
