"""Objects that filters and annotations name and that no evaluator judges, as rows and as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policylint.policy.bindings import ObjectBinding
from policylint.report.kit.display import short_place
from policylint.report.kit.identity import Names, json_place

_HEADING = "Named by filter or annotation, not evaluated"
_WITH_TARGETS = "Named by filter or annotation, or of an unknown kind, not evaluated"
_WORDS = {"missing": "not there", "unknown": "not seen"}


def heading(bindings: Iterable[ObjectBinding]) -> str:
    """Return the heading of the rows of some bindings."""
    return _WITH_TARGETS if any(binding.form == "target" for binding in bindings) else _HEADING


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
