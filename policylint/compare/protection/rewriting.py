"""New objects that rewrite or delete what others apply: what stands in the tree is not what the cluster gets then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.catalog.weakenings import deciding
from policylint.compare.pairing import Sides
from policylint.compare.unknown import decides
from policylint.model import Resource
from policylint.simulation import Simulation

REWRITES = "it may rewrite or delete what others apply"
_ANY = "any"


def rewriting(sides: Sides) -> Iterator[Resource]:
    """Yield the new objects of which schemas/weakenings.yaml says that they change others."""
    for key in sorted(sides.pairing.added):
        entry = deciding(*key[:2])
        resource = sides.after.world.get(key) if entry is not None and entry.changing else None
        if resource is None or entry is None:
            continue
        if entry.changing == _ANY or any(name == entry.changing for name, _ in _entries(resource.body)):
            yield resource


def is_for_checked(resource: Resource, side: Simulation) -> bool:
    """Return whether an object names kinds of this tree that decide on requests: as kinds, or as resources."""
    named = {str(value).rpartition("/")[2].lower() for _, value in _entries(resource.body)} - {
        resource.key.kind.lower()
    }
    kinds = {kind.lower() for group, kind in side.world.kinds() if decides(side.catalog, group, kind)}
    return not named.isdisjoint(form for kind in kinds for form in (kind, f"{kind}s", f"{kind[:-1]}ies"))


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a value at any depth, and the items of its lists below the names of these; no containers."""
    pending = [("", value)]
    while pending:
        name, each = pending.pop()
        if isinstance(each, dict):
            yield from ((str(field), None) for field in each)
            pending.extend((str(field), inner) for field, inner in each.items())
        elif isinstance(each, list):
            pending.extend((name, inner) for inner in each)
        else:
            yield name, each
