"""New objects that rewrite or delete what others apply: what stands in the tree is not what the cluster gets then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.catalog.weakenings import ANY, deciding
from policylint.compare.pairing import Sides
from policylint.compare.unknown import decides
from policylint.model import Resource, mapping, sequence
from policylint.simulation import Simulation

REWRITES = "it may rewrite or delete what others apply"


def rewriting(sides: Sides) -> Iterator[Resource]:
    """Yield the new objects of which schemas/weakenings.yaml says that they change others."""
    for key in sorted(sides.pairing.added):
        entry = deciding(*key[:2])
        resource = sides.after.world.get(key) if entry is not None and entry.changing else None
        if resource is None or entry is None:
            continue
        says = resource.spec.get(entry.changing) is True
        by_rule = any(entry.changing in mapping(rule) for rule in sequence(resource.spec.get("rules")))
        if entry.changing == ANY or says or by_rule:
            yield resource


def is_for_checked(resource: Resource, side: Simulation) -> bool:
    """Return whether an object names kinds of this tree that decide on requests: as kinds, or as resources."""
    named = {str(value).rpartition("/")[2].lower() for value in _values(resource.body)} - {resource.key.kind.lower()}
    kinds = {kind.lower() for group, kind in side.world.kinds() if decides(side.catalog, group, kind)}
    return not named.isdisjoint(form for kind in kinds for form in (kind, f"{kind}s", f"{kind[:-1]}ies"))


def _values(value: Any) -> Iterator[Any]:
    """Yield what stands in a value at any depth, but for names of fields and containers."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, (dict, list)):
            pending.extend(each.values() if isinstance(each, dict) else each)
        else:
            yield each
