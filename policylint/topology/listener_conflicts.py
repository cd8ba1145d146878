"""Listeners that are not distinct (docs/design/request-precedence.md §2 «Distinctness» and §9; GatewaySpec.Listeners).

HTTP, HTTPS and TLS listeners differ by port and hostname, TCP and UDP by port. Cleartext, TLS and TCP cannot share a
port; HTTPS and TLS can, by SNI; UDP never meets the others. Inside one object all indistinct listeners are Conflicted
and none wins; across a Gateway and its ListenerSets the merged list has an order and the first one wins.
"""

from __future__ import annotations

from collections.abc import Iterable

from policylint.model import Node
from policylint.namedtuple import NamedTuple
from policylint.topology.listeners import Listener

FAMILY = {"HTTP": "cleartext", "HTTPS": "tls", "TLS": "tls", "TCP": "tcp", "UDP": "udp"}
"""Protocols that can share a port are of one family."""
MOST_NAMED = 8
"""How many rivals of a listener are named."""


class Conflict(NamedTuple):
    """HostnameConflict or ProtocolConflict, and with which other listeners."""

    reason: str
    rivals: tuple[Node, ...]


class _Port:
    """The listeners that hold one port: by family, and by hostname inside a family."""

    __slots__ = ("by_family", "by_hostname")

    def __init__(self) -> None:
        self.by_family: dict[str, list[Listener]] = {}
        self.by_hostname: dict[tuple[str, str], list[Listener]] = {}

    def add(self, listener: Listener) -> None:
        family = FAMILY[listener.protocol]
        self.by_family.setdefault(family, []).append(listener)
        self.by_hostname.setdefault((family, listener.hostname), []).append(listener)

    def conflict(self, listener: Listener) -> Conflict | None:
        """What a listener meets on this port, itself not counted."""
        family = FAMILY[listener.protocol]
        others = [each for name, held in self.by_family.items() if name != family for each in held[:MOST_NAMED]]
        if others:
            return _conflict("ProtocolConflict", listener, others)
        if family in ("tcp", "udp"):
            return _conflict("ProtocolConflict", listener, self.by_family.get(family, []))
        return _conflict("HostnameConflict", listener, self.by_hostname.get((family, listener.hostname), []))


def conflicts(holders: Iterable[Iterable[Listener]]) -> dict[Node, Conflict]:
    """The conflicted listeners of one Gateway: its own list first, then its ListenerSets' in their order."""
    found: dict[Node, Conflict] = {}
    held: dict[tuple[int, bool], _Port] = {}
    for holder in holders:
        own: dict[tuple[int, bool], _Port] = {}
        standing: list[tuple[tuple[int, bool], Listener]] = []
        for listener in holder:
            if listener.port is None or not listener.certain or listener.protocol not in FAMILY:
                continue
            place = (listener.port, listener.protocol == "UDP")
            conflict = held[place].conflict(listener) if place in held else None
            if conflict is not None:
                found[listener.node] = conflict
            else:
                own.setdefault(place, _Port()).add(listener)
                standing.append((place, listener))
        for place, listener in standing:
            conflict = own[place].conflict(listener)
            if conflict is not None:
                found[listener.node] = conflict
            held.setdefault(place, _Port()).add(listener)
    return found


def _conflict(reason: str, listener: Listener, others: list[Listener]) -> Conflict | None:
    rivals = tuple(each.node for each in others[: MOST_NAMED + 1] if each is not listener)[:MOST_NAMED]
    return Conflict(reason, rivals) if rivals else None
