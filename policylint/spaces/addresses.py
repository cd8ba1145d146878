"""Sets of addresses as CIDRs: intervals of numbers, IPv6 after IPv4, joined and printed without comparing pairs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from policylint.namedtuple import NamedTuple

V6 = 1 << 32
"""IPv6 addresses are numbered after the IPv4 ones."""
END = {4: V6, 6: V6 + (1 << 128)}


class Range(NamedTuple):
    """An interval of addresses, as numbers; `high` is the first one after it."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{address_of(self.low)}-{address_of(self.high - 1)}"


class AddressSet(NamedTuple):
    """The addresses of some CIDRs.

    Args:
        ranges: disjoint, none next to another one, by their beginning.
        doubtful: the first text that is neither an address nor a CIDR; "" for none.
    """

    ranges: tuple[Range, ...]
    doubtful: str = ""

    @property
    def text(self) -> str:
        """The fewest CIDRs that hold the same, with commas: equal for equal sets."""
        return ",".join(cidrs(self.ranges))

    def holds(self, address: int) -> bool:
        number = bisect_right(self.ranges, address, key=lambda interval: interval.low) - 1
        return number >= 0 and address < self.ranges[number].high


EVERYBODY = ("0.0.0.0/0", "::/0")
"""Networks that hold every address of a family, by which nobody means the other one."""
EVERYWHERE = AddressSet((Range(0, END[6]),))
OF_NOBODY = AddressSet((Range(0, 1), Range(127 << 24, 128 << 24), Range(240 << 24, V6), Range(V6, V6 + 2)))
"""What neither clients nor nodes have: 0.0.0.0, 127.0.0.0/8, 240.0.0.0/4, :: and ::1. A list of it lets nobody in."""


def means_everybody(networks: Iterable[str]) -> bool:
    """Return whether one of some networks stands for every client, whatever the family of its address."""
    return any(network in EVERYBODY for network in networks)


@lru_cache(maxsize=4096)
def cidr(text: str) -> Range | None:
    """Return the addresses of a CIDR, None where it is none. Bits of the host are ignored, as Go's ParseCIDR does."""
    from ipaddress import ip_network

    address, slash, bits = text.partition("/")
    if not slash or not bits.isascii() or not bits.isdigit() or "%" in address or (len(bits) > 1 and bits[0] == "0"):
        return None
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        return None
    offset = 0 if network.version == 4 else V6
    return Range(offset + int(network.network_address), offset + int(network.broadcast_address) + 1)


def network_of(text: str) -> str:
    """Return the CIDR that a text is; that of an address alone, where it is one."""
    return text if "/" in text else f"{text}/{128 if ':' in text else 32}"


def number_of(text: str) -> int | None:
    """Return the number of an address, None for what is none."""
    from ipaddress import ip_address

    try:
        address = ip_address(text)
    except ValueError:
        return None
    return int(address) + (0 if address.version == 4 else V6)


def address_of(number: int) -> str:
    """Return the address of a number."""
    from ipaddress import IPv4Address, IPv6Address

    return str(IPv4Address(number) if number < V6 else IPv6Address(number - V6))


@lru_cache(maxsize=64)
def address_set(texts: tuple[str, ...]) -> AddressSet:
    """Return the addresses of some CIDRs; an address stands for itself."""
    found, doubtful = [], ""
    for text in texts:
        interval = cidr(network_of(text))
        if interval is not None:
            found.append(interval)
        doubtful = doubtful or ("" if interval is not None else text or '""')
    return AddressSet(tuple(joined(found)), doubtful)


def joined(ranges: Iterable[Range]) -> list[Range]:
    """Return the same addresses as the fewest disjoint intervals in order; IPv4 and IPv6 stay apart."""
    found: list[Range] = []
    for interval in sorted(ranges):
        if found and interval.low <= found[-1].high and not found[-1].low < V6 <= interval.low:
            found[-1] = Range(found[-1].low, max(found[-1].high, interval.high))
        else:
            found.append(interval)
    return found


def without(ranges: Iterable[Range], excepted: Sequence[Range]) -> list[Range]:
    """Return some disjoint intervals without others, both in order."""
    left: list[Range] = []
    number = 0
    for low, high in ranges:
        at = low
        while number and excepted[number - 1].high > low:
            number -= 1
        while number < len(excepted) and excepted[number].low < high:
            if excepted[number].high > at:
                if excepted[number].low > at:
                    left.append(Range(at, excepted[number].low))
                at = max(at, excepted[number].high)
            number += 1
        if at < high:
            left.append(Range(at, high))
    return left


def cidrs(ranges: Iterable[Range]) -> Iterator[str]:
    """Yield the fewest CIDRs that hold some disjoint intervals."""
    for low, high in ranges:
        for start, end in ((low, min(high, V6)), (max(low, V6), high)):
            bits, base = (32, 0) if start < V6 else (128, V6)
            while start < end:
                at = start - base
                size = min(at & -at or 1 << bits, 1 << (end - start).bit_length() - 1)
                yield f"{address_of(start)}/{bits - size.bit_length() + 1}"
                start += size
