"""GWP304 for files of values that charts take, whether or not anything here renders them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.checks.kit.locations import deepest_written, path
from policylint.compare.protection.anywhere import directed_changes
from policylint.compare.protection.cause import RULE
from policylint.compare.texts import TextChanges
from policylint.documents import Document
from policylint.model import Finding, Location, Related, World, mapping, sequence, text
from policylint.patterns import Pattern

_NAMED = Pattern(r"(^|[/._-])values([._-][^/]*)?\.ya?ml$")
"""Names of files of values, whatever takes them."""
_TAKING = (
    ("helm.toolkit.fluxcd.io", "HelmRelease"),
    ("argoproj.io", "Application"),
    ("argoproj.io", "ApplicationSet"),
)
_FIELDS = frozenset({"valueFiles", "valuesFiles", "valuesFile"})
_DEEPEST = 12


def values_weakened(texts: TextChanges, worlds: Iterable[World]) -> Iterator[Finding]:
    """Yield what files of values say that is weaker, and what a kustomization says of the charts that it takes."""
    taken: set[str] | None = None
    for old, new in texts.values:
        before, after = map(_values, (old, new))
        if before == after:
            continue
        if "helmCharts" not in after and not _NAMED.search(new.file):
            if taken is None:
                taken = {name for world in worlds for name in _taken(world)}
            if posixpath.basename(new.file) not in taken:
                continue
        yield from _weakened(old, new, before, after)


def _values(document: Document) -> Mapping[str, Any]:
    """Return the values that a file holds; of a kustomization those of its charts."""
    body = mapping(document.value)
    return {name: body[name] for name in ("helmCharts",) if name in body} if "kind" in body else body


def _taken(world: World) -> Iterator[str]:
    """Yield the names of the files of values that objects take."""
    for kind in _TAKING:
        for resource in world.of_kind(*kind):
            yield from _files(resource.spec, 0)


def _files(value: Any, depth: int) -> Iterator[str]:
    entries = value.items() if isinstance(value, dict) else enumerate(sequence(value))
    for name, inner in entries if depth < _DEEPEST else ():
        if name in _FIELDS:
            listed = inner if isinstance(inner, list) else [inner]
            yield from (posixpath.basename(text(each)) for each in listed)
        elif isinstance(inner, (dict, list)):
            yield from _files(inner, depth + 1)


def _weakened(old: Document, new: Document, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Finding]:
    for weakening, certain in directed_changes(("", "Values"), {"values": before}, {"values": after}):
        if weakening.weak.severity != "warning":
            continue
        was, now = (
            Location(document, deepest_written(document.value, pointer[1:]), bool(pointer[1:]))
            for document, pointer in ((old, weakening.before), (new, weakening.after))
        )
        field = path(weakening.after[1:])
        yield Finding(
            RULE,
            "warning" if certain else "note",
            f"{field} in {new.file} {weakening.change}, {weakening.weak.says}",
            now,
            label=weakening.weak.says,
            related=(Related("it was written here before the change", was),),
            help=("fix: keep it as it was, or say what takes its place",),
            field=field,
        )


__all__ = ["values_weakened"]
