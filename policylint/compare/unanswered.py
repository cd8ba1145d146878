"""The last line: an object that acts on requests or connections changes, and nothing else says what that does.

What a diff is silent about it says is as before. So each change to a policy, to what policies name, or to what decides
beside them is a row, unless an answer, a setting or a finding tells of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from policylint.catalog.weakenings import access, common_weaknesses, deciding
from policylint.checks.kit.locations import path
from policylint.compare.carried import carried_otherwise
from policylint.compare.change import ContextChange, EnvironmentChange, SubjectChange
from policylint.compare.hosts import NAMING, hosts_called
from policylint.compare.missed import missed_objects
from policylint.compare.pairing import Sides
from policylint.compare.peers import OTHERS_UNSEEN, UNSEEN, for_unseen_pods
from policylint.compare.protection.anywhere import decided_otherwise, edited_beside
from policylint.compare.protection.extensions import acts_alone, edited_unevaluated, said_by, stands_nowhere
from policylint.compare.protection.spec import unmoved, weakenings
from policylint.compare.requests import RequestChanges
from policylint.compare.sameness import same_value
from policylint.documents import Pointer
from policylint.doors.peculiar import ENTRIES
from policylint.model import GATEWAY_GROUP, Finding, PolicyKind, Resource, ResourceKey
from policylint.model.weakness import Weakness
from policylint.model.words import listing
from policylint.network.kinds import EVALUATED as NETWORK_POLICIES
from policylint.policy.results import Effective
from policylint.simulation import Simulation
from policylint.topology.workloads import WORKLOADS

_NOT_EVALUATED = "and what that does is not evaluated"
_REFUSED = "in a policy that is refused before and after"
_NOWHERE = "in a policy that acts on nothing seen, before and after"
_IN_ORDER = re.compile(
    r"args|command|cipher|chain|curve|filter|middleware|nameserver|order|plugin|precedence|priorit|search|version", re.I
)
"""Names of lists of texts in which the first ones come first."""
_UNORDERED = re.compile(r"(list|destinations|kinds|secrets|namespaces)$", re.I)
"""Names of lists of objects of which the order says nothing."""
_OF_REQUESTS = frozenset({
    "authentication", "domainNames", "fromGroups", "icmps", "listener", "originatingTLS", "rules", "serverNames",
    "terminatingTLS", "toFQDNs", "toGroups", "toServices",
})  # fmt: skip
"""What network policies ask beside who connects to which port of which pods."""
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
    shown = set() if requests is None else set(requests.shown)
    for context in contexts:
        shown |= {each.key for side in (context.before, context.after) if side is not None for each in side.stack}
    environment = sides.after.world.name
    rows: dict[ResourceKey, SubjectChange] = {}
    for each, reason in _untold(sides, shown):
        if each.key not in rows:
            rows[each.key] = SubjectChange(environment, each.key, "unknown", each.name_location, reason=reason)
    return [rows[key] for key in sorted(rows)][:_MOST]


def _untold(sides: Sides, shown: Container[ResourceKey]) -> Iterator[tuple[Resource, str]]:
    """Yield the objects beside those that are shown that say something else, or come or go, each with what of it."""
    for old, new in (*edited_unevaluated(sides), *decided_otherwise(sides), *_of_known_groups(sides)):
        if new.key not in shown and (reason := _reason(sides, old, new)):
            yield new, reason
    changes = ((each, _changes(fields)) for each, fields in (*carried_otherwise(sides), *_of_networks(sides)))
    for each, change in chain(changes, missed_objects(sides), _come_or_gone(sides)):
        if each.key not in shown:
            yield each, f"{change}, {_NOT_EVALUATED}"
    for each, does in for_unseen_pods(sides):
        if each.key not in shown:
            yield each, does


def _come_or_gone(sides: Sides) -> Iterator[tuple[Resource, str]]:
    """Yield the objects that are gone from what they acted on, or are new and act by themselves, and that nobody
    evaluates: with an application its own go, and where another one of the kind comes it takes their place."""
    before, after, pairing = sides
    for new, old in pairing.moved.items():
        if _is_unevaluated(after, new):
            yield after.world.resources[new], f"moves here from namespace {old.namespace}"
    replaced = {(key.group, key.kind, key.namespace) for key in pairing.added}
    passing: frozenset[str] | None = None
    for key in (*pairing.removed, *pairing.added):
        is_gone = key in pairing.removed
        side = before if is_gone else after
        if _is_unevaluated(side, key):
            resource = side.world.resources[key]
            if (key.group, key.kind, key.namespace) in replaced if is_gone else not acts_alone(after, resource):
                continue
            passing = _namespaces(before) ^ _namespaces(after) if passing is None else passing
            if key.namespace not in passing:
                yield resource, "is gone" if is_gone else "is new"


def _namespaces(side: Simulation) -> frozenset[str]:
    """Return the namespaces in which there are pods, or Gateways."""
    kinds = {(GATEWAY_GROUP, "Gateway"), *WORKLOADS}
    return frozenset(key.namespace for key in side.world.resources if key[:2] in kinds)


def _is_unevaluated(side: Simulation, key: ResourceKey) -> bool:
    """Tell whether an object acts on requests, or on what is applied, and nobody evaluates all that it does."""
    if (
        key[:2] in NETWORK_POLICIES
        or key[:2] in ENTRIES
        or key.group in ("", GATEWAY_GROUP)
        or key.group in access().silent
    ):
        return False
    kind = side.catalog.get(*key[:2])
    if kind is not None:
        return key not in side.policies or kind.policy_class == "Other"
    return deciding(*key[:2]) is not None or side.catalog.knows_group(key.group)


def _of_networks(sides: Sides) -> Iterator[tuple[Resource, tuple[str, ...]]]:
    """Yield the network policies that say something else of what connections are not compared by, each with what."""
    judged = {each.policy for each in hosts_called(sides)}
    for kind in NETWORK_POLICIES:
        for old, new in sides.edited(*kind):
            known = NAMING if new.key in judged else ()
            was, now = (
                [each for each in _beside_connections(side.spec) if each[0] not in known] for side in (old, new)
            )
            if was != now:
                yield (
                    new,
                    tuple(dict.fromkeys(name for name, _ in (*was, *now) if _only(name, was) != _only(name, now))),
                )


def _beside_connections(value: Any) -> list[tuple[str, str]]:
    """Return what a network policy says beside peers and ports, in an order of its own."""
    found: list[tuple[str, str]] = []
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            found += ((name, repr(inner)) for name, inner in one.items() if name in _OF_REQUESTS and inner)
        stack += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return sorted(found)


def _only(name: str, listed: Iterable[tuple[str, str]]) -> list[str]:
    return [inner for each, inner in listed if each == name]


def _of_known_groups(sides: Sides) -> Iterator[tuple[Resource, Resource]]:
    """Yield the objects of kinds that the catalog does not have, but of APIs of which it has others."""
    groups = {kind.group for kind in sides.after.catalog.kinds()} - {GATEWAY_GROUP}
    return ((old, new) for old, new in edited_beside(sides) if new.key.group in groups)


def without_told(environments: Iterable[EnvironmentChange], findings: Iterable[Finding]) -> list[EnvironmentChange]:
    """Leave out the rows of objects of which a finding tells; those that nobody is shown unasked tell nothing."""
    told = {key for finding in findings if finding.confidence != "unknown" for key in finding.resources}
    return [
        environment._replace(subjects=tuple(each for each in environment.subjects if not _is_told(each, told)))
        for environment in environments
    ]


def _is_told(subject: SubjectChange, told: Collection[ResourceKey]) -> bool:
    return subject.key in told and subject.reason.endswith((_NOT_EVALUATED, _REFUSED, _NOWHERE, UNSEEN, OTHERS_UNSEEN))


def _reason(sides: Sides, old: Resource, new: Resource) -> str:
    """Return which of its fields differ, in words; "" where all of them say how something runs, as replicas do, or
    what holds where they are left out."""
    above = "spec." if "spec" in new.body else ""
    before, after = said_by(old), said_by(new)
    differing = list(_differing(before, after, (), decides=deciding(*new.key[:2]) is not None))
    meant: list[Weakness] = []
    if differing:
        kind = sides.after.catalog.get(*new.key[:2])
        meant = [*(() if kind is None else kind.weaker), *common_weaknesses(new.key.kind, before, after, kind)]
        same = {pointer for pair in unmoved(meant, before, after) for pointer in pair}
        differing = [each for each in differing if each not in same]
    fields = dict.fromkeys(f"{above}{path(each[:_DEEPEST])}" for each in differing)
    if not fields:
        return ""
    changes = _changes(fields, stricter=_is_stricter(meant, before, after, differing))
    if not stands_nowhere(sides, new):
        return f"{changes}, {_NOT_EVALUATED}"
    return f"{changes} {_REFUSED if sides.after.policies[new.key].invalid_code else _NOWHERE}"


def _is_stricter(
    meant: Iterable[Weakness], before: Mapping[str, Any], after: Mapping[str, Any], differing: Iterable[Pointer]
) -> bool:
    """Tell whether each difference goes the way of a weakening, backwards."""
    ordered = [weak for weak in meant if not weak.anchor]
    places = [pointer for each in weakenings(ordered, after, before) for pointer in (each.before, each.after)]
    return all(any(each[: len(place)] == place for place in places) for each in differing)


def _changes(fields: Collection[str], *, stricter: bool = False) -> str:
    one = len(fields) == 1
    verb = ("gets stricter" if one else "get stricter") if stricter else "changes" if one else "change"
    return f"{listing(list(fields), most=3)} {verb}"


def _differing(old: Any, new: Any, above: Pointer, *, decides: bool = False) -> Iterator[Pointer]:
    """Yield where two values differ, as far down as both have something."""
    if same_value(old, new, _name(above)):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            if above == ("metadata", "labels") and "/" not in name and name != "global":
                continue  # nobody reads it but those who gave it
            idle = name != "labels" and access().is_idle(str(name), new.get(name), decides=decides)
            if old.get(name) != new.get(name) and not idle:
                yield from _differing(old.get(name), new.get(name), (*above, name), decides=decides)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        if _are_names(old) and _are_names(new) and sorted(old) == sorted(new) and not _IN_ORDER.search(_name(above)):
            return
        if _UNORDERED.search(_name(above)) and sorted(map(repr, old)) == sorted(map(repr, new)):
            return
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            if one != other:
                yield from _differing(one, other, (*above, number), decides=decides)
    else:
        yield above


def _are_names(listed: list[Any]) -> bool:
    return all(isinstance(each, str) for each in listed)


def _name(pointer: Pointer) -> str:
    return next((step for step in reversed(pointer) if isinstance(step, str)), "")


__all__ = ["sets_otherwise", "untold_subjects", "without_told"]
