"""Label selectors over many things at once, as bit sets with three values.

`sure` holds what a selector certainly selects, `maybe` what it possibly selects; the first is part of the second. They
differ for things whose labels are not all known (docs/network.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from operator import or_
from typing import Any

from policylint.model import is_symbolic, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple

_SPARSE = 64
"""Up to so many bits are taken out one by one; for more it is quicker to write them all down."""
_DENSE = 4
"""Where one bit of so many is set, it is quicker to look at all of them than to look for the next one."""
_FEW = 16
"""Up to so many keys are looked for one by one; for more it is quicker to note the holders of all."""


class Chosen(NamedTuple):
    """What is selected for certain, and what may be."""

    sure: int = 0
    maybe: int = 0

    def __and__(self, other: Chosen) -> Chosen:
        return Chosen(self.sure & other.sure, self.maybe & other.maybe)

    def __or__(self, other: Chosen) -> Chosen:
        return Chosen(self.sure | other.sure, self.maybe | other.maybe)

    def within(self, bits: int) -> Chosen:
        """Return the same without what is outside a set."""
        return Chosen(self.sure & bits, self.maybe & bits)


class Labels:
    """Things by their labels, numbered in the order given.

    Args:
        things: the labels of each, and whether it may carry others that nobody saw.
        given: which labels others put on all of them, so that nothing that lacks one here lacks it for certain.
    """

    __slots__ = ("_bits", "_given", "_labels", "_numbers", "_open", "_pairs", "all")

    def __init__(
        self, things: Iterable[tuple[Mapping[str, Any], bool]], given: Callable[[str], bool] | None = None
    ) -> None:
        listed, self._given = list(things), given
        self._labels = [labels for labels, _ in listed]
        self.all = (1 << len(listed)) - 1
        self._open = bits_of([number for number, (_, is_open) in enumerate(listed) if is_open])
        self._numbers: dict[str, dict[str, list[int]]] = {}
        self._pairs: dict[tuple[str, str], int] = {}
        self._bits: dict[str, tuple[int, int]] = {}

    def select(self, selector: Mapping[str, Any]) -> Chosen:
        """Return what a LabelSelector selects; an empty one selects everything."""
        selected = Chosen(self.all, self.all)
        for key, value in mapping(selector.get("matchLabels")).items():
            selected &= self._with(key, (value,))
        for expression in map(mapping, sequence(selector.get("matchExpressions"))):
            key, values = text(expression.get("key")), texts(expression.get("values"))
            match expression.get("operator"):
                case "In":
                    selected &= self._with(key, values)
                case "NotIn":
                    selected &= self._not(self._with(key, values))
                case "Exists":
                    selected &= self._having(key)
                case _:
                    selected &= self._not(self._having(key))
        return selected

    def _having(self, key: str) -> Chosen:
        if is_symbolic(key):
            return Chosen(0, self.all)
        known, _ = self._of_key(key)
        return Chosen(known, known | self._may_have(key))

    def _may_have(self, key: str) -> int:
        return self.all if self._given is not None and self._given(key) else self._open

    def _with(self, key: str, values: Iterable[Any]) -> Chosen:
        if is_symbolic(key):  # any label may be meant
            return Chosen(0, self.all)
        known, vague = self._of_key(key)
        by_value = self._by_value(key)
        sure = 0
        maybe = vague | (self._may_have(key) & ~known)
        for value in values:
            if is_symbolic(value):  # any value may be meant
                maybe |= known
            elif isinstance(value, str) and value in by_value:
                sure |= self._of_pair(key, value)
        return Chosen(sure, sure | maybe)

    def _of_pair(self, key: str, value: str) -> int:
        """Return what carries a label with one value."""
        bits = self._pairs.get((key, value))
        if bits is None:
            bits = self._pairs[key, value] = bits_of(self._numbers[key][value])
        return bits

    def _by_value(self, key: str) -> dict[str, list[int]]:
        """Return who carries a label, by its value. Selectors ask for a few of all keys: for many, all are noted."""
        by_value = self._numbers.get(key)
        if by_value is not None:
            return by_value
        if len(self._numbers) < _FEW:
            noted = self._numbers[key] = {}
            for number, labels in enumerate(self._labels):
                if key in labels:
                    _note(noted, labels[key], number)
        elif self._labels:
            self._numbers = {}
            for number, labels in enumerate(self._labels):
                for name, value in labels.items():
                    _note(self._numbers.setdefault(name, {}), value, number)
            self._labels = []
        return self._numbers.get(key, {})

    def _of_key(self, key: str) -> tuple[int, int]:
        """Return what carries a label, and what of that with a value that a variable stands for."""
        found = self._bits.get(key)
        if found is None:
            by_value = self._by_value(key)
            known = bits_of(number for holders in by_value.values() for number in holders)
            vague = bits_of(number for value, holders in by_value.items() if is_symbolic(value) for number in holders)
            found = self._bits[key] = (known, vague)
        return found

    def _not(self, selected: Chosen) -> Chosen:
        return Chosen(self.all & ~selected.maybe, self.all & ~selected.sure)


def _note(by_value: dict[str, list[int]], value: object, number: int) -> None:
    if isinstance(value, str):
        holders = by_value.get(value)
        if holders is None:
            by_value[value] = [number]
        else:
            holders.append(number)


def union(sets: Iterable[int]) -> int:
    """Return what is in any of some sets."""
    return reduce(or_, sets, 0)


def bits_of(numbers: Iterable[int]) -> int:
    """Return the set of some numbers."""
    listed = list(numbers)
    if len(listed) < _SPARSE:
        bits = 0
        for number in listed:
            bits |= 1 << number
        return bits
    row = bytearray((max(listed) >> 3) + 1)
    for number in listed:
        row[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(row, "little")


def numbers_of(bits: int) -> Iterator[int]:
    """Yield the numbers in a set, ascending."""
    if not bits:
        return
    base = (bits & -bits).bit_length() - 1
    bits >>= base  # what is in a set often stands together, far from zero
    count = bits.bit_count()
    if count <= _SPARSE and bits.bit_length() > _SPARSE * count:
        while bits:
            low = bits & -bits
            yield base + low.bit_length() - 1
            bits ^= low
        return
    digits = f"{bits:b}"[::-1]
    if len(digits) < _DENSE * count:
        for number, digit in enumerate(digits, base):
            if digit == "1":
                yield number
        return
    at = 0
    while at >= 0:
        yield base + at
        at = digits.find("1", at + 1)
