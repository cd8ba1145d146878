"""GWP304 for network policies that are tried in order: a denial that comes after an allowance.

Source: docs.tigera.io, «Network policy» (`order`, lowest first, none last; the rules of a policy one after the other);
antrea.io, «Antrea Network Policy CRDs» (`priority`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from policylint.checks.kit.locations import path
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, WeakenedWay
from policylint.compare.protection.extensions import nearest
from policylint.model import Resource, mapping, sequence, text
from policylint.network.kinds import ORDERED
from policylint.network.rules import DIRECTIONS
from policylint.topology import whole

_ALLOWING = ("Allow", "Pass")
_DENYING = ("Deny", "Drop", "Reject")
_RANKS = ("order", "priority")


def ranks_lowered(sides: Sides) -> Iterator[WeakenedWay]:
    """Yield causes with the policies whose denials come later, or whose allowances come earlier."""
    for kind in ORDERED:
        for old, new in sides.edited(*kind):
            for direction in DIRECTIONS:
                if _comes_after(sequence(old.spec.get(direction)), sequence(new.spec.get(direction))):
                    yield _way(old, new, direction, "now has a denial behind an allowance")
            field = next((name for name in _RANKS if old.spec.get(name) != new.spec.get(name)), "")
            other = _overtaken(sides, old, new, field) if field else None
            if other is not None:
                was, now = (each.spec.get(field, "none") for each in (old, new))
                yield _way(old, new, field, f"goes from {was} to {now}, to the other side of {other.key}")


def _way(old: Resource, new: Resource, field: str, change: str) -> WeakenedWay:
    place = ("spec", field)
    cause = Cause(
        path(place),
        change,
        "what a denial rejected may be allowed before it",
        (new.key,),
        location=nearest(new, place),
        before=nearest(old, place),
        fix="keep denials before what allows more",
    )
    return cause._replace(own=True), "", (whole(new.key),)


def _comes_after(before: list[Any], after: list[Any]) -> bool:
    """Tell whether some rule that denies comes after one that allows, and came before it."""
    old, new = ([json.dumps(rule, sort_keys=True, default=str) for rule in rules] for rules in (before, after))
    denied = [number for number, rule in enumerate(after) if _action(rule) in _DENYING and new[number] in old]
    return any(
        _action(after[first]) in _ALLOWING and new[first] in old and old.index(new[first]) > old.index(new[number])
        for number in denied
        for first in range(number)
    )


def _overtaken(sides: Sides, old: Resource, new: Resource, field: str) -> Resource | None:
    """Return a policy of the same tier that a denial comes after now, or an allowance before."""
    for kind in ORDERED:
        for other in sides.after.world.of_kind(*kind) if kind[0] == new.key.group else ():
            former = sides.before.world.get(sides.pairing.was(other.key))
            if other.key == new.key or former is None or _tier(other) != _tier(new):
                continue
            place, was, now = _rank(former, field), _rank(old, field), _rank(new, field)
            if (was <= place < now and _does(new, _DENYING) and _does(other, _ALLOWING)) or (
                now < place <= was and _does(new, _ALLOWING) and _does(other, _DENYING)
            ):
                return other
    return None


def _rank(policy: Resource, field: str) -> float:
    rank = policy.spec.get(field)
    return rank if isinstance(rank, (int, float)) else inf


def _tier(policy: Resource) -> str:
    return text(policy.spec.get("tier")) or "default"


def _does(policy: Resource, actions: tuple[str, ...]) -> bool:
    return any(_action(rule) in actions for field in DIRECTIONS for rule in sequence(policy.spec.get(field)))


def _action(rule: Any) -> str:
    said: Mapping[str, Any] = mapping(rule)
    return text(said.get("action"))


__all__ = ["ranks_lowered"]
