"""The axis of ports: TCP, UDP and SCTP from 1 to 65535, cut where a rule or a named port begins or ends.

A set of ports is an int with one bit per piece, so that what rules do with ports is `&`, `|` and `& ~`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from policylint.namedtuple import NamedTuple

TCP, UDP = "TCP", "UDP"
PROTOCOLS = ("SCTP", TCP, UDP)
LAST = 65535


class PortSpec(NamedTuple):
    """Ports as a rule states them: a range of numbers, or a name that the destination's pods resolve.

    Args:
        protocol: one of PROTOCOLS; "" for all three.
        name: of a container port, "" for numbers.
        certain: whether the manifests say which ports these are; a variable leaves it open.
    """

    protocol: str = ""
    low: int = 1
    high: int = LAST
    name: str = ""
    certain: bool = True

    def may_be(self, protocol: str, numbers: Iterable[int]) -> bool:
        """Return whether it may be one of some ports: a name, or what is not known, may be any."""
        if self.protocol not in ("", protocol):
            return False
        return bool(self.name) or not self.certain or any(self.low <= number <= self.high for number in numbers)


class PortSpace:
    """The pieces that all port specs in use cut the axis into, numbered by protocol and port."""

    __slots__ = ("_first", "_starts", "all")

    def __init__(self, specs: Iterable[PortSpec]) -> None:
        starts: dict[str, set[int]] = {protocol: {1} for protocol in PROTOCOLS}
        for spec in specs:
            for protocol in (spec.protocol,) if spec.protocol else PROTOCOLS:
                starts[protocol] |= {spec.low, min(spec.high + 1, LAST)} if spec.high < LAST else {spec.low}
        self._starts = {protocol: sorted(starts[protocol]) for protocol in PROTOCOLS}
        self._first: dict[str, int] = {}
        count = 0
        for protocol in PROTOCOLS:
            self._first[protocol] = count
            count += len(self._starts[protocol])
        self.all = (1 << count) - 1

    def of(self, spec: PortSpec) -> int:
        """Return the ports of a numeric spec. Its ends must be among those that the space was made for."""
        bits = 0
        for protocol in (spec.protocol,) if spec.protocol else PROTOCOLS:
            low = bisect_right(self._starts[protocol], spec.low) - 1
            high = bisect_right(self._starts[protocol], spec.high)
            bits |= ((1 << high - low) - 1) << self._first[protocol] + low
        return bits

    def at(self, protocol: str, port: int) -> int:
        """Return the piece that holds one port."""
        return 1 << self._first[protocol] + bisect_right(self._starts[protocol], port) - 1

    def ranges(self, ports: int) -> Iterator[tuple[str, int, int]]:
        """Yield (protocol, first, last) of a set, neighbouring pieces as one range."""
        for protocol in PROTOCOLS:
            starts, offset = self._starts[protocol], self._first[protocol]
            begin = 0
            for number, start in enumerate(starts):
                if ports >> offset + number & 1:
                    begin = begin or start
                elif begin:
                    yield protocol, begin, start - 1
                    begin = 0
            if begin:
                yield protocol, begin, LAST

    def words(self, ports: int) -> str:
        """Return `all`, `none`, or `SCTP 1-9,TCP 80,443-445,UDP 53`."""
        if ports == self.all:
            return "all"
        last, parts = "", []
        for protocol, low, high in self.ranges(ports):
            numbers = str(low) if low == high else f"{low}-{high}"
            parts.append(numbers if protocol == last else f"{protocol} {numbers}")
            last = protocol
        return ",".join(parts) or "none"
