"""Policies for clusters that a change places elsewhere, or with another action: policy, clusters, before and after.

Where no cluster is in sight, the words of the placements are compared: what they ask for is known, and who that is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from policylint.clusters.kinds import CLUSTER, CLUSTER_GROUP, POLICY_GROUP, has_policies
from policylint.model import Location, ResourceKey
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.clusters.state import Hub, PolicyPlacement
    from policylint.compare.pairing import Pairing, Sides

Kind = Literal["placed", "enforced", "relaxed", "changed", "gone"]
NOWHERE, _PLACED = "not placed", "placed"
_GROUPS = frozenset({POLICY_GROUP, CLUSTER_GROUP, "apps.open-cluster-management.io"})
_ORDER = ("enforced", "placed", "gone", "relaxed", "changed")


class PlacementChange(NamedTuple):
    """A policy for which clusters are in another state than before.

    Args:
        policy: as it is called after, or was where it is gone.
        clusters: their names; none where they are known in words only, which `before` and `after` then hold.
        before, after: `not placed`, `enforce`, `inform`, `per-template`, also with `perhaps`.
        by: what was changed on the way: the policy, bindings, sets, placements, clusters.
        location: where the policy is written, on the side after if it is there.
    """

    environment: str
    policy: ResourceKey
    clusters: tuple[str, ...]
    before: str
    after: str
    change: Kind
    by: tuple[ResourceKey, ...]
    location: Location


def placement_changes(sides: Sides) -> tuple[PlacementChange, ...]:
    """Return where policies for clusters are placed now and were not, and the reverse; enforcement first."""
    before, after, pairing = sides
    if not any(map(has_policies, (before.world, after.world))):
        return ()
    changed = frozenset(_changed(sides))
    if not changed:
        return ()
    changes = _Comparison(before.hub, after.hub, pairing, changed, after.world.name).changes()
    return tuple(sorted(changes, key=lambda change: (_ORDER.index(change.change), change.policy, change.clusters)))


def _changed(sides: Sides) -> Iterator[ResourceKey]:
    """Yield the objects of the hub that are not the same on both sides."""
    old, new = sides.before.world.resources, sides.after.world.resources
    for key in old.keys() | new.keys():
        if key.group in _GROUPS:
            was, now = old.get(key), new.get(key)
            if was is None or now is None or (was.body is not now.body and was.body != now.body):
                yield key


class _Comparison:
    """Two hubs, with the same numbers for the clusters of both."""

    def __init__(
        self, before: Hub, after: Hub, pairing: Pairing, changed: frozenset[ResourceKey], environment: str
    ) -> None:
        self._hubs = before, after
        self._pairing = pairing
        self._changed = changed
        self._environment = environment
        self._names = sorted({*before.fleet.names, *after.fleet.names})
        numbers = {name: number for number, name in enumerate(self._names)}
        self._numbers = [[numbers[name] for name in hub.fleet.names] for hub in self._hubs]
        self._known: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._all = (1 << len(self._names)) - 1

    def changes(self) -> Iterator[PlacementChange]:
        former, latter = self._hubs[0].policies, self._hubs[1].policies
        pairs = {self._pairing.key(key): (rows, latter.get(self._pairing.key(key), ())) for key, rows in former.items()}
        pairs |= {key: ((), rows) for key, rows in latter.items() if key not in pairs}
        for key, (was, now) in pairs.items():
            if was == now and self._hubs[0].fleet.names == self._hubs[1].fleet.names:
                continue
            by = tuple(sorted({self._pairing.was(key), key, *_via(was), *_via(now)} & self._changed))
            old, new = self._parts(was, 0), self._parts(now, 1)
            for before, bits in old.items():
                for after, others in new.items():
                    if before != after and bits & others:
                        yield self._change(key, bits & others, before, after, by)
            elsewhere = _elsewhere(was), _elsewhere(now)
            if elsewhere[0] != elsewhere[1]:
                yield self._change(key, 0, *elsewhere, by)

    def _change(
        self, policy: ResourceKey, clusters: int, before: str, after: str, by: tuple[ResourceKey, ...]
    ) -> PlacementChange:
        from policylint.network.selecting import numbers_of

        names = tuple(self._names[number] for number in numbers_of(clusters))
        moved = (ResourceKey(*CLUSTER, "", name) for name in names)
        by = by or tuple(sorted(key for key in moved if key in self._changed))
        resource = self._hubs[1].world.get(policy) or self._hubs[0].world.resources[self._pairing.was(policy)]
        change = _kind(before, after)
        return PlacementChange(self._environment, policy, names, before, after, change, by, resource.name_location)

    def _parts(self, rows: tuple[PolicyPlacement, ...], side: int) -> dict[str, int]:
        """Return the clusters of both sides by the state that a policy has on them on one; it has two rows at most."""
        actions = [row.action or _PLACED for row in rows]
        sure = [self._renumbered(row.clusters, side) for row in rows]
        maybe = [self._renumbered(row.possible, side) for row in rows]
        either = maybe[0] & maybe[1] if len(rows) == 2 else 0
        parts = dict(zip(actions, sure, strict=True))
        parts |= {f"perhaps {action}": bits & ~either for action, bits in zip(actions, maybe, strict=True)}
        if either:
            parts[f"perhaps {' or '.join(actions)}"] = either
        left = self._all
        for bits in (*sure, *maybe):
            left &= ~bits
        return {state: bits for state, bits in {**parts, NOWHERE: left}.items() if bits}

    def _renumbered(self, bits: int, side: int) -> int:
        """Return a set of clusters of one side in the numbers of both."""
        from policylint.network.selecting import bits_of, numbers_of

        if len(self._numbers[side]) == len(self._names):
            return bits
        known = self._known[side]
        if bits not in known:
            known[bits] = bits_of(self._numbers[side][number] for number in numbers_of(bits))
        return known[bits]


def _elsewhere(rows: tuple[PolicyPlacement, ...]) -> str:
    """Return the state of clusters that nothing names, in words: `enforce on env=prod in the sets bound to a`."""
    unknown = "clusters that are not known"
    known = (f"{row.action or _PLACED} on {row.words or f'{unknown} ({row.reason})'}" for row in rows if row.more)
    return " or ".join(known) or NOWHERE


def _via(rows: tuple[PolicyPlacement, ...]) -> Iterator[ResourceKey]:
    for row in rows:
        yield from row.via


def _kind(before: str, after: str) -> Kind:
    if after == NOWHERE:
        return "gone"
    enforces = [state.startswith(("enforce", "perhaps enforce")) for state in (before, after)]
    if enforces[1] and not enforces[0]:
        return "enforced"
    if before == NOWHERE:
        return "placed"
    return "relaxed" if enforces[0] and not enforces[1] else "changed"
