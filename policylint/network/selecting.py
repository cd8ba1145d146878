"""Label selectors over many things at once, as bit sets with three values.

`sure` holds what a selector certainly selects, `maybe` what it possibly selects; the first is part of the second. They
differ for things whose labels are not all known (docs/network.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.model import is_symbolic, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple

_SPARSE = 64
"""Up to so many bits are taken out one by one; for more it is quicker to write them all down."""


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
    """

    __slots__ = ("_keys", "_open", "_pairs", "_vague", "all")

    def __init__(self, things: Iterable[tuple[Mapping[str, Any], bool]]) -> None:
        keys: dict[str, list[int]] = {}
        pairs: dict[tuple[str, str], list[int]] = {}
        vague: dict[str, list[int]] = {}
        unknown: list[int] = []
        number = -1
        for number, (labels, is_open) in enumerate(things):
            if is_open:
                unknown.append(number)
            for key, value in labels.items():
                if isinstance(value, str):
                    keys.setdefault(key, []).append(number)
                    holder: dict[Any, list[int]] = vague if is_symbolic(value) else pairs
                    holder.setdefault(key if is_symbolic(value) else (key, value), []).append(number)
        self.all = (1 << number + 1) - 1
        self._open = bits_of(unknown)
        self._keys = {key: bits_of(numbers) for key, numbers in keys.items()}
        self._pairs = {pair: bits_of(numbers) for pair, numbers in pairs.items()}
        self._vague = {key: bits_of(numbers) for key, numbers in vague.items()}

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
        known = self._keys.get(key, 0)
        return Chosen(known, known | self._open)

    def _with(self, key: str, values: Iterable[Any]) -> Chosen:
        sure = maybe = 0
        for value in values:
            sure |= self._pairs.get((key, value), 0)
            if is_symbolic(value):  # any value may be meant
                maybe |= self._keys.get(key, 0)
        maybe |= sure | self._vague.get(key, 0) | (self._open & ~self._keys.get(key, 0))
        return Chosen(sure, maybe)

    def _not(self, selected: Chosen) -> Chosen:
        return Chosen(self.all & ~selected.maybe, self.all & ~selected.sure)


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
    if bits.bit_count() <= _SPARSE:
        while bits:
            low = bits & -bits
            yield low.bit_length() - 1
            bits ^= low
        return
    for number, digit in enumerate(reversed(f"{bits:b}")):
        if digit == "1":
            yield number
