"""Objects on which policies of one cluster disagree: one demands what another one forbids, or another value.

Only what is literal counts. A list that is demanded must be part of the one that is there, so lists never disagree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.clusters.state import Hub
from policylint.clusters.templates import (
    ENFORCE,
    INFORM_ONLY,
    MUST_HAVE,
    MUST_NOT_HAVE,
    MUST_ONLY_HAVE,
    DemandedObject,
    are_alternatives,
    demanded_objects,
)
from policylint.documents import Pointer
from policylint.model import ResourceKey, is_symbolic, text
from policylint.model.resource import dotted
from policylint.namedtuple import NamedTuple

_MOST = 60
"""Demands for one object that are compared with each other; beyond, the others are left out."""
_LONGEST = 40
"""Characters of a value that is shown."""
_PATTERN = frozenset("*?[")


class DemandConflict(NamedTuple):
    """Two demands that no object can meet.

    Args:
        first, second: by the names of their policies.
        clusters: those that both are placed on for certain; none where a shared Placement is all that is known.
        enforced: whether both enforce on one of them, and so undo each other for ever.
        pointer: where the second one differs, as seen from the object.
        words: how they disagree.
    """

    first: DemandedObject
    second: DemandedObject
    clusters: int
    enforced: bool
    pointer: Pointer
    words: str


class _Placed(NamedTuple):
    """The clusters on which a policy is for certain and those on which it enforces, and its placements in words."""

    everywhere: int
    enforced: int
    unseen: frozenset[ResourceKey]
    enforced_unseen: bool


def conflicts(hub: Hub) -> Iterator[DemandConflict]:
    """Yield what policies on one cluster disagree about: of each demand, one that it contradicts on each cluster.

    One that is enforced goes first.
    """
    placed = {policy: place for policy in hub.policies if (place := _placed(hub, policy)) is not None}
    demands: dict[tuple[str, str, str], list[DemandedObject]] = defaultdict(list)
    for policy in placed:
        for demanded in demanded_objects(hub.world.resources[policy]):
            head = (text(demanded.body.get("apiVersion")), text(demanded.body.get("kind")), demanded.name)
            if all(head) and not any(map(is_symbolic, head)) and demanded.compliance:
                demands[head].append(demanded)
    for alike in demands.values():
        for number, second in enumerate(alike[:_MOST]):
            told = 0
            for conflict in sorted(_contradicted(second, alike[:number], placed), key=lambda found: not found.enforced):
                if conflict.clusters & ~told or not told:
                    told |= conflict.clusters
                    yield conflict
                    if not conflict.clusters:
                        break


def _contradicted(
    second: DemandedObject, earlier: Iterable[DemandedObject], placed: Mapping[ResourceKey, _Placed]
) -> Iterator[DemandConflict]:
    """Yield what a demand contradicts among those for an object of the same name."""
    for first in earlier:
        conflict = _conflict(first, second, placed) if _share_a_place(first, second) else None
        if conflict is not None:
            yield conflict


def _conflict(
    first: DemandedObject, second: DemandedObject, placed: Mapping[ResourceKey, _Placed]
) -> DemandConflict | None:
    """Return how two demands for one object in one namespace exclude each other on a cluster, if they do."""
    one, other = placed[first.template.policy.key], placed[second.template.policy.key]
    clusters = one.everywhere & other.everywhere
    found = _disagreement(first, second) if clusters or one.unseen & other.unseen else None
    if found is None or are_alternatives(first, second):
        return None
    enforced = one.enforced & other.enforced & clusters != 0
    if not clusters:
        enforced = one.enforced_unseen and other.enforced_unseen
    enforced = enforced and INFORM_ONLY not in (first.template.action, second.template.action)
    return DemandConflict(first, second, clusters, enforced, *found)


def _placed(hub: Hub, policy: ResourceKey) -> _Placed | None:
    """Return where a policy is placed; None where that is nowhere, or its templates decide on the action."""
    everywhere = enforced = 0
    unseen: set[ResourceKey] = set()
    enforced_unseen = False
    for row in hub.policies[policy]:
        everywhere |= row.clusters
        if row.action == ENFORCE:
            enforced |= row.clusters
        if row.more and row.reason not in ("bindings-unknown", "placement-unknown"):
            unseen.update(key for key in row.via if key.kind in ("Placement", "PlacementRule"))
            enforced_unseen = enforced_unseen or row.action == ENFORCE
    return _Placed(everywhere, enforced, frozenset(unseen), enforced_unseen) if everywhere or unseen else None


def _share_a_place(first: DemandedObject, second: DemandedObject) -> bool:
    """Return whether two demands for an object are for one namespace for certain, or for an object without one."""
    places, others = first.places, second.places
    if places is None or others is None:
        return places is others
    if any(map(is_symbolic, (*places, *others))):
        return False
    return places == others != () or any(name in others for name in places if not _PATTERN.intersection(name))


def _disagreement(first: DemandedObject, second: DemandedObject) -> tuple[Pointer, str] | None:
    """Return where and how two demands for one object exclude each other."""
    kinds = {first.compliance, second.compliance}
    if MUST_NOT_HAVE in kinds:
        if len(kinds) == 1 or not kinds <= {MUST_NOT_HAVE, MUST_HAVE, MUST_ONLY_HAVE}:
            return None
        demand, ban = (first, second) if second.compliance == MUST_NOT_HAVE else (second, first)
        return ((), "the one must have it, the other must not") if _holds(demand.body, ban.body) else None
    if not kinds <= {MUST_HAVE, MUST_ONLY_HAVE}:
        return None
    return next(_differences(first.body, second.body, first.compliance, second.compliance), None)


def _holds(whole: Any, part: Any) -> bool:
    """Return whether an object has all that another one asks for, literally."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(
            name in whole and _holds(whole[name], value) for name, value in part.items()
        )
    if isinstance(part, list):
        return isinstance(whole, list) and all(any(_holds(entry, asked) for entry in whole) for asked in part)
    return bool(whole == part) and not is_symbolic(part)


def _differences(
    one: Mapping[str, Any], other: Mapping[str, Any], of_one: str, of_other: str
) -> Iterator[tuple[Pointer, str]]:
    """Yield where two objects have different scalars, or what only one has and the other may not have."""
    pending: list[tuple[Mapping[str, Any], Mapping[str, Any], Pointer]] = [(one, other, ())]
    while pending:
        left, right, pointer = pending.pop()
        for name in left.keys() & right.keys():
            a, b, place = left[name], right[name], (*pointer, str(name))
            if isinstance(a, Mapping) and isinstance(b, Mapping):
                pending.append((a, b, place))
            elif _is_scalar(a) and _is_scalar(b) and a != b and str(a) != str(b):
                yield place, _differ(dotted(place), a, b, secret=one.get("kind") == "Secret")
        if pointer and pointer[0] not in ("metadata", "status"):
            for mine, theirs, compliance in ((left, right, of_one), (right, left, of_other)):
                added = next((name for name in theirs if name not in mine), None)
                if compliance == MUST_ONLY_HAVE and added is not None:
                    place = (*pointer, str(added))
                    yield (place if added in right else pointer, f"{dotted(place)} is one more than the other allows")


def _differ(place: str, one: Any, other: Any, *, secret: bool) -> str:
    """Return how two values differ; those of Secrets and long ones are not shown."""
    if secret or any(len(text) > _LONGEST or "\n" in text for text in (str(one), str(other))):
        return f"{place} has one value in the one and another in the other"
    return f"{place} is {one} in the one and {other} in the other"


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool)) and not is_symbolic(value)
