"""Address ranges: all CIDRs of all rules cut the addresses into disjoint intervals, each of which is one more peer."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from policylint.spaces.addresses import END, V6, Range, cidr, network_of

PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "fc00::/7")
"""Where the addresses of pods lie, unless somebody gives them public ones."""


def is_everything(text: str) -> bool:
    """Return whether a CIDR is all addresses of its family."""
    return text.endswith("/0")


def takes_pods(text: str, ranges: Sequence[Range] = ()) -> bool:
    """Return whether the addresses of all pods lie in a CIDR: in some ranges; in IPv4 where those are not known."""
    return holds(text, (), ranges) if ranges else is_everything(text) and ":" not in text


class Addresses:
    """The disjoint intervals that CIDRs cut the addresses into, numbered from `first`.

    IPv6 is part of it only where a rule speaks of it.
    """

    __slots__ = ("_first", "_starts", "all", "ranges")

    def __init__(self, cidrs: Iterable[str], first: int) -> None:
        starts, end = {0}, V6
        for found in filter(None, map(cidr, cidrs)):
            starts |= {found.low, found.high}
            if found.low >= V6:
                starts.add(V6)
                end = END[6]
        self._starts = sorted(start for start in starts if start < end)
        self._first = first
        self.ranges = [Range(*pair) for pair in zip(self._starts, [*self._starts[1:], end], strict=True)]
        self.all = self._bits(0, len(self.ranges))

    def at(self, text: str) -> int:
        """Return the interval of one address; nothing for a name, and for IPv6 of which no rule speaks."""
        found = cidr(network_of(text))
        if found is None or found.low >= self.ranges[-1].high:
            return 0
        number = bisect_right(self._starts, found.low) - 1
        return self._bits(number, number + 1)

    def of(self, text: str, excepted: Iterable[str] = ()) -> int:
        """Return the intervals of a CIDR without those of its exceptions."""
        bits = self._of(text)
        for exception in excepted:
            bits &= ~self._of(exception)
        return bits

    def _of(self, text: str) -> int:
        found = cidr(text)
        if found is None:
            return 0
        return self._bits(bisect_right(self._starts, found.low) - 1, bisect_left(self._starts, found.high))

    def _bits(self, low: int, high: int) -> int:
        return ((1 << high - low) - 1) << self._first + low

    def words(self, numbers: Iterable[int]) -> list[str]:
        """Return intervals by their numbers as text, neighbours as one."""
        joined: list[Range] = []
        for number in sorted(numbers):
            interval = self.ranges[number - self._first]
            if joined and joined[-1].high == interval.low != V6:
                joined[-1] = Range(joined[-1].low, interval.high)
            else:
                joined.append(interval)
        return list(map(str, joined))


def may_hold(text: str, excepted: Iterable[str] = (), ranges: Sequence[Range] = ()) -> bool:
    """Return whether an address of some ranges lies in a CIDR outside its exceptions.

    Args:
        ranges: where the addresses in question lie; by default the private ones, which those of pods are.
    """
    found = cidr(text)
    if found is None:
        return False
    cut = sorted(filter(None, map(cidr, excepted)))
    for private in ranges or filter(None, map(cidr, PRIVATE)):
        at = max(found.low, private.low)
        end = min(found.high, private.high)
        for exception in cut:
            if exception.low <= at < exception.high:
                at = exception.high
        if at < end:
            return True
    return False


def holds(text: str, excepted: Iterable[str], ranges: Sequence[Range]) -> bool:
    """Return whether all addresses of some ranges lie in a CIDR, outside its exceptions."""
    found = cidr(text)
    cut = list(filter(None, map(cidr, excepted)))
    return found is not None and all(
        found.low <= inner.low
        and inner.high <= found.high
        and not any(exception.low < inner.high and inner.low < exception.high for exception in cut)
        for inner in ranges
    )
