"""Patching one spec over another, with the leaf that stands at every place: RFC 7386, and what comes of other rules.

Specs are never changed in place: the result shares its values with both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.units import Leaf, places_of

Pairs = list[tuple[int | None, int | None]]
"""For each item of a joined list its index in the base and in the patch, None where it is not from there."""
Pairing = Callable[[list[Any], list[Any]], Pairs | None]
"""How the list of a base and that of a patch become one; None where the patch's replaces it."""
Move = tuple[Pointer, Mapping[str | int, int]]
"""The place of a list and, by index in it, the index of the same item in the joined list."""


class Rules(NamedTuple):
    """How a patch treats what both sides set; as it stands, RFC 7386.

    Args:
        lists: the pairing of the lists at a place, None where the patch's list replaces the other one.
        whole_items: an item of a joined list is one leaf, whatever its shape.
        null_removes: a null in the patch takes the member away; otherwise it is a member that is not set.
        agree: whoever says the same as the patch loses nothing.
    """

    lists: Callable[[Pointer], Pairing | None] = lambda _: None
    whole_items: bool = False
    null_removes: bool = True
    agree: bool = False


RFC_7386 = Rules()
"""JSON merge patch."""


def base_first(base: list[Any], patch: list[Any]) -> Pairs:
    """Append the items of the patch."""
    return [*((index, None) for index in range(len(base))), *((None, index) for index in range(len(patch)))]


def patch_first(base: list[Any], patch: list[Any]) -> Pairs:
    """Append the items of the base."""
    return [*((None, index) for index in range(len(patch))), *((index, None) for index in range(len(base)))]


def without_repeats(base: list[Any], patch: list[Any]) -> Pairs:
    """Append the items of the patch that the base does not have."""
    return [pair for pair in base_first(base, patch) if pair[1] is None or patch[pair[1]] not in base]


def by_key(key: str) -> Pairing:
    """Pair the items that agree in a field, as a strategic merge does; of several in the patch the last one counts."""

    def pair(base: list[Any], patch: list[Any]) -> Pairs:
        unpaired = {item[key]: index for index, item in enumerate(patch) if _is_named(item, key)}
        pairs: Pairs = [
            (index, unpaired.pop(item[key], None) if _is_named(item, key) else None) for index, item in enumerate(base)
        ]
        rest = ((None, index) for index, item in enumerate(patch) if not _is_named(item, key) or item[key] in unpaired)
        return [*pairs, *rest]

    return pair


def _is_named(item: Any, key: str) -> bool:
    return isinstance(item, dict) and isinstance(item.get(key), (str, int))


JOIN = Rules(lambda _: patch_first, whole_items=True, null_removes=False, agree=True)
"""How policies of one level fill a field together: what stands is the patch, so that it stays."""


