"""Suppressions in annotations, which survive rendering: `ignore.policylint.dev/GWP201: "JWT is checked by the app"`.

One key per rule, as kube-linter has it: kustomize can merge such keys, but not lists in one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from policylint.model import Location, Resource, ResourceKey
from policylint.model.suppression import Suppression
from policylint.triage.expiry import expiry

PREFIX = "ignore.policylint.dev/"


def suppressions(resources: Iterable[Resource], source_lines: Callable[[str], list[str]]) -> list[Suppression]:
    """Return the suppressions in annotations; one that several environments render from one place is one.

    Args:
        source_lines: returns the lines of a file, to see what YAML cut off.
    """
    by_identity: dict[tuple[str, int, int, str], Suppression] = {}
    for resource in resources:
        for name, value in resource.annotations.items():
            if not isinstance(name, str) or not name.startswith(PREFIX):
                continue
            location = resource.location("metadata", "annotations", name, key=True)
            identity = (location.file, *location.at(), name)
            keys: frozenset[ResourceKey] = frozenset({resource.key})
            if identity in by_identity:
                keys |= by_identity[identity].keys
            reason, expires = expiry(value.strip() if isinstance(value, str) else "")
            by_identity[identity] = Suppression(
                "annotation",
                (name.removeprefix(PREFIX),),
                reason,
                location,
                expires,
                _cut(resource.location("metadata", "annotations", name), source_lines),
                keys=keys,
            )
    return [by_identity[identity] for identity in sorted(by_identity)]


def _cut(value: Location, source_lines: Callable[[str], list[str]]) -> str:
    """Return what stands behind ` #` in an unquoted value: YAML drops it silently (devantler-tech/platform#3204)."""
    line, column = value.at()
    lines = source_lines(value.file)
    written = lines[line - 1][column - 1 :] if 1 <= line <= len(lines) else ""
    if written[:1] in ("", "'", '"', "|", ">", "{", "["):
        return ""
    _, mark, rest = f" {written}".partition(" #")
    return f"#{rest}".strip() if mark and "policylint:" not in rest else ""
