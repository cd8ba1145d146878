"""The units of merging: a leaf of the spec, or a named unit such as one rate limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Attachment, Declared


class Unit(NamedTuple):
    """One setting that survives or is lost as a whole.

    Args:
        id: what identifies it across policies: the pointer of a leaf, or the path of a named unit, where a list item is
            known by its `id` or `name` instead of its index.
        pointer: where it stands in this very spec.
        value: what it says.
    """

    id: Pointer
    pointer: Pointer
    value: Any


_POINTER = itemgetter(1)


class Layer(NamedTuple):
    """The declarations of one policy (or object), wherever it is attached."""

    policy: Resource
    declared: tuple[Declared, ...]

    @property
    def key(self) -> ResourceKey:
        """Return the key of the policy."""
        return self.policy.key


Source = Attachment | Layer
"""The bringer of settings, which are written below the prefix of its first declared spec."""


class Leaf(NamedTuple):
    """One setting of one source.

    Args:
        source: who sets it.
        pointer: where, below the source's spec proper.
    """

    source: Source
    pointer: Pointer

    @property
    def owner(self) -> ResourceKey:
        """Return the key of the policy that sets it."""
        return self.source.key

    @property
    def written(self) -> Pointer:
        """Return the pointer below the whole object."""
        declared = self.source.declared
        return (*declared[0].prefix, *self.pointer) if declared else self.pointer


def leaves(spec: Mapping[str, Any], maps: frozenset[Pointer] = frozenset()) -> list[Unit]:
    """Return every leaf, sorted: scalars, nulls, lists and empty mappings.

    Mappings at the pointers in `maps` are leaves too (2023 edition).
    """
    units: list[Unit] = []
    pending: list[tuple[Pointer, Any]] = [((name,), value) for name, value in spec.items()]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, dict) and value and pointer not in maps:
            pending.extend(((*pointer, name), inner) for name, inner in value.items())
        else:
            units.append(Unit(pointer, pointer, value))
    units.sort(key=_POINTER)
    return units


def named_units(spec: Mapping[str, Any], patterns: tuple[str, ...]) -> list[Unit]:
    """Return the named units of a spec, by patterns such as `limits.*`, `when` or `rules.authentication.*`.

    `*` stands for one entry of a mapping, by its key, or of a list, by the item's `id` or `name`. What no pattern
    covers is a unit per top-level field (docs/design/semantics.md §5).
    """
    units: list[Unit] = []
    covered: set[str] = set()
    for pattern in patterns:
        covered.add(pattern.partition(".")[0])
        units.extend(at_path(spec, pattern))
    taken = {unit.id for unit in units}
    for name in sorted(spec):
        if name not in covered and (name,) not in taken:
            units.append(Unit((name,), (name,), spec[name]))
    return units


def at_path(spec: Mapping[str, Any], path: str) -> Iterator[Unit]:
    """Yield what stands at a path of a spec, `*` being every entry of a mapping or list."""
    return _select(spec, tuple(path.split(".")), (), ())


def _select(value: Any, steps: tuple[str, ...], identity: Pointer, pointer: Pointer) -> Iterator[Unit]:
    if not steps:
        yield Unit(identity, pointer, value)
        return
    step, rest = steps[0], steps[1:]
    if step != "*":
        if isinstance(value, dict) and value.get(step) is not None:
            yield from _select(value[step], rest, (*identity, step), (*pointer, step))
        return
    if isinstance(value, dict):
        for name in sorted(value):
            yield from _select(value[name], rest, (*identity, name), (*pointer, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _select(item, rest, (*identity, _item_id(item, index)), (*pointer, index))


def _item_id(item: Any, index: int) -> str:
    if isinstance(item, dict):
        for field in ("id", "name"):
            if isinstance(item.get(field), str):
                return f"{field}={item[field]}"
    return f"#{index}"


def conflicts(one: Pointer, other: Pointer) -> bool:
    """Return whether two leaves cannot both stand: the same place, or one inside the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def place(spec: dict[str, Any], pointer: Pointer, value: Any) -> None:
    """Put a value at a pointer of mappings, making the mappings on the way."""
    here = spec
    for step in pointer[:-1]:
        here = here.setdefault(str(step), {})
    here[str(pointer[-1])] = value


def places_of(value: Any, place: Pointer = ()) -> list[Pointer]:
    """Return the places of the leaves of a value that stands at a place."""
    if isinstance(value, dict) and value:
        return [(*place, *unit.id) for unit in leaves(value)]
    return [place]
