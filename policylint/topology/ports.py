"""Which of the listeners that share a port takes a request, and for which hosts routes get some at each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policylint.model import Node, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.topology.hostnames import specificity, wildcards_above

Port = tuple[ResourceKey, Any, str]
"""A Gateway, the first of those whose proxy it shares, the number of a port, and the protocol there."""


class Ports(NamedTuple):
    """For which hosts listeners are that share a port.

    Args:
        of: the port and the hostname of each listener.
        named: the hostnames at each port.
    """

    of: Mapping[Node, tuple[Port, str]]
    named: frozenset[tuple[Port, str]]

    def narrower(self, node: Node, name: str) -> list[str]:
        """Return the hostnames of the listeners at the port of one that are for fewer hosts than it and for all that a
        name means; the first one takes what a client of TLS asks for by that name."""
        if node not in self.of:
            return []
        port, own = self.of[node]
        above = [each for each in (name, *wildcards_above(name)) if (port, each) in self.named]
        return [each for each in above if specificity(each) > specificity(own)]


class HostsServed(NamedTuple):
    """For which hosts requests get from listeners to routes.

    Args:
        hosts: by listener and route the hostnames of both whose requests the listener sends to it.
        takes: whether requests for a hostname at the port of a listener come to it, and not to one for fewer hosts.
    """

    hosts: Mapping[tuple[Node, Node], list[str]] = {}
    takes: Callable[[Node, str], bool] = lambda _node, _name: True