class Patch:
    """One patch onto one base, member by member.

    Attributes:
        standing: by place in the result the leaf that stands there.
        beaten: the leaves of the base that have no effect, each with its place and with whom it lost to.
        emptied: by place who removed what the base had there, or could have had.
        base_moves, over_moves: how the items of lists that were joined have moved, those of an outer list first.
    """

    def __init__(self, base: Mapping[Pointer, Leaf], over: Mapping[Pointer, Leaf], rules: Rules) -> None:
        self.base = dict(base)
        self.over = dict(over)
        self.rules = rules
        self.standing: dict[Pointer, Leaf] = {}
        self.beaten: list[tuple[Leaf, Pointer, set[ResourceKey]]] = []
        self.emptied: dict[Pointer, ResourceKey] = {}
        self.base_moves: list[Move] = []
        self.over_moves: list[Move] = []

    def members(self, base: Mapping[str, Any], over: Mapping[str, Any], here: Pointer) -> dict[str, Any]:
        """Return the members of both sides; those of the base keep their order."""
        result: dict[str, Any] = {}
        for name in {**base, **over}:
            place = (*here, name)
            removed = self.rules.null_removes and name in over and over[name] is None
            if removed and name in base:
                self._beat(base[name], None, place)
            if removed:
                if place in self.over:
                    self.emptied[place] = self.over[place].owner
            elif name not in base:
                result[name] = self._put(over[name], place)
            elif over.get(name) is None:
                result[name] = self._keep(base[name], self.base, place)
            else:
                result[name] = self._both(base[name], over[name], place)
        return result

    def _both(self, value: Any, over: Any, here: Pointer) -> Any:
        """Return what comes of a value that both sides set."""
        if isinstance(value, dict) and isinstance(over, dict):
            return self.members(value, over, here)
        if isinstance(value, list) and isinstance(over, list):
            pairing = self.rules.lists(here)
            pairs = None if pairing is None else pairing(value, over)
            if pairs is not None:
                return self._items(value, over, pairs, here)
        if not (self.rules.agree and value == over):
            self._beat(value, over, here)
        return self._put(over, here)

    def _items(self, base: list[Any], over: list[Any], pairs: Pairs, here: Pointer) -> list[Any]:
        """Return the joined list; from now on every item has owners of its own."""
        self.base_moves.append((here, {of_base: new for new, (of_base, _) in enumerate(pairs) if of_base is not None}))
        self.over_moves.append((here, {of_over: new for new, (_, of_over) in enumerate(pairs) if of_over is not None}))
        owners = {self.over[place].owner for place in _owned(over, self.over, here)}
        left_out = self._renumber(self.base, base, self.base_moves[-1])
        self.beaten += ((leaf, place, owners) for place, leaf in left_out.items())
        self._renumber(self.over, over, self.over_moves[-1])
        result: list[Any] = []
        for of_base, of_over in pairs:
            place = (*here, len(result))
            if of_over is None:
                result.append(self._keep(base[of_base or 0], self.base, place))
            elif of_base is None:
                result.append(self._keep(over[of_over], self.over, place))
            else:
                result.append(self._both(base[of_base], over[of_over], place))
        return result

    def _renumber(self, side: dict[Pointer, Leaf], items: list[Any], move: Move) -> dict[Pointer, Leaf]:
        """Move the leaves of one side's items to where the items come to stand in the joined list.

        Returns:
            By place the leaves of items that are not in it.
        """
        here, indices = move
        whole = side.pop(here, None)
        if whole is not None:  # not joined before: the list was one leaf
            for index, item in enumerate(items):
                for inside in [()] if self.rules.whole_items else places_of(item):
                    side[*here, index, *inside] = Leaf(whole.source, (*whole.pointer, index, *inside))
        depth = len(here)
        leaves = {place: side.pop(place) for place in list(side) if place[:depth] == here}
        side.update((moved(place, move), leaf) for place, leaf in leaves.items() if place[depth] in indices)
        return {place: leaf for place, leaf in leaves.items() if place[depth] not in indices}

    def _put(self, over: Any, here: Pointer) -> Any:
        """Let a value of the patch stand at a place, and return it; nulls in it have nothing to remove."""
        return self._keep(_without_nulls(over) if self.rules.null_removes else over, self.over, here)

    def _keep(self, value: Any, side: Mapping[Pointer, Leaf], here: Pointer) -> Any:
        """Let a value of one side stand at a place, and return it."""
        self.standing.update((place, side[place]) for place in _owned(value, side, here))
        return value

    def _beat(self, value: Any, over: Any, here: Pointer) -> None:
        """Record that a value of the base is lost to what the patch has there; where that is nobody's, to all of it."""
        winners = {self.over[place].owner for place in _owned(over, self.over, here)}
        winners = winners or {leaf.owner for leaf in self.over.values()}
        self.beaten += ((self.base[place], place, winners) for place in _owned(value, self.base, here))


def moved(place: Pointer, move: Move) -> Pointer:
    """Return where a place is after the items of a list have moved."""
    here, indices = move
    depth = len(here)
    if len(place) <= depth or place[:depth] != here or place[depth] not in indices:
        return place
    return (*here, indices[place[depth]], *place[depth + 1 :])


def _owned(value: Any, side: Mapping[Pointer, Leaf], here: Pointer) -> Iterator[Pointer]:
    """Yield the places at which a value has owners; an empty mapping that nulls have left has none."""
    if here in side:
        yield here
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _owned(inner, side, (*here, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _owned(item, side, (*here, index))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return value
