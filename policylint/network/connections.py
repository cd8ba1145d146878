"""All connections: sources of equal egress rows against destinations of equal ingress rows, never pair by pair."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import loading
from policylint.namedtuple import NamedTuple
from policylint.network.meshes import Inside
from policylint.network.rules import Direction
from policylint.network.selecting import bits_of, numbers_of
from policylint.network.state import Network
from policylint.network.walk import Column, Row


class Connection(NamedTuple):
    """Every source with every target, on some ports; an end with itself where it stands for several pods.

    Args:
        sources, targets: sets of ends.
        certain: whether it is allowed for certain; else it is not known.
    """

    sources: int
    targets: int
    ports: int
    certain: bool


@loading()
def connections(network: Network) -> list[Connection]:
    """Return everything that is allowed, or may be; what no row holds is denied."""
    allowed: dict[tuple[int, int, bool], int] = {}
    for sources, targets, ports, certain in _products(network):
        key = (sources, targets, certain)
        allowed[key] = allowed.get(key, 0) | ports
    joined: dict[tuple[int, int, bool], int] = {}
    while allowed:  # there may be millions: what is done with goes
        (sources, targets, certain), ports = allowed.popitem()
        place = (sources, ports, certain)
        joined[place] = joined.get(place, 0) | targets
    found = [
        Connection(without_self[0], without_self[1], ports, certain)
        for (sources, ports, certain), targets in joined.items()
        for without_self in apart(sources, targets, network.universe.several)
    ]
    return sorted(found)


@loading()
def groups(network: Network, direction: Direction, within: int | None = None) -> list[tuple[int, Row]]:
    """Return the ends by their rows, or some of them; address ranges are open."""
    universe = network.universe
    by_row: dict[Row, int] = {}
    for members, first in network.classes(direction, within):
        row = network.row(first, direction)
        by_row[row] = by_row.get(row, 0) | members
    if universe.addresses.all & (universe.everything if within is None else within):
        is_open = (Column(universe.ports.all, universe.everything, 0, universe.everything),)
        by_row[is_open] = by_row.get(is_open, 0) | universe.addresses.all
    return [(members, row) for row, members in by_row.items()]


def _products(network: Network) -> Iterator[tuple[int, int, int, bool]]:
    outside = network.universe.addresses.all
    sources = groups(network, "egress")
    for targets, ingress in groups(network, "ingress"):
        for column in ingress:
            for members, egress in sources:
                senders = _meet(column.allowed, members)
                if not senders:
                    continue
                for way in egress:
                    ports = column.ports & way.ports
                    receivers = _meet(targets, way.allowed)
                    if ports and receivers:
                        for product in _certainty(senders, receivers, ports, column.denied, way.denied, outside):
                            yield from _tunnelled(network.inside, *product)


def _tunnelled(
    inside: Inside, senders: int, receivers: int, ports: int, certain: bool
) -> Iterator[tuple[int, int, int, bool]]:
    """Yield a product as it is on the wire: among the members of a mesh its tunnel carries every port or none."""
    if not inside.members:
        yield senders, receivers, ports, certain
        return
    members = inside.members
    for source in filter(None, (senders & members, senders & ~members)):
        for target in filter(None, (receivers & members, receivers & ~members)):
            carried = inside.open(source, target, ports)
            if carried:
                yield source, target, carried, certain


def _certainty(
    senders: int, receivers: int, ports: int, refused_senders: int, refused_receivers: int, outside: int
) -> Iterator[tuple[int, int, int, bool]]:
    """Yield what is certain, then what is not; nothing from outside to outside."""
    for from_part, is_sure in ((_meet(senders, ~refused_senders), True), (senders & refused_senders, False)):
        for to_part, is_sure_too in (
            (_meet(receivers, ~refused_receivers), True),
            (receivers & refused_receivers, False),
        ):
            if from_part and to_part:
                inner = _meet(from_part, ~outside)
                if inner:
                    yield inner, to_part, ports, is_sure and is_sure_too
                if from_part & outside and to_part & ~outside:
                    yield from_part & outside, to_part & ~outside, ports, is_sure and is_sure_too


def _meet(first: int, second: int) -> int:
    """Return `first & second`, as the first itself where it is that: there may be millions of them."""
    both = first & second
    return first if both == first else both


def apart(sources: int, targets: int, several: int) -> Iterator[tuple[int, int]]:
    """Yield products that together are `sources` x `targets` without any end to itself, but for those of several pods.

    What stands on both sides is halved by each bit of its position: two products per bit instead of one per end.
    """
    shared = sources & targets & ~several
    if not shared:
        yield sources, targets
        return
    if sources & ~shared:
        yield sources & ~shared, targets
    if targets & ~shared:
        yield shared, targets & ~shared
    numbers = list(numbers_of(shared))
    for bit in range((len(numbers) - 1).bit_length()):
        ones = bits_of([number for position, number in enumerate(numbers) if position >> bit & 1])
        yield ones, shared & ~ones
        yield shared & ~ones, ones
