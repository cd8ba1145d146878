"""Listeners that are not distinct (docs/design/request-precedence.md §2 «Distinctness» and §9; GatewaySpec.Listeners).

HTTP, HTTPS and TLS listeners differ by port and hostname, TCP and UDP by port. Cleartext, TLS and TCP cannot share a
port; HTTPS and TLS can, by SNI; UDP never meets the others. Inside one object all indistinct listeners are Conflicted
and none wins; across a Gateway and its ListenerSets the merged list has an order and the first one wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from policylint.model import Node
from policylint.namedtuple import NamedTuple
from policylint.topology.hostnames import EVERY, wildcards_above
from policylint.topology.listeners import Listener

FAMILY = {"HTTP": "cleartext", "HTTPS": "tls", "TLS": "tls", "TCP": "tcp", "UDP": "udp"}
"""The family of each protocol; listeners of different families cannot share a port."""
MOST_NAMED = 8
"""The most rivals of a listener that are named."""


class Conflict(NamedTuple):
    """The reason HostnameConflict or ProtocolConflict, and the other listeners involved."""

    reason: str
    rivals: tuple[Node, ...]


class _Port:
    """The listeners on one port: by family, and by hostname inside a family."""

    __slots__ = ("by_family", "by_hostname")

    def __init__(self) -> None:
        self.by_family: dict[str, list[Listener]] = {}
        self.by_hostname: dict[tuple[str, str], list[Listener]] = {}

    def add(self, listener: Listener) -> None:
        family = FAMILY[listener.protocol]
        self.by_family.setdefault(family, []).append(listener)
        self.by_hostname.setdefault((family, listener.hostname), []).append(listener)

    def conflict(self, listener: Listener) -> Conflict | None:
        """Return the conflict of a listener with the others on this port, None if it is distinct."""
        family = FAMILY[listener.protocol]
        others = [other for name, held in self.by_family.items() if name != family for other in held[:MOST_NAMED]]
        if others:
            return _conflict("ProtocolConflict", listener, others)
        if family in ("tcp", "udp"):
            return _conflict("ProtocolConflict", listener, self.by_family.get(family, []))
        alike = self.by_hostname.get((family, listener.hostname), [])
        differs = all(other is listener or other.protocol != listener.protocol for other in alike)
        return _conflict("ProtocolConflict" if differs else "HostnameConflict", listener, alike)


def conflicts(holders: Iterable[Iterable[Listener]]) -> dict[Node, Conflict]:
    """Return the conflicted listeners of one Gateway: its own list first, then its ListenerSets' in their order."""
    conflicted: dict[Node, Conflict] = {}
    held: dict[tuple[int, bool], _Port] = {}
    for holder in holders:
        own: dict[tuple[int, bool], _Port] = {}
        standing: list[tuple[tuple[int, bool], Listener]] = []
        for listener in holder:
            if listener.port is None or not listener.certain or listener.protocol not in FAMILY:
                continue
            place = (listener.port, listener.protocol == "UDP")
            # Against the holders before it only the later listener loses.
            conflict = held[place].conflict(listener) if place in held else None
            if conflict is not None:
                conflicted[listener.node] = conflict
            else:
                own.setdefault(place, _Port()).add(listener)
                standing.append((place, listener))
        # Inside one holder all listeners that are not distinct lose, and still hold their port.
        for place, listener in standing:
            conflict = own[place].conflict(listener)
            if conflict is not None:
                conflicted[listener.node] = conflict
            held.setdefault(place, _Port()).add(listener)
    return conflicted


def overlaps(listeners: Iterable[Listener]) -> frozenset[Node]:
    """Return the listeners with TLS of one Gateway of which another one on the port may take the same server names.

    Source: gateway_types.go ListenerConditionOverlappingTLSConfig; test GatewayOverlappingTLSConfigHostnames.
    """
    by_port: dict[int, list[Listener]] = {}
    for listener in listeners:
        if listener.port is not None and FAMILY.get(listener.protocol) == "tls":
            by_port.setdefault(listener.port, []).append(listener)
    return frozenset(node for rivals in by_port.values() if len(rivals) > 1 for node in _overlapping(rivals))


def _overlapping(listeners: list[Listener]) -> Iterator[Node]:
    """Yield those of some listeners that share hosts with another one, in time that grows with their labels."""
    held = Counter(listener.hostname for listener in listeners)
    below = Counter(suffix for listener in listeners for suffix in wildcards_above(listener.hostname))
    for listener in listeners:
        name = listener.hostname
        above = any(wildcard in held for wildcard in wildcards_above(name))
        if not name or held[EVERY] or held[name] > 1 or above or below[name]:
            yield listener.node


def _conflict(reason: str, listener: Listener, others: list[Listener]) -> Conflict | None:
    rivals = tuple(rival.node for rival in others[: MOST_NAMED + 1] if rival is not listener)[:MOST_NAMED]
    return Conflict(reason, rivals) if rivals else None
