"""The last line: an object that acts on requests or connections changes, and nothing else says what that does.

What a diff is silent about it says is as before. So each change to a policy, to what policies name, or to what decides
beside them is a row, unless an answer, a setting or a finding tells of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from policylint.catalog.weakenings import access
from policylint.checks.kit.locations import path
from policylint.compare.change import ContextChange, EnvironmentChange, SubjectChange
from policylint.compare.pairing import Sides
from policylint.compare.protection.anywhere import decided_otherwise, edited_beside
from policylint.compare.protection.extensions import edited_unevaluated, said_by
from policylint.compare.requests import RequestChanges
from policylint.documents import Pointer
from policylint.model import GATEWAY_GROUP, Finding, PolicyKind, Resource, ResourceKey
from policylint.model.words import listing
from policylint.policy.results import Effective

_NOT_EVALUATED = "and what that does is not evaluated"
_MOST = 50
_DEEPEST = 3
"""Steps of a path that are shown: below them stands what only who wrote it knows."""


def sets_otherwise(contexts: Iterable[ContextChange]) -> bool:
    """Tell whether a setting in effect has another value, but for rules that requests were held against."""
    return any(
        _beside_rules(context.kind, context.before) != _beside_rules(context.kind, context.after)
        for context in contexts
    )


def _beside_rules(kind: PolicyKind, effective: Effective | None) -> Mapping[str, Any]:
    spec = {} if effective is None else effective.spec
    rules = set(kind.settings.authorization) - set(kind.settings.authentication)
    return {name: value for name, value in spec.items() if name not in rules}


def untold_subjects(
    sides: Sides, contexts: Iterable[ContextChange], requests: RequestChanges | None
) -> list[SubjectChange]:
    """Return a row for each object that says something else than before and of which no answer tells, sorted."""
    shown = set(_shown(requests))
    for context in contexts:
        shown |= {each.key for side in (context.before, context.after) if side is not None for each in side.stack}
    rows = {
        new.key: SubjectChange(sides.after.world.name, new.key, "unknown", new.name_location, reason=reason)
        for old, new in (*edited_unevaluated(sides), *decided_otherwise(sides), *_of_known_groups(sides))
        if new.key not in shown and (reason := _reason(old, new))
    }
    return [rows[key] for key in sorted(rows)][:_MOST]


def _shown(requests: RequestChanges | None) -> Iterator[ResourceKey]:
    """Yield the objects by which, or on whose ways, requests are answered otherwise."""
    for change in () if requests is None else requests.changes:
        yield from (who.policy for who in change.by)
        yield from change.routes
        yield from (node.key for node in (*change.rules, *change.listeners))


def _of_known_groups(sides: Sides) -> Iterator[tuple[Resource, Resource]]:
    """Yield the objects of kinds that the catalog does not have, but of APIs of which it has others."""
    groups = {kind.group for kind in sides.after.catalog.kinds()} - {GATEWAY_GROUP}
    return ((old, new) for old, new in edited_beside(sides) if new.key.group in groups)


def without_told(environments: Iterable[EnvironmentChange], findings: Iterable[Finding]) -> list[EnvironmentChange]:
    """Leave out the rows of objects of which a finding tells."""
    told = {key for finding in findings for key in finding.resources}
    return [
        environment._replace(subjects=tuple(each for each in environment.subjects if not _is_told(each, told)))
        for environment in environments
    ]


def _is_told(subject: SubjectChange, told: Collection[ResourceKey]) -> bool:
    return subject.key in told and subject.reason.endswith(_NOT_EVALUATED)


def _reason(old: Resource, new: Resource) -> str:
    """Return which of its fields differ, in words; "" where all of them say how something runs, as replicas do."""
    above = "spec." if "spec" in new.body else ""
    fields = dict.fromkeys(f"{above}{path(each[:_DEEPEST])}" for each in _differing(said_by(old), said_by(new), ()))
    if not fields:
        return ""
    return f"{listing(list(fields), most=3)} {'changes' if len(fields) == 1 else 'change'}, {_NOT_EVALUATED}"


def _differing(old: Any, new: Any, above: Pointer) -> Iterator[Pointer]:
    """Yield where two values differ, as far down as both have something."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            if old.get(name) != new.get(name) and (name == "labels" or not access().is_idle(str(name), new.get(name))):
                yield from _differing(old.get(name), new.get(name), (*above, name))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            if one != other:
                yield from _differing(one, other, (*above, number))
    else:
        yield above


__all__ = ["sets_otherwise", "untold_subjects", "without_told"]
